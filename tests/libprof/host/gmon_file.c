/* SPDX-License-Identifier: MIT */
/* links: libprof/core/gmon_file.c libprof/core/arcs.c libprof/core/collection.c */
/* links: libprof/core/pc_table.c tests/lib/libprof/pages.c */
/* A file of a profile has every call that was counted, or is none (libprof/core/gmon_file.h). */
#include "../../../libprof/core/gmon_file.h"

#include <gmon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../libprof/core/arcs.h"
#include "../../../libprof/core/code.h"
#include "../../../libprof/core/pages.h"
#include "../../lib/libprof/pages.h"
#include "host/kernel.h"

#define LOW  0x08048000u
#define HIGH 0x08048100u
#define MOST 600u

/* How often another thread makes new calls while a file is written, from which number on. */
static uint32_t floods, next_call;

/* Calls of these numbers, one each. */
static void count_calls(uint32_t from, uint32_t to)
{
	for (uint32_t n = from; n < to; n++)
		mcountaux(LOW + 4 * n, LOW);
}

/* The program's code is not here; it is asked for before the calls are written. */
void __code_visit(const struct collection *of, bool with_arcs, code_visit_t visit, void *argument)
{
	(void)of;
	(void)with_arcs;
	(void)visit;
	(void)argument;
	if (floods == 0)
		return;
	floods--;
	count_calls(next_call, next_call + MOST);
	next_call += MOST;
}

uint32_t __code_ranges(const struct collection *of)
{
	(void)of;
	return 0;
}

static struct collection collection;

static void begin(void)
{
	test_pages_left = TEST_PAGES_ALL;
	__arcs_clear();
	__collection_clear(&collection, SAMPLED_PC_PERIODIC);
	collection.low = LOW;
	collection.high = HIGH;
	floods = 0;
	next_call = 0;
}

/* Of a BSD file the arcs are all that follows the histogram; returns how many there are. */
static uint32_t arcs_of_bsd(size_t size, enum gprof_format format)
{
	size_t head = format == GPROF_BSD ? sizeof(struct gmon_bsd_header)
					  : sizeof(struct gmon_44bsd_header);
	size_t before = head + (HIGH - LOW);

	EXPECT_EQ((size - before) % sizeof(struct gmon_arc), 0);
	return (uint32_t)((size - before) / sizeof(struct gmon_arc));
}

/* Of a GNU file: records of calls, without those of our own. */
static uint32_t arcs_of_gnu(const char *data, size_t size)
{
	size_t at = sizeof(struct gmon_header) + 1 + sizeof(struct gmon_histogram) + (HIGH - LOW);
	uint32_t n = 0;

	for (; at < size; at += 1 + sizeof(struct gmon_arc)) {
		struct gmon_arc arc;

		EXPECT_EQ(data[at], GMON_TAG_ARC);
		memcpy(&arc, data + at + 1, sizeof arc);
		n += arc.from >= GMON_EXTRA_END;
	}
	EXPECT_EQ(at, size);
	return n;
}

/* Room is found for some calls, and then there are more: all of them are written, or nothing. */
static bool write_late(enum gprof_format format, uint32_t before, uint32_t after)
{
	size_t room, size;
	uint32_t arcs;
	char *data;

	begin();
	count_calls(0, before);
	room = __gmon_room(&collection, true, format);
	data = calloc(1, room);
	count_calls(before, before + after);
	size = __gmon_write(&collection, true, format, data, room);
	EXPECT_LE(size, room);
	if (size != 0) {
		arcs = format == GPROF_GNU ? arcs_of_gnu(data, size) : arcs_of_bsd(size, format);
		EXPECT_EQ(arcs, before + after);
	}
	free(data);
	return size != 0;
}

/* Of several sizes of a program, and all numbers of calls that may come between. */
static void write_all(enum gprof_format format)
{
	uint32_t written = 0;

	for (uint32_t after = 0; after < MOST && !check_failed(); after += after < 200 ? 1 : 50)
		written += write_late(format, 3, after);
	EXPECT(write_late(format, 0, 0));
	EXPECT(write_late(format, MOST, 10));
	EXPECT_LT(10, written);
	EXPECT(!write_late(format, 3, MOST));
	EXPECT(!write_late(format, MOST, MOST));
}

TEST(calls_that_come_late_gnu)
{
	write_all(GPROF_GNU);
}

TEST(calls_that_come_late_44bsd)
{
	write_all(GPROF_44BSD);
}

TEST(calls_that_come_late_bsd)
{
	write_all(GPROF_BSD);
}

/* Each time it has to begin again; what it has begun in vain is given back (the sanitizer sees). */
TEST(begun_again)
{
	for (uint32_t times = 0; times < 4; times++) {
		size_t size, room;
		char *data;

		begin();
		floods = times;
		data = __gmon_make(&collection, true, GPROF_GNU, &size, &room);
		REQUIRE(data != NULL);
		EXPECT_EQ(floods, 0);
		EXPECT_EQ(arcs_of_gnu(data, size), times * MOST);
		EXPECT_LE(size, room);
		__prof_pages_free(data, room);
	}
}

TEST(no_memory_at_any_time)
{
	for (uint32_t pages = 0; pages < 3; pages++) {
		size_t size, room;

		begin();
		count_calls(0, 4 * MOST); /* Their memory is there by now, and stays. */
		__arcs_clear();
		floods = 3;
		test_pages_left = pages;
		EXPECT(__gmon_make(&collection, true, GPROF_GNU, &size, &room) == NULL);
		EXPECT_EQ(test_pages_left, 0);
		EXPECT_EQ(floods, 3 - pages);
	}
	test_pages_left = TEST_PAGES_ALL;
}

/* ---------------- What a file has, record by record ---------------- */

static uint32_t n_records[GMON_EXTRA_END + 1]; /* By what they are; the last are calls. */
static uint64_t sums[GMON_EXTRA_END + 1];      /* Of their counts. */
static char said_name[GMON_NAME_ROOM];

static void take_record(const struct gmon_arc *arc)
{
	uint32_t what = arc->from < GMON_EXTRA_END ? arc->from : GMON_EXTRA_END;
	uint32_t word = what - GMON_EXTRA_LABEL_NAME;

	n_records[what]++;
	sums[what] += arc->count;
	if (word < GMON_NAME_ROOM / sizeof arc->count)
		memcpy(said_name + word * sizeof arc->count, &arc->count, sizeof arc->count);
}

/* Makes a file of the collection, and reads it. */
static void make_and_read(void)
{
	size_t at = sizeof(struct gmon_header) + 1 + sizeof(struct gmon_histogram) + (HIGH - LOW);
	size_t size, room;
	char *data = __gmon_make(&collection, true, GPROF_GNU, &size, &room);

	memset(n_records, 0, sizeof n_records);
	memset(sums, 0, sizeof sums);
	memset(said_name, 0, sizeof said_name);
	REQUIRE(data != NULL);
	EXPECT_LE(size, room);
	for (; at < size; at += 1 + sizeof(struct gmon_arc)) {
		struct gmon_arc arc;

		memcpy(&arc, data + at + 1, sizeof arc);
		take_record(&arc);
	}
	EXPECT_EQ(at, size);
	__prof_pages_free(data, room);
}

/* Gives a call its count. */
static void set_count(const struct arc *arc, void *count)
{
	struct arc *own = (struct arc *)(uintptr_t)arc;

	own->low = (uint32_t) * (uint64_t *)count;
	own->high = (uint32_t)(*(uint64_t *)count >> 32);
}

/* More calls than there is room to spare, each with more than one record can say. */
TEST(counts_of_more_than_32_bits)
{
	static const uint64_t counts[] = {1,          UINT32_MAX - 1ull, UINT32_MAX,
					  1ull << 32, 2ull * UINT32_MAX, 2ull * UINT32_MAX + 1,
					  2ull << 32, 3ull * UINT32_MAX, 5ull << 32};
	const uint64_t calls = 200;

	for (unsigned n = 0; n < sizeof counts / sizeof counts[0]; n++) {
		uint64_t count = counts[n];

		begin();
		count_calls(0, (uint32_t)calls);
		__arcs_visit(set_count, &count);
		make_and_read();
		EXPECT_EQ(sums[GMON_EXTRA_END], calls * count);
		EXPECT_EQ(n_records[GMON_EXTRA_END],
			  calls * ((count + UINT32_MAX - 1) / UINT32_MAX));
	}
}

/* As many places with samples; the histogram is not of them. */
TEST(samples_of_more_than_32_bits)
{
	const uint64_t count = (3ull << 32) + 1, places = 200;

	begin();
	for (uint32_t pc = 0; pc < places; pc++)
		__pc_table_add(&collection.pcs, HIGH + pc, 0);
	for (uint32_t n = 0; n < collection.pcs.size; n++)
		if (collection.pcs.places[n].count != 0)
			collection.pcs.places[n].count = count;
	make_and_read();
	EXPECT_EQ(sums[GMON_EXTRA_PC], places * count);
	EXPECT_EQ(n_records[GMON_EXTRA_PC], places * 4);
}

/* A long name is cut, so that it ends within its room. */
TEST(names_of_any_length)
{
	static const char longest[] = "a-name-of-more-characters-than-there-is-room-for";

	for (size_t length = 1; length < sizeof longest; length++) {
		char name[sizeof longest];
		size_t said = length < GMON_NAME_ROOM ? length : GMON_NAME_ROOM - 1;

		snprintf(name, sizeof name, "%.*s", (int)length, longest);
		begin();
		collection.name = name;
		collection.pid = 12;
		make_and_read();
		EXPECT_EQ(strlen(said_name), said);
		EXPECT(memcmp(said_name, name, said) == 0);
		EXPECT_EQ(sums[GMON_EXTRA_LABEL_PID], 13);
	}
	collection.name = NULL;
	make_and_read();
	EXPECT_EQ(n_records[GMON_EXTRA_LABEL_PID] + n_records[GMON_EXTRA_LABEL_NAME], 0);
}

/* The counts of each CPU are there as soon as there are two. */
TEST(counts_of_each_cpu)
{
	const uint32_t values = sizeof(struct clock_counts) / sizeof(uint64_t);

	for (uint32_t cpus = 1; cpus <= COLLECTION_CPUS; cpus++) {
		begin();
		collection.cpus = cpus;
		for (uint32_t cpu = 0; cpu < cpus; cpu++)
			collection.clocks[cpu] = (struct clock_counts){.due = 5ull << 32 | 1,
								       .fired = 2,
								       .missed = 3,
								       .parked = 4,
								       .idle = 5,
								       .elsewhere = 6,
								       .taken = 7};
		make_and_read();
		EXPECT_EQ(n_records[GMON_EXTRA_CPU], cpus == 1 ? 0 : values * cpus);
		EXPECT_EQ(sums[GMON_EXTRA_CPU], cpus == 1 ? 0 : (1 + 2 + 3 + 4 + 5 + 6 + 7) * cpus);
		EXPECT_EQ(sums[GMON_EXTRA_CPU_HIGH], cpus == 1 ? 0 : 5 * cpus);
	}
}

/* What the histogram says of itself: its rate and what it counts. */
static void expect_histogram(uint32_t flavors, uint32_t rate, uint32_t said, const char *dimension)
{
	struct gmon_histogram histogram;
	size_t size, room;
	char *data;

	begin();
	collection.flavors = flavors;
	collection.rate = rate;
	data = __gmon_make(&collection, true, GPROF_GNU, &size, &room);
	REQUIRE(data != NULL);
	memcpy(&histogram, data + sizeof(struct gmon_header) + 1, sizeof histogram);
	EXPECT_EQ(histogram.rate, said);
	EXPECT_EQ(histogram.abbreviation, dimension[0]);
	EXPECT(memcmp(histogram.dimension, dimension, strlen(dimension) + 1) == 0);
	__prof_pages_free(data, room);
}

/* Of time it is the stream's, or the usual one as long as there was none; events are counted. */
TEST(histogram_of_each_flavor)
{
	expect_histogram(SAMPLED_PC_PERIODIC, 400, 400, "seconds");
	expect_histogram(SAMPLED_PC_PERIODIC, 1, 1, "seconds");
	expect_histogram(SAMPLED_PC_PERIODIC, 0, SAMPLE_RATE_DEFAULT, "seconds");
	expect_histogram(0, 0, SAMPLE_RATE_DEFAULT, "seconds");
	expect_histogram(SAMPLED_PC_PERIODIC | SAMPLED_PC_VM_COW_FAULTS, 50, 50, "seconds");
	expect_histogram(SAMPLED_PC_VM_ZFILL_FAULTS, 0, 1, "zfill");
	expect_histogram(SAMPLED_PC_VM_REACTIVATION_FAULTS, 400, 1, "reactivation");
	expect_histogram(SAMPLED_PC_VM_PAGEIN_FAULTS, 0, 1, "pagein");
	expect_histogram(SAMPLED_PC_VM_COW_FAULTS, 0, 1, "cow");
	expect_histogram(SAMPLED_PC_VM_FAULTS_ANY, 0, 1, "any");
	expect_histogram(SAMPLED_PC_VM_ZFILL_FAULTS | SAMPLED_PC_VM_COW_FAULTS, 0, 1, "zfill");
}

/* The first bin of each histogram, of a program that begins at `pc` and was sampled there alone. */
static uint32_t bins_of(enum gprof_format format, uint32_t pc, uint64_t samples, uint16_t bins[4])
{
	size_t head = format == GPROF_GNU ? 1 + sizeof(struct gmon_histogram)
					  : sizeof(struct gmon_bsd_header);
	size_t at = format == GPROF_GNU ? sizeof(struct gmon_header) : 0;
	uint32_t histograms = 0;
	size_t size, room;
	char *data;

	begin();
	collection.low = pc;
	collection.high = pc + (HIGH - LOW);
	__pc_table_add(&collection.pcs, pc, 0);
	for (uint32_t n = 0; n < collection.pcs.size; n++)
		if (collection.pcs.places[n].count != 0)
			collection.pcs.places[n].count = samples;
	data = __gmon_make(&collection, false, format, &size, &room);
	while (histograms < 4 && (format == GPROF_GNU ? data[at] == GMON_TAG_HISTOGRAM : at == 0)) {
		memcpy(&bins[histograms++], data + at + head, sizeof bins[0]);
		at += head + (HIGH - LOW);
	}
	__prof_pages_free(data, room);
	return histograms;
}

/* As many histograms as it takes, and no more. */
static void expect_bins(uint32_t pc)
{
	uint16_t bins[4];

	EXPECT_EQ(bins_of(GPROF_GNU, pc, 65534, bins), 1);
	EXPECT_EQ(bins[0], 65534);
	EXPECT_EQ(bins_of(GPROF_GNU, pc, 65535, bins), 1);
	EXPECT_EQ(bins[0], 65535);
	EXPECT_EQ(bins_of(GPROF_GNU, pc, 65536, bins), 2);
	EXPECT_EQ(bins[0] + bins[1], 65536);
	EXPECT_EQ(bins_of(GPROF_GNU, pc, 2 * 65535, bins), 2);
	EXPECT_EQ(bins[0] + bins[1], 2 * 65535);
	EXPECT_EQ(bins_of(GPROF_GNU, pc, 2 * 65535 + 1, bins), 3);
	EXPECT_EQ(bins[0] + bins[1] + bins[2], 2 * 65535 + 1);
	EXPECT_EQ(bins_of(GPROF_BSD, pc, 70000, bins), 1);
	EXPECT_EQ(bins[0], 65535); /* Of the one that there is, it is full. */
}

/* Wherever in the table the place is, its first one too. */
TEST(bins_that_are_full)
{
	uint32_t pc = LOW;

	expect_bins(pc);
	while (__pc_table_first_place(&collection.pcs, pc, 0) != collection.pcs.places)
		pc++;
	expect_bins(pc);
}
