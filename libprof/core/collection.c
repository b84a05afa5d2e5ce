/* SPDX-License-Identifier: MIT */
/* Records of streams become counts: see collection.h. */
#include "collection.h"

static uint32_t kind_of(uint32_t flavor, uint32_t mode)
{
	return 2 * (uint32_t)__builtin_ctz(flavor) + mode;
}

static bool is_of_kernel_mode(uint32_t kind)
{
	return (kind & 1) != 0;
}

/* ---------------- Sums ---------------- */

static void add_clock(struct clock_counts *sum, const struct clock_counts *more)
{
	sum->due += more->due;
	sum->fired += more->fired;
	sum->missed += more->missed;
	sum->parked += more->parked;
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

struct clock_counts __collection_clock(const struct collection *collection, uint32_t cpu)
{
	struct clock_counts sum = collection->clocks_before[cpu];

	add_clock(&sum, &collection->clocks[cpu]);
	return sum;
}

struct clock_counts __collection_clocks(const struct collection *collection)
{
	struct clock_counts sum = {.due = 0};

	for (uint32_t cpu = 0; cpu < COLLECTION_CPUS; cpu++) {
		add_clock(&sum, &collection->clocks_before[cpu]);
		add_clock(&sum, &collection->clocks[cpu]);
	}
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

struct place_counts __collection_places(const struct collection *collection)
{
	struct place_counts sum = {.kernel = 0};

	for (uint32_t n = 0; n < collection->pcs.size; n++) {
		const struct pc_count *place = &collection->pcs.places[n];

		if (collection->of_kernel || is_of_kernel_mode(place->kind))
			sum.kernel += place->count;
		if (place->pc < collection->low || place->pc >= collection->high)
			sum.outside += place->count;
	}
	return sum;
}

void __collection_clear(struct collection *collection, uint32_t flavors)
{
	if (flavors != 0)
		__pc_table_empty(&collection->pcs);
	else
		__pc_table_clear(&collection->pcs);
	__pc_table_clear(&collection->labels);
	*collection = (struct collection){
		.low = collection->low,
		.high = collection->high,
		.pid = collection->pid,
		.name = collection->name,
		.task = collection->task,
		.own_thread = collection->own_thread,
		.of_kernel = collection->of_kernel,
		.only_task = collection->only_task,
		.runs_here = collection->runs_here,
		.has_program = collection->has_program,
		.program = collection->program,
		.flavors = flavors,
		.pcs = collection->pcs,
	};
}

void __collection_next_stream(struct collection *collection)
{
	for (uint32_t cpu = 0; cpu < COLLECTION_CPUS; cpu++) {
		collection->clocks_before[cpu] = __collection_clock(collection, cpu);
		collection->clocks[cpu] = (struct clock_counts){.due = 0};
	}
	add_stream(&collection->stream_before, &collection->stream);
	collection->stream = (struct stream_counts){.taken = 0};
	collection->is_over = false;
}

/* ---------------- Records ---------------- */

/* As many CPUs as there is a place for. */
static uint32_t count_cpus(uint32_t cpus)
{
	return cpus < COLLECTION_CPUS ? cpus : COLLECTION_CPUS;
}

static void take_begin(struct collection *collection, const void *record)
{
	const struct prof_begin *begin = record;

	collection->rate = begin->rate;
	collection->interval_ns = begin->interval_ns;
	collection->options = begin->options;
	collection->clock_is_block = begin->clock_is_block != 0;
	collection->cpus_in_turn = begin->cpus_in_turn != 0;
	collection->cpus = count_cpus(begin->cpus);
}

static void add(struct collection *collection, uint32_t pc, uint32_t kind)
{
	if (!__pc_table_add(&collection->pcs, pc, kind))
		collection->not_kept++;
}

/* Without memory for it, a sample has no label, but is counted all the same. */
static void count_kernel(struct collection *collection, const struct prof_sample *sample)
{
	__pc_table_add(&collection->labels, sample->label, 0);
	add(collection, sample->kernel_pc, kind_of(sample->flavor, 0));
}

static bool is_others(const struct collection *collection, const struct prof_sample *sample)
{
	return (collection->of_kernel && sample->kernel_pc == 0) ||
	       (collection->only_task && sample->task != collection->task);
}

static void take_sample(struct collection *collection, const void *record)
{
	const struct prof_sample *sample = record;

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
		add(collection, sample->pc, kind_of(sample->flavor, sample->kernel_pc != 0));
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
			.parked = prof_u64(clock->parked),
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

/* Flavor, CPU and flags in one. */
static inline const uint32_t *why_of(const struct prof_sample *sample)
{
	return (const uint32_t *)&sample->flavor;
}

/*
 * Counts samples as long as they are of the usual kind, which is nearly always: without stacks, of
 * one flavor, and not of the collecting thread.  Returns how many words they take.
 */
static __attribute__((noinline)) size_t add_usual(struct collection *collection,
						  const uint32_t *words, size_t count)
{
	const struct prof_sample *first = (const struct prof_sample *)words, *sample = first;
	const struct prof_sample *end = first + count / PLAIN_WORDS;
	const uint32_t own_thread = collection->own_thread, user = kind_of(first->flavor, 0);
	struct pc_table pcs = collection->pcs;
	uint32_t why = *why_of(first);

	for (; sample < end && *(const uint32_t *)&sample->record == PLAIN_HEAD; sample++) {
		const uint32_t pc = sample->pc, kind = user + (sample->kernel_pc != 0);

		if (sample->thread == own_thread)
			break;
		if (*why_of(sample) != why) {
			if (sample->flavor != first->flavor)
				break;
			why = *why_of(sample);
		}
		if (!__pc_table_add_again(&pcs, pc, kind)) {
			add(collection, pc, kind);
			pcs = collection->pcs;
		}
	}
	return (size_t)(sample - first) * PLAIN_WORDS;
}

static bool may_be_usual(const struct collection *collection, const uint32_t *words, size_t count)
{
	return count >= PLAIN_WORDS && words[0] == PLAIN_HEAD &&
	       ((const struct prof_sample *)words)->flavor != 0 && collection->pcs.size != 0 &&
	       !collection->of_kernel && !collection->only_task;
}

void __collection_add(struct collection *collection, const uint32_t *words, size_t count)
{
	for (;;) {
		const struct prof_record *record;
		size_t used = 0;

		if (may_be_usual(collection, words, count))
			used = add_usual(collection, words, count);
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
