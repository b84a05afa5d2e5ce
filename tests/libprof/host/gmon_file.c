/* SPDX-License-Identifier: MIT */
/* links: libprof/core/gmon_file.c libprof/core/arcs.c libprof/core/collection.c */
/* links: libprof/core/pc_table.c tests/lib/libprof/pages.c */
/* A file of a profile has every call that was counted, or is none (libprof/core/gmon_file.h). */
#include "../../../libprof/core/gmon_file.h"

#include <gmon.h>
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
