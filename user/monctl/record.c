/* SPDX-License-Identifier: MIT */
/* -record: every sample with all that is known of it, as a file of Linux's perf. */
#include <errno.h>
#include <gmon.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/common.h"
#include "keeper.h"
#include "names.h"
#include "output.h"
#include "perf_file.h"
#include "programs.h"
#include "records.h"
#include "session.h"
#include "stream.h"

/* With so much that cannot be written, recording ends: 100,000 samples. */
#define UNWRITTEN_MAX (8u << 20)

#define CPUS_MAX 32u

#define NANOS_PER_SECOND 1000000000u

#define CPU_WORD_ROOM 208u /* Seven numbers, and their names. */

static struct {
	const struct arguments *arguments;
	struct perf_file file; /* What is not written yet, */
	struct output output;  /* and where it is to be. */
	bool is_late;          /* Something could not be written at once. */
	struct prof_begin begin;
	struct prof_clock clocks[CPUS_MAX];
	struct prof_stream counts;
	uint64_t others; /* Delivered, and of what was not asked for. */
	uint64_t wall;   /* Nanoseconds from 1970 to when the kernel started. */
} recording;

/* ---------------- What time it is ---------------- */

static uint64_t nanoseconds_of(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NANOS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* Between the two looks at the one clock the other was looked at: half way is near enough. */
static uint64_t wall_of_start(void)
{
	uint64_t before = nanoseconds_of(CLOCK_MONOTONIC);
	uint64_t wall = nanoseconds_of(CLOCK_REALTIME);

	return wall - (before + (nanoseconds_of(CLOCK_MONOTONIC) - before) / 2);
}

/* ---------------- Counts ---------------- */

static uint64_t sum_clocks(size_t field)
{
	uint64_t sum = 0;

	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++)
		sum += prof_u64((const uint32_t *)((const char *)&recording.clocks[cpu] + field));
	return sum;
}

/* One word of all that became of a CPU's due times. */
static void write_cpu(char text[CPU_WORD_ROOM], const struct prof_clock *clock)
{
	snprintf(text, CPU_WORD_ROOM,
		 "cpu%u=due:%llu,fired:%llu,missed:%llu,parked:%llu,idle:%llu,elsewhere:%llu,"
		 "taken:%llu",
		 clock->cpu, prof_u64(clock->due), prof_u64(clock->fired), prof_u64(clock->missed),
		 prof_u64(clock->parked), prof_u64(clock->idle), prof_u64(clock->elsewhere),
		 prof_u64(clock->taken));
}

/* By their names in <gmon.h>; each count is the sum over the CPUs, from the beginning on. */
static void put_counts(void)
{
	const struct prof_stream *counts = &recording.counts;
	const struct prof_begin *begin = &recording.begin;
	uint32_t options = begin->options | (begin->clock_is_block ? GMON_CLOCK_IS_BLOCK : 0) |
			   (begin->cpus_in_turn ? GMON_CPUS_IN_TURN : 0);
	const struct {
		const char *name;
		uint64_t value;
	} values[] = {
		{"due", sum_clocks(offsetof(struct prof_clock, due))},
		{"fired", sum_clocks(offsetof(struct prof_clock, fired))},
		{"missed", sum_clocks(offsetof(struct prof_clock, missed))},
		{"parked", sum_clocks(offsetof(struct prof_clock, parked))},
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
		{"wall", recording.wall},
	};
	enum {
		VALUES = sizeof(values) / sizeof(values[0])
	};
	char texts[VALUES][40], cpus[CPUS_MAX][CPU_WORD_ROOM];
	char command[] = "monctl";
	char *words[1 + VALUES + CPUS_MAX] = {command};
	unsigned n = 1;

	for (unsigned i = 0; i < VALUES; i++) {
		snprintf(texts[i], sizeof(texts[i]), "%s=%llu", values[i].name,
			 (unsigned long long)values[i].value);
		words[n++] = texts[i];
	}
	for (unsigned cpu = 0; begin->cpus > 1 && cpu < begin->cpus && cpu < CPUS_MAX; cpu++) {
		write_cpu(cpus[cpu], &recording.clocks[cpu]);
		words[n++] = cpus[cpu];
	}
	perf_counts(&recording.file, words, n);
}

/* ---------------- In the order of time ---------------- */

#define ROOM_MORE 64u /* Samples by which the list grows at least. */

/* Of one message; a ring's samples come behind those of events that were later. */
static struct {
	const struct prof_sample **samples;
	size_t count;
	size_t room;
} ordered;

static void put_in_order(const struct prof_sample *sample)
{
	size_t place = ordered.count;

	if (ordered.count == ordered.room) {
		ordered.room = 2 * ordered.room + ROOM_MORE;
		ordered.samples = reallocate(ordered.samples, ordered.room * sizeof(sample));
	}
	for (; place > 0; place--) {
		if (record_time(ordered.samples[place - 1]) <= record_time(sample))
			break;
		ordered.samples[place] = ordered.samples[place - 1];
	}
	ordered.samples[place] = sample;
	ordered.count++;
}

static void put_samples(void)
{
	struct perf_origin origin;

	for (size_t i = 0; i < ordered.count; i++) {
		names_put(&recording.file, ordered.samples[i], &origin);
		perf_sample(&recording.file, &origin, ordered.samples[i]);
	}
	ordered.count = 0;
}

/* ---------------- Records ---------------- */

static void take_sample(const struct stream *stream, const struct prof_sample *sample)
{
	if (stream_wants(stream, sample))
		put_in_order(sample);
	else
		recording.others++;
}

static void take_counts(const struct prof_stream *counts)
{
	uint64_t lost = prof_u64(counts->lost) - prof_u64(recording.counts.lost);

	if (lost != 0)
		perf_lost(&recording.file, lost);
	recording.counts = *counts;
}

static void take_record(void *context, const struct prof_record *record)
{
	const struct prof_sample *sample = record_as_sample(record);
	const struct prof_clock *clock = (const struct prof_clock *)record;

	if (sample != NULL) {
		take_sample(context, sample);
	} else if (record_is(record, PROF_BEGIN, sizeof(recording.begin))) {
		recording.begin = *(const struct prof_begin *)record;
		recording.wall = wall_of_start();
		perf_begin(&recording.file, &recording.begin);
		/* What kind of addresses there are is to be known before the first. */
		put_counts();
		names_put_kernel(&recording.file);
	} else if (record_is(record, PROF_CLOCK, sizeof(*clock))) {
		if (clock->cpu < CPUS_MAX)
			recording.clocks[clock->cpu] = *clock;
	} else if (record_is(record, PROF_STREAM, sizeof(recording.counts))) {
		take_counts((const struct prof_stream *)record);
	}
}

/* ---------------- Writing ---------------- */

/* All that is not in the file yet. */
static bool write_records(void)
{
	struct perf_file *file = &recording.file;

	if (file->used > 0 && !output_put(&recording.output, file->records, file->used))
		return false;
	file->used = 0;
	return true;
}

/* What a message brings is written together, so the file is whole after each. */
static void take_message(void *context, const uint32_t *words, size_t count)
{
	programs_new_message();
	records_take(words, count, take_record, context);
	put_samples();
	put_counts();
	if (write_records() || recording.is_late)
		return;
	report("%s: %s; what is recorded is kept, to be written later", recording.arguments->record,
	       strerror(errno));
	recording.is_late = true;
}

static bool write_rest(void)
{
	if (write_records())
		return true;
	report_errno(recording.output.path);
	keeper_leave("the rest of the recording", recording.output.path, write_records);
	return false;
}

/* ---------------- From beginning to end ---------------- */

static void serve(struct stream *stream)
{
	while (recording.file.used < UNWRITTEN_MAX && stream_serve_once(stream))
		continue;
}

/* Behind all samples; the counts are the last words of the header. */
static void put_ends(void)
{
	names_put_ends(&recording.file);
	put_counts();
}

static bool record(struct stream *stream, started_t started)
{
	const struct arguments *arguments = recording.arguments;
	bool done;

	session_started(stream, started);
	serve(stream);
	stream_end(stream);
	put_ends();
	done = write_rest();
	session_summary(arguments->command != NULL ? stderr : stdout, stream,
			done ? arguments->record : NOT_WRITTEN);
	return done;
}

bool record_sample(const struct arguments *arguments, const struct target *target,
		   struct executable *executable, started_t started)
{
	struct stream stream = {.arguments = arguments,
				.target = target,
				.executable = executable,
				.watch = take_message,
				.context = &stream};
	bool done;

	recording.arguments = arguments;
	if (target != NULL && executable_is_running(arguments->record, target->pid))
		return false;
	if (!stream_prepare(&stream))
		return false;
	if (!output_make(&recording.output, arguments->record)) {
		report_errno(arguments->record);
		return false;
	}
	if (executable != NULL)
		program_add(target, executable);
	if (!stream_begin(&stream, session_flavors(arguments))) {
		output_undo(&recording.output);
		return false;
	}
	done = record(&stream, started);
	if (output_close(&recording.output))
		return done;
	report_errno(arguments->record);
	return false;
}

int record_run(const struct arguments *arguments)
{
	return session_run(arguments, record_sample);
}
