/* SPDX-License-Identifier: MIT */
/* -record: every sample with all that is known of it, as a file of Linux's perf. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/common.h"
#include "perf_file.h"
#include "programs.h"
#include "records.h"
#include "session.h"
#include "stream.h"

/* Programs that end sooner are perhaps known by their tasks' numbers only. */
#define REFRESH_MS 50

#define CPUS_MAX            32u
#define LABEL_IS_NOT_A_TASK 0x80000000u /* It is an event's whose beneficiary is not known yet. */

static struct {
	const struct arguments *arguments;
	const struct target *target;
	struct perf_file file;
	struct prof_begin begin;
	struct prof_clock clocks[CPUS_MAX];
	struct prof_stream counts;
	uint64_t others; /* Delivered, and of what was not asked for. */
	bool has_failed;
} recording;

/* ---------------- Names ---------------- */

/* A set of small numbers; those of threads and tasks are given in turn. */
struct numbers {
	unsigned char *bits;
	uint32_t room;
};

static struct numbers threads, tasks;

/* Whether it was not in it; it is then. */
static bool is_new(struct numbers *numbers, uint32_t number)
{
	uint32_t byte = number / 8;
	unsigned char bit = (unsigned char)(1u << number % 8);

	if (byte >= numbers->room) {
		uint32_t room = 2 * byte + 64;

		numbers->bits = reallocate(numbers->bits, room);
		memset(numbers->bits + numbers->room, 0, room - numbers->room);
		numbers->room = room;
	}
	if (numbers->bits[byte] & bit)
		return false;
	numbers->bits[byte] |= bit;
	return true;
}

static void put_map(const struct program *program)
{
	const struct executable *executable = &program->executable;
	uint32_t start = (uint32_t)executable->elf.text_start;
	uint32_t end = (uint32_t)executable->elf.text_end;
	const unsigned char *text;

	if (executable->path == NULL)
		return;
	text = elfsym_bytes(&executable->elf, start, 1);
	perf_map(&recording.file,
		 &(struct perf_map){
			 .is_kernel = program->task == TASK_KERNEL,
			 .pid = program->pid,
			 .start = start,
			 .length = end - start,
			 .offset = text != NULL ? (uint32_t)(text - executable->image) : 0,
			 .inode = executable->inode,
			 .path = executable->path,
		 });
}

/* A label is the task that it was for, whose name goes before all that has it. */
static void name_task(uint32_t task)
{
	char path[PROGRAM_NAME_ROOM + 16];
	const struct program *program;

	if (task & LABEL_IS_NOT_A_TASK || !is_new(&tasks, task))
		return;
	program = program_of(task);
	if (task == TASK_KERNEL)
		strcpy(path, "/system");
	else if (program->pid >= PID_OF_TASK)
		snprintf(path, sizeof(path), "/:%s", program->name);
	else
		snprintf(path, sizeof(path), "/%lu:%s", (unsigned long)program->pid, program->name);
	perf_label(&recording.file, task, path);
	perf_command(&recording.file, program->pid, program->pid, program->name);
	put_map(program);
}

static uint32_t name_thread(uint32_t thread, uint32_t task)
{
	const struct program *program = program_of(task);

	if (is_new(&threads, thread))
		perf_command(&recording.file, program->pid, thread, program->name);
	return program->pid;
}

/* ---------------- Counts ---------------- */

static uint64_t sum_clocks(size_t field)
{
	uint64_t sum = 0;

	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++)
		sum += prof_u64((const uint32_t *)((const char *)&recording.clocks[cpu] + field));
	return sum;
}

/* The same names as in <gmon.h>; each is the sum over the CPUs, from the beginning on. */
static void put_counts(void)
{
	const struct prof_stream *counts = &recording.counts;
	const struct prof_begin *begin = &recording.begin;
	uint32_t options = begin->options | (begin->clock_is_block ? 1u << 31 : 0);
	const struct {
		const char *name;
		uint64_t value;
	} values[] = {
		{"due", sum_clocks(offsetof(struct prof_clock, due))},
		{"fired", sum_clocks(offsetof(struct prof_clock, fired))},
		{"missed", sum_clocks(offsetof(struct prof_clock, missed))},
		{"idle", sum_clocks(offsetof(struct prof_clock, idle))},
		{"elsewhere", sum_clocks(offsetof(struct prof_clock, elsewhere))},
		{"taken", sum_clocks(offsetof(struct prof_clock, taken))},
		{"all-taken", prof_u64(counts->taken)},
		{"delivered", prof_u64(counts->delivered)},
		{"lost", prof_u64(counts->lost)},
		{"buffered", prof_u64(counts->buffered)},
		{"others", recording.others},
		{"rate", begin->rate},
		{"interval", begin->interval_ns},
		{"options", options},
	};
	enum {
		VALUES = sizeof(values) / sizeof(values[0])
	};
	char texts[VALUES][40];
	char command[] = "monctl";
	char *words[1 + VALUES] = {command};

	for (unsigned i = 0; i < VALUES; i++) {
		snprintf(texts[i], sizeof(texts[i]), "%s=%llu", values[i].name,
			 (unsigned long long)values[i].value);
		words[1 + i] = texts[i];
	}
	perf_counts(&recording.file, words, 1 + VALUES);
}

/* ---------------- Records ---------------- */

/* With -pid and -for, of what is done for somebody only what this task does. */
static bool is_wanted(const struct prof_sample *sample)
{
	return recording.arguments->pid == NO_PID ||
	       recording.arguments->beneficiary == FOR_ANYBODY ||
	       sample->task == recording.target->task_id;
}

static void take_sample(const struct prof_sample *sample)
{
	if (!is_wanted(sample)) {
		recording.others++;
		return;
	}
	name_task(sample->task);
	name_task(sample->label);
	perf_sample(&recording.file, name_thread(sample->thread, sample->task), sample);
}

static void take_counts(const struct prof_stream *counts)
{
	uint64_t lost = prof_u64(counts->lost) - prof_u64(recording.counts.lost);

	if (lost != 0)
		perf_lost(&recording.file, lost);
	recording.counts = *counts;
}

static void take_record(const struct prof_record *record)
{
	const struct prof_sample *sample = record_as_sample(record);
	const struct prof_clock *clock = (const struct prof_clock *)record;

	if (sample != NULL) {
		take_sample(sample);
	} else if (record_is(record, PROF_BEGIN, sizeof(recording.begin))) {
		recording.begin = *(const struct prof_begin *)record;
		perf_begin(&recording.file, recording.file.descriptor, &recording.begin);
		name_task(TASK_KERNEL);
	} else if (record_is(record, PROF_CLOCK, sizeof(*clock))) {
		if (clock->cpu < CPUS_MAX)
			recording.clocks[clock->cpu] = *clock;
	} else if (record_is(record, PROF_STREAM, sizeof(recording.counts))) {
		take_counts((const struct prof_stream *)record);
	}
}

/* What a message brings is written together, so the file is whole after each. */
static void take_message(const uint32_t *words, size_t count)
{
	const struct prof_record *record;

	if (recording.has_failed)
		return;
	while ((record = record_first(words, count)) != NULL) {
		take_record(record);
		words += record->words;
		count -= record->words;
	}
	put_counts();
	if (perf_round(&recording.file))
		return;
	report("%s: %s; what was recorded before is in it", recording.arguments->record,
	       strerror(errno));
	recording.has_failed = true;
}

/* ---------------- From beginning to end ---------------- */

/* What is in it stays until recording has begun. */
static bool open_file(const char *path)
{
	recording.file.descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (recording.file.descriptor < 0)
		report_errno(path);
	return recording.file.descriptor >= 0;
}

/* Of whatever runs, the names must be learnt before it has ended. */
static void serve(void)
{
	bool is_over = false;

	while (!is_over && !recording.has_failed) {
		if (recording.arguments->beneficiary == FOR_ANYBODY) {
			is_over = !stream_serve_once();
		} else {
			programs_refresh();
			is_over = stream_serve_until(now_ms() + REFRESH_MS);
		}
	}
}

bool record_sample(const struct arguments *arguments, const struct target *target,
		   struct executable *executable, started_t started)
{
	const struct stream stream = {.arguments = arguments,
				      .target = target,
				      .executable = executable,
				      .watch = take_message};

	recording.arguments = arguments;
	recording.target = target;
	if (!stream_prepare(&stream) || !open_file(arguments->record))
		return false;
	if (executable != NULL)
		program_add(target, executable);
	if (!stream_begin(session_flavors(arguments)))
		return false;
	ftruncate(recording.file.descriptor, 0);
	session_started(started);
	serve();
	stream_end();
	session_summary(arguments->command != NULL ? stderr : stdout, target, arguments->record);
	return close(recording.file.descriptor) == 0 && !recording.has_failed;
}

int record_run(const struct arguments *arguments)
{
	return session_run(arguments, record_sample);
}
