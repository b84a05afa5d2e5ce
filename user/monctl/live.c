/* SPDX-License-Identifier: MIT */
/* -live: the functions in which most samples were taken, again each second. */
#include <stdlib.h>
#include <string.h>

#include "common/common.h"
#include "common/rolled.h"
#include "common/screen.h"
#include "programs.h"
#include "records.h"
#include "session.h"
#include "stream.h"

#define REFRESH_MS 1000
#define ROWS_SHOWN 20
#define ROWS_MORE  64 /* By which a list of rows grows at least. */

/* Rows of a program behind those of its functions. */
enum other_row {
	ROW_UNKNOWN, /* In no function that the file tells of, */
	ROW_KERNEL,  /* or in the kernel. */
	OTHER_ROWS
};

static struct {
	const struct arguments *arguments;
	sampled_pc_flavor_t flavors;
	uint64_t samples;
	uint64_t lost;

	/* For -by: events and time are not to be added up. */
	struct rollup rollups[FLAVORS];
	uint64_t rolled[FLAVORS];
} live;

/* ---------------- Counting ---------------- */

static size_t functions_of(const struct program *program)
{
	return program->has_functions ? program->executable.elf.n_functions : 0;
}

static size_t row_of(const struct program *program, const struct prof_sample *sample)
{
	const struct elfsym_function *function;

	if (program->task != TASK_KERNEL && sample->kernel_pc != 0)
		return functions_of(program) + ROW_KERNEL;
	if (!program->has_functions)
		return ROW_UNKNOWN;
	function = elfsym_find(&program->executable.elf,
			       sample->kernel_pc != 0 ? sample->kernel_pc : sample->pc, NULL);
	if (function == NULL)
		return functions_of(program) + ROW_UNKNOWN;
	return (size_t)(function - program->executable.elf.functions);
}

static void count_tasks(const struct prof_sample *sample, unsigned flavor)
{
	rolled_task(&live.rollups[flavor], sample->task)->ran++;
	rolled_task(&live.rollups[flavor], sample->label)->served++;
	live.rolled[flavor]++;
	live.samples++;
}

static void count(const struct prof_sample *sample)
{
	unsigned flavor = flavor_number(sample->flavor);
	struct program *program;

	if (flavor == FLAVORS)
		return;
	if (live.arguments->by != BY_NOTHING) {
		count_tasks(sample, flavor);
		return;
	}
	program = program_sampled(sample->task);
	if (program->counts == NULL) {
		size_t size;

		program_read_functions(program);
		size = (functions_of(program) + OTHER_ROWS) * sizeof(*program->counts);
		program->counts = allocate(size);
		memset(program->counts, 0, size);
	}
	program->counts[row_of(program, sample)][flavor]++;
	live.samples++;
}

static void take_record(void *context, const struct prof_record *record)
{
	const struct stream *stream = context;
	const struct prof_sample *sample = record_as_sample(record);

	if (sample != NULL && stream_wants(stream, sample))
		count(sample);
	else if (record_is(record, PROF_STREAM, sizeof(struct prof_stream)))
		live.lost = prof_u64(((const struct prof_stream *)record)->lost);
}

static void take_message(void *context, const uint32_t *words, size_t left)
{
	programs_new_message();
	records_take(words, left, take_record, context);
}

/* ---------------- The table ---------------- */

struct row {
	const struct program *program;
	const char *name;
	const uint32_t *counts;
	uint32_t sum;
};

static uint32_t sum(const uint32_t *counts)
{
	uint32_t all = 0;

	for (unsigned i = 0; i < FLAVORS; i++)
		all += counts[i];
	return all;
}

static const char *name_of(const struct program *program, size_t row)
{
	size_t functions = functions_of(program);

	if (row < functions)
		return program->executable.elf.functions[row].name;
	return row - functions == ROW_KERNEL ? "<kernel>" : "<unknown>";
}

/* The most first; equal ones in an order that is the same each time. */
static int compare_rows(const void *one, const void *other)
{
	const struct row *first = one, *second = other;

	if (first->sum != second->sum)
		return first->sum < second->sum ? 1 : -1;
	if (first->program != second->program)
		return first->program->task < second->program->task ? -1 : 1;
	return first->counts < second->counts ? -1 : 1;
}

/* All rows with samples, in memory of their own, in order. */
static size_t collect_rows(struct row **rows)
{
	size_t used = 0, room = 0;

	*rows = NULL;
	for (const struct program *program = programs_first(); program; program = program->next) {
		size_t all = program->counts ? functions_of(program) + OTHER_ROWS : 0;

		for (size_t i = 0; i < all; i++) {
			uint32_t samples = sum(program->counts[i]);

			if (samples == 0)
				continue;
			if (used == room) {
				room = 2 * room + ROWS_MORE;
				*rows = reallocate(*rows, room * sizeof(**rows));
			}
			(*rows)[used++] = (struct row){program, name_of(program, i),
						       program->counts[i], samples};
		}
	}
	if (used > 0)
		qsort(*rows, used, sizeof(**rows), compare_rows);
	return used;
}

static void print_counts(void)
{
	printf("%llu samples, %llu lost\n", (unsigned long long)live.samples,
	       (unsigned long long)live.lost);
}

static void print_title(void)
{
	print_counts();
	printf("   share");
	for (unsigned i = 0; i < FLAVORS; i++)
		if (live.flavors & flavor_bit(i))
			printf(" %12s", flavor_name(i));
	printf("  function\n");
}

static void print_row(const struct row *row)
{
	uint64_t tenths = (row->sum * 1000ull + live.samples / 2) / live.samples;

	printf("%5u.%u %%", (unsigned)(tenths / 10), (unsigned)(tenths % 10));
	for (unsigned i = 0; i < FLAVORS; i++)
		if (live.flavors & flavor_bit(i))
			printf(" %12lu", (unsigned long)row->counts[i]);
	if (arguments_of_many(live.arguments))
		printf("  %s: %s\n", row->program->name, row->name);
	else
		printf("  %s\n", row->name);
}

static bool is_only(unsigned flavor)
{
	return live.flavors == flavor_bit(flavor);
}

/* A table for each flavor, with a title if there may be others. */
static void print_rollups(void)
{
	for (unsigned i = 0; i < FLAVORS; i++) {
		if (!(live.flavors & flavor_bit(i)) || (live.rolled[i] == 0 && !is_only(i)))
			continue;
		if (!is_only(i))
			printf("%s: %llu samples\n", flavor_name(i),
			       (unsigned long long)live.rolled[i]);
		rollup_print(&live.rollups[i], live.arguments->by, ROWS_SHOWN, stdout);
	}
}

static void print_table(bool is_first)
{
	struct row *rows;
	size_t count = collect_rows(&rows);

	screen_next_table(is_first);
	if (live.arguments->by != BY_NOTHING) {
		print_counts();
		print_rollups();
	} else {
		print_title();
	}
	for (size_t i = 0; i < count && i < ROWS_SHOWN; i++)
		print_row(&rows[i]);
	fflush(stdout);
	free(rows);
}

/* ---------------- From beginning to end ---------------- */

bool live_sample(const struct arguments *arguments, const struct target *target,
		 struct executable *executable, started_t started)
{
	struct stream stream = {.arguments = arguments,
				.target = target,
				.executable = executable,
				.watch = take_message,
				.context = &stream};
	uint64_t next;
	unsigned tables = 0;

	live.arguments = arguments;
	live.flavors = session_flavors(arguments);
	if (!stream_prepare(&stream))
		return false;
	if (executable != NULL)
		program_add(target, executable);
	if (!stream_begin(&stream, live.flavors))
		return false;
	session_started(&stream, started);
	next = now_ms();
	do {
		next += REFRESH_MS;
		if (stream_serve_until(&stream, next))
			break;
		print_table(tables++ == 0);
	} while (arguments->tables == 0 || tables < arguments->tables);
	stream_end(&stream);
	/* What was taken since the last table. */
	if (arguments->tables == 0 || tables < arguments->tables)
		print_table(tables == 0);
	if (target != NULL)
		target_note_exec(target);
	return true;
}

int live_run(const struct arguments *arguments)
{
	return session_run(arguments, live_sample);
}
