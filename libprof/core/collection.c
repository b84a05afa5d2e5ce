/* SPDX-License-Identifier: MIT */
/* Records of streams become counts: see collection.h. */
#include "collection.h"

/* ---------------- Sums ---------------- */

static void add_clock(struct clock_counts *sum, const struct clock_counts *more)
{
	sum->due += more->due;
	sum->fired += more->fired;
	sum->missed += more->missed;
	sum->idle += more->idle;
	sum->elsewhere += more->elsewhere;
	sum->taken += more->taken;
}

static void add_stream(struct stream_counts *sum, const struct stream_counts *more)
{
	sum->taken += more->taken;
	sum->delivered += more->delivered;
	sum->lost += more->lost;
	sum->buffered += more->buffered;
}

struct clock_counts __collection_clocks(const struct collection *collection)
{
	struct clock_counts sum = collection->clocks_before;

	for (uint32_t cpu = 0; cpu < COLLECTION_CPUS; cpu++)
		add_clock(&sum, &collection->clocks[cpu]);
	return sum;
}

/* What was delivered and not kept is lost all the same. */
struct stream_counts __collection_counts(const struct collection *collection)
{
	struct stream_counts sum = collection->stream_before;

	add_stream(&sum, &collection->stream);
	sum.delivered -= collection->not_kept;
	sum.lost += collection->not_kept;
	return sum;
}

void __collection_clear(struct collection *collection, uint32_t flavors)
{
	__pc_table_clear(&collection->pcs);
	__pc_table_clear(&collection->labels);
	*collection = (struct collection){
		.low = collection->low,
		.high = collection->high,
		.pid = collection->pid,
		.task = collection->task,
		.own_thread = collection->own_thread,
		.of_kernel = collection->of_kernel,
		.only_task = collection->only_task,
		.runs_here = collection->runs_here,
		.has_program = collection->has_program,
		.program = collection->program,
		.flavors = flavors,
	};
}

void __collection_next_stream(struct collection *collection)
{
	collection->clocks_before = __collection_clocks(collection);
	add_stream(&collection->stream_before, &collection->stream);
	for (uint32_t cpu = 0; cpu < COLLECTION_CPUS; cpu++)
		collection->clocks[cpu] = (struct clock_counts){.due = 0};
	collection->stream = (struct stream_counts){.taken = 0};
	collection->is_over = false;
}

/* ---------------- Records ---------------- */

static void take_begin(struct collection *collection, const void *record)
{
	const struct prof_begin *begin = record;

	collection->rate = begin->rate;
	collection->interval_ns = begin->interval_ns;
	collection->options = begin->options;
	collection->clock_is_block = begin->clock_is_block != 0;
}

static uint32_t kind_of(uint32_t flavor, uint32_t mode)
{
	return 2 * (uint32_t)__builtin_ctz(flavor) + mode;
}

static void count(struct collection *collection, uint32_t pc, uint32_t flavor, uint32_t mode)
{
	if (pc < collection->low || pc >= collection->high)
		collection->outside++;
	if (!__pc_table_add(&collection->pcs, pc, kind_of(flavor, mode)))
		collection->not_kept++;
}

/* Without memory for it, a sample has no label, but is counted all the same. */
static void count_kernel(struct collection *collection, const struct prof_sample *sample)
{
	collection->kernel++;
	__pc_table_add(&collection->labels, sample->label, 0);
	count(collection, sample->kernel_pc, sample->flavor, 0);
}

static bool is_others(const struct collection *collection, const struct prof_sample *sample)
{
	return (collection->of_kernel && sample->kernel_pc == 0) ||
	       (collection->only_task && sample->task != collection->task);
}

static void take_sample(struct collection *collection, const void *record)
{
	const struct prof_sample *sample = record;
	uint32_t mode = sample->kernel_pc != 0;

	if (sample->thread == collection->own_thread && collection->own_thread != 0) {
		collection->profiler++;
		return;
	}
	if (sample->flavor == 0)
		return;
	if (is_others(collection, sample)) {
		collection->others++;
	} else if (collection->of_kernel) {
		count_kernel(collection, sample);
	} else {
		collection->kernel += mode;
		count(collection, sample->pc, sample->flavor, mode);
	}
}

static void take_clock(struct collection *collection, const void *record)
{
	const struct prof_clock *clock = record;

	if (clock->cpu < COLLECTION_CPUS)
		collection->clocks[clock->cpu] = (struct clock_counts){
			.due = prof_u64(clock->due),
			.fired = prof_u64(clock->fired),
			.missed = prof_u64(clock->missed),
			.idle = prof_u64(clock->idle),
			.elsewhere = prof_u64(clock->elsewhere),
			.taken = prof_u64(clock->taken),
		};
}

static void take_stream(struct collection *collection, const void *record)
{
	const struct prof_stream *stream = record;

	collection->stream = (struct stream_counts){
		.taken = prof_u64(stream->taken),
		.delivered = prof_u64(stream->delivered),
		.lost = prof_u64(stream->lost),
		.buffered = prof_u64(stream->buffered),
	};
}

static void take_end(struct collection *collection, const void *record)
{
	const struct prof_end *end = record;

	collection->is_over = true;
	collection->end = end->reason;
}

/* What to do with each type, and how many bytes it must have at least. */
static const struct {
	void (*take)(struct collection *collection, const void *record);
	size_t size;
} types[] = {
	[PROF_BEGIN] = {take_begin, sizeof(struct prof_begin)},
	[PROF_SAMPLE] = {take_sample, sizeof(struct prof_sample)},
	[PROF_CLOCK] = {take_clock, sizeof(struct prof_clock)},
	[PROF_STREAM] = {take_stream, sizeof(struct prof_stream)},
	[PROF_END] = {take_end, sizeof(struct prof_end)},
};

/* The first word of a sample without frames. */
#define PLAIN_WORDS (sizeof(struct prof_sample) / sizeof(uint32_t))
#define PLAIN_HEAD  (PLAIN_WORDS | PROF_SAMPLE << 16 | PROF_VERSION << 24)

/*
 * Counts samples as long as they are of the usual kind, which is nearly always: of the program's
 * text, in user mode, where there have been some.  Returns how many words they take.
 */
static size_t add_usual(struct collection *collection, const uint32_t *words, size_t count)
{
	const uint32_t low = collection->low, size = collection->high - low;
	const uint32_t own_thread = collection->own_thread;
	const struct pc_table pcs = collection->pcs;
	size_t used = 0;

	if (collection->of_kernel || collection->only_task || pcs.size == 0)
		return 0;
	for (; count - used >= PLAIN_WORDS && words[used] == PLAIN_HEAD; used += PLAIN_WORDS) {
		const struct prof_sample *sample = (const struct prof_sample *)&words[used];

		if (sample->kernel_pc != 0 || sample->flavor == 0 || sample->thread == own_thread ||
		    sample->pc - low >= size ||
		    !__pc_table_add_again(&pcs, sample->pc, kind_of(sample->flavor, 0)))
			break;
	}
	return used;
}

void __collection_add(struct collection *collection, const uint32_t *words, size_t count)
{
	for (;;) {
		const struct prof_record *record;
		size_t used = add_usual(collection, words, count);

		words += used;
		count -= used;
		record = (const struct prof_record *)words;
		if (count == 0 || record->words == 0 || record->words > count)
			return;
		if (record->version == PROF_VERSION &&
		    record->type < sizeof types / sizeof types[0] &&
		    types[record->type].take != NULL &&
		    record->words * sizeof *words >= types[record->type].size)
			types[record->type].take(collection, record);
		words += record->words;
		count -= record->words;
	}
}
