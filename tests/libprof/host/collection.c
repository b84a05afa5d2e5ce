/* SPDX-License-Identifier: MIT */
/* links: libprof/core/collection.c libprof/core/pc_table.c tests/lib/libprof/pages.c */
/* Records of streams that were made by hand become counts (libprof/core/collection.h). */
#include "../../../libprof/core/collection.h"

#include <string.h>

#include "../../lib/libprof/pages.h"
#include "host/kernel.h"

#define LOW    0x08048000u
#define HIGH   0x08058000u
#define OWN    77u
#define KIND_U 0u /* Periodic, in user mode, */
#define KIND_K 1u /* and in the kernel. */
#define ZFILL  (2 * 4u)

static struct collection collection;
static uint32_t words[4096];
static size_t used;

static void *add(enum prof_type type, size_t size)
{
	struct prof_record *record = (void *)&words[used];

	memset(record, 0, size);
	*record = (struct prof_record){
		.words = (uint16_t)(size / 4), .type = type, .version = PROF_VERSION};
	used += size / 4;
	return record;
}

static void add_sample(uint32_t pc, uint32_t kernel_pc, uint32_t thread, uint16_t flavor)
{
	struct prof_sample *sample = add(PROF_SAMPLE, sizeof *sample);

	sample->pc = pc;
	sample->kernel_pc = kernel_pc;
	sample->thread = thread;
	sample->flavor = flavor;
}

static void add_counts(uint32_t cpu, uint32_t base)
{
	struct prof_clock *clock = add(PROF_CLOCK, sizeof *clock);
	struct prof_stream *stream = add(PROF_STREAM, sizeof *stream);

	clock->cpu = cpu;
	clock->due[0] = base;
	clock->fired[0] = base - 1;
	clock->missed[0] = 1;
	clock->idle[0] = 2;
	clock->elsewhere[0] = 3;
	clock->taken[0] = base - 6;
	stream->taken[0] = base;
	stream->delivered[0] = base - 3;
	stream->lost[0] = 2;
	stream->buffered[0] = 1;
}

static void begin(void)
{
	test_pages_left = TEST_PAGES_ALL;
	__collection_clear(&collection, 0); /* With the memory of the test before. */
	__collection_clear(&collection, SAMPLED_PC_PERIODIC);
	collection.low = LOW;
	collection.high = HIGH;
	collection.own_thread = OWN;
	collection.of_kernel = false;
	collection.only_task = false;
	used = 0;
}

static void take(void)
{
	__collection_add(&collection, words, used);
	used = 0;
}

static uint64_t count(uint32_t pc, uint32_t kind)
{
	return __pc_table_count(&collection.pcs, pc, kind);
}

TEST(collection_keeps_flavors_and_modes_apart)
{
	begin();
	add_sample(LOW + 5, 0, 1, SAMPLED_PC_PERIODIC);
	add_sample(LOW + 5, 0, 2, SAMPLED_PC_PERIODIC);
	add_sample(LOW + 5, 0xc0100000, 1, SAMPLED_PC_PERIODIC);
	add_sample(LOW + 5, 0, 1, SAMPLED_PC_VM_ZFILL_FAULTS);
	take();
	EXPECT_EQ(count(LOW + 5, KIND_U), 2);
	EXPECT_EQ(count(LOW + 5, KIND_K), 1);
	EXPECT_EQ(count(LOW + 5, ZFILL), 1);
	EXPECT_EQ(count(LOW + 4, KIND_U), 0);
	EXPECT_EQ(__collection_places(&collection).kernel, 1);
	EXPECT_EQ(__collection_places(&collection).outside, 0);
}

TEST(collection_tells_its_own_thread_from_the_program)
{
	begin();
	add_sample(LOW + 5, 0, OWN, SAMPLED_PC_PERIODIC);
	add_sample(LOW + 5, 0xc0100000, OWN, SAMPLED_PC_PERIODIC);
	take();
	EXPECT_EQ(collection.profiler, 2);
	EXPECT_EQ(__collection_places(&collection).kernel, 0);
	EXPECT_EQ(count(LOW + 5, KIND_U), 0);
}

TEST(collection_counts_what_is_outside)
{
	begin();
	add_sample(LOW - 1, 0, 1, SAMPLED_PC_PERIODIC);
	add_sample(HIGH, 0, 1, SAMPLED_PC_PERIODIC);
	add_sample(HIGH - 1, 0, 1, SAMPLED_PC_PERIODIC);
	take();
	EXPECT_EQ(__collection_places(&collection).outside, 2);
	EXPECT_EQ(count(HIGH, KIND_U), 1);
}

/* Where there have been some, they go by a short way, on which the others must not be taken. */
TEST(collection_tells_others_from_usual_samples)
{
	begin();
	for (unsigned n = 0; n < 3; n++)
		add_sample(LOW + 5, 0, 1, SAMPLED_PC_PERIODIC);
	add_sample(LOW + 5, 0, OWN, SAMPLED_PC_PERIODIC);
	add_sample(LOW + 5, 0xc0100000, 1, SAMPLED_PC_PERIODIC);
	add_sample(HIGH, 0, 1, SAMPLED_PC_PERIODIC);
	add_sample(HIGH, 0, 1, SAMPLED_PC_PERIODIC);
	add_sample(LOW + 5, 0, 1, 0);
	add_sample(LOW + 5, 0, 1, SAMPLED_PC_VM_ZFILL_FAULTS);
	add_sample(LOW + 5, 0, 1, SAMPLED_PC_PERIODIC);
	take();
	EXPECT_EQ(count(LOW + 5, ZFILL), 1);
	EXPECT_EQ(count(LOW + 5, KIND_U), 4);
	EXPECT_EQ(count(LOW + 5, KIND_K), 1);
	EXPECT_EQ(collection.profiler, 1);
	EXPECT_EQ(__collection_places(&collection).outside, 2);
	EXPECT_EQ(count(HIGH, KIND_U), 2);
	collection.only_task = true;
	collection.task = 9;
	add_sample(LOW + 5, 0, 1, SAMPLED_PC_PERIODIC); /* Of task 0. */
	take();
	EXPECT_EQ(count(LOW + 5, KIND_U), 4);
	EXPECT_EQ(collection.others, 1);
}

TEST(collection_of_the_kernel_has_its_own_places)
{
	begin();
	collection.of_kernel = true;
	collection.low = 0xc0100000;
	collection.high = 0xc0200000;
	add_sample(LOW + 5, 0, 1, SAMPLED_PC_PERIODIC);
	add_sample(LOW + 5, 0xc0100010, 1, SAMPLED_PC_PERIODIC);
	add_sample(LOW + 6, 0xc0100010, 2, SAMPLED_PC_PERIODIC);
	take();
	EXPECT_EQ(count(0xc0100010, KIND_U), 2);
	EXPECT_EQ(count(LOW + 5, KIND_U), 0);
	EXPECT_EQ(__collection_places(&collection).kernel, 2);
	EXPECT_EQ(collection.others, 1);
	EXPECT_EQ(__collection_places(&collection).outside, 0);
	EXPECT_EQ(__pc_table_count(&collection.labels, 0, 0), 2);
}

/* Another task's addresses mean nothing in this program. */
TEST(collection_of_one_task_passes_over_others)
{
	begin();
	collection.only_task = true;
	collection.task = 9;
	add_sample(LOW + 5, 0, 1, SAMPLED_PC_PERIODIC); /* Of task 0. */
	take();
	EXPECT_EQ(count(LOW + 5, KIND_U), 0);
	EXPECT_EQ(collection.others, 1);
}

TEST(collection_adds_up_cpus_and_streams)
{
	begin();
	add_counts(0, 10);
	add_counts(0, 100); /* The later of a CPU's counts hold. */
	add_counts(1, 50);
	take();
	__collection_next_stream(&collection);
	add_counts(1, 20);
	take();
	EXPECT_EQ(__collection_clocks(&collection).due, 170);
	EXPECT_EQ(__collection_clocks(&collection).fired, 167);
	EXPECT_EQ(__collection_clocks(&collection).missed, 3);
	EXPECT_EQ(__collection_clocks(&collection).idle, 6);
	EXPECT_EQ(__collection_clocks(&collection).elsewhere, 9);
	EXPECT_EQ(__collection_clocks(&collection).taken, 152);
	EXPECT_EQ(__collection_counts(&collection).taken, 70);
	EXPECT_EQ(__collection_counts(&collection).delivered, 64);
	EXPECT_EQ(__collection_counts(&collection).lost, 4);
	EXPECT_EQ(__collection_counts(&collection).buffered, 2);
}

TEST(collection_sees_the_end_of_a_stream)
{
	struct prof_end *end;

	begin();
	end = add(PROF_END, sizeof *end);
	end->reason = PROF_END_TARGET;
	take();
	EXPECT(collection.is_over);
	EXPECT_EQ(collection.end, PROF_END_TARGET);
	__collection_next_stream(&collection);
	EXPECT(!collection.is_over);
}

TEST(collection_passes_over_what_it_does_not_know)
{
	struct prof_record *record;

	begin();
	add(200, 40);
	record = add(PROF_SAMPLE, sizeof(struct prof_sample));
	record->version = PROF_VERSION + 1;
	add(PROF_SAMPLE, sizeof(struct prof_sample) - 4); /* Too short for one. */
	add_sample(LOW, 0, 1, SAMPLED_PC_PERIODIC);
	add_sample(LOW, 0, 1, 0); /* Of no flavor. */
	take();
	EXPECT_EQ(count(LOW, KIND_U), 1);
	EXPECT_EQ(collection.pcs.used, 1);
}

TEST(collection_survives_a_cut_message)
{
	begin();
	add_sample(LOW, 0, 1, SAMPLED_PC_PERIODIC);
	add_sample(LOW, 0, 1, SAMPLED_PC_PERIODIC);
	used -= 2;
	take();
	EXPECT_EQ(count(LOW, KIND_U), 1);
	words[0] = 0; /* A record without words would be the last one for ever. */
	__collection_add(&collection, words, 100);
	EXPECT_EQ(count(LOW, KIND_U), 1);
}

TEST(collection_calls_lost_what_it_has_no_memory_for)
{
	begin();
	test_pages_left = 0;
	add_sample(LOW, 0, 1, SAMPLED_PC_PERIODIC);
	add_counts(0, 10);
	take();
	EXPECT_EQ(__collection_counts(&collection).delivered, 6);
	EXPECT_EQ(__collection_counts(&collection).lost, 3);
	EXPECT_EQ(__collection_counts(&collection).taken, 10);
}

TEST(collection_forgets_everything_but_whose_it_is)
{
	begin();
	add_sample(LOW, 0xc0100000, 1, SAMPLED_PC_PERIODIC);
	add_counts(0, 10);
	take();
	__collection_clear(&collection, SAMPLED_PC_VM_COW_FAULTS);
	EXPECT_EQ(count(LOW, KIND_K), 0);
	EXPECT_EQ(__collection_places(&collection).kernel, 0);
	EXPECT_EQ(__collection_clocks(&collection).due, 0);
	EXPECT_EQ(collection.flavors, SAMPLED_PC_VM_COW_FAULTS);
	EXPECT_EQ(collection.low, LOW);
	EXPECT_EQ(collection.own_thread, OWN);
}

/* The short way must not take an empty place for that of a program that jumped to nowhere. */
TEST(collection_counts_at_0)
{
	begin();
	for (unsigned turn = 0; turn < 2; turn++) {
		add_sample(LOW + 5, 0, 1, SAMPLED_PC_PERIODIC);
		add_sample(0, 0, 1, SAMPLED_PC_PERIODIC);
		add_sample(0, 0xc0100000, 1, SAMPLED_PC_PERIODIC);
		add_sample(0, 0, 1, SAMPLED_PC_PERIODIC);
		take();
		EXPECT_EQ(count(0, KIND_U), 2);
		EXPECT_EQ(count(0, KIND_K), 1);
		EXPECT_EQ(collection.pcs.used, 3);
		EXPECT_EQ(__collection_places(&collection).outside, 3);
		__collection_clear(&collection, SAMPLED_PC_PERIODIC); /* The table stays. */
		EXPECT_EQ(count(0, KIND_U), 0);
		EXPECT_EQ(collection.pcs.used, 0);
	}
}

/* ---------------- The table, against a plain array ---------------- */

#define PCS 3000

TEST(pc_table_grows_and_forgets_nothing)
{
	static uint32_t expected[PCS][2];
	uint32_t state = 1;

	begin();
	for (unsigned n = 0; n < 40000; n++) {
		uint32_t pc = host_random_below(&state, PCS);
		uint32_t kind = host_random_below(&state, 2);

		expected[pc][kind]++;
		EXPECT(__pc_table_add(&collection.pcs, LOW + pc, kind));
	}
	for (unsigned pc = 0; pc < PCS; pc++) {
		EXPECT_EQ(count(LOW + pc, 0), expected[pc][0]);
		EXPECT_EQ(count(LOW + pc, 1), expected[pc][1]);
	}
}

TEST(pc_table_without_memory_takes_what_it_can)
{
	unsigned taken = 0;

	begin();
	test_pages_left = 1;
	for (unsigned n = 0; n < 2000; n++)
		taken += __pc_table_add(&collection.pcs, LOW + n, 0);
	EXPECT_EQ(taken, collection.pcs.used);
	EXPECT(taken < collection.pcs.size);
	EXPECT(!__pc_table_add(&collection.pcs, HIGH, 0));
	EXPECT(__pc_table_add(&collection.pcs, LOW, 0)); /* What is there is counted. */
	EXPECT_EQ(count(LOW, 0), 2);
}
