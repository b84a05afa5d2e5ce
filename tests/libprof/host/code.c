/* SPDX-License-Identifier: MIT */
/* links: libprof/core/code.c libprof/core/arcs.c libprof/core/pc_table.c */
/* links: tests/lib/libprof/pages.c */
/*
 * Which code a profile tells of (libprof/core/code.h): the beginning that the program itself says,
 * and of the rest the pages that something was seen in, each once and none beyond its end.
 */
#include "../../../libprof/core/code.h"

#include <string.h>
#include <sys/mman.h>

#include "../../../libprof/core/arcs.h"
#include "../../../libprof/core/pages.h"
#include "../../lib/libprof/pages.h"
#include "host/kernel.h"

#define PAGES 6u  /* Of the program, */
#define FIRST 100 /* whose first one begins with so much that is no code. */

static struct collection collection;
static uint32_t low;

struct range {
	uint32_t code, bytes, sum;
};

static struct range ranges[PAGES + 1];
static unsigned n_ranges;

static void note(uint32_t code, uint32_t bytes, uint32_t sum, void *argument)
{
	EXPECT(argument == &collection);
	if (n_ranges < PAGES + 1)
		ranges[n_ranges] = (struct range){code, bytes, sum};
	n_ranges++;
}

/* Where a profile's addresses reach, each byte another than its neighbours. */
static unsigned char *text(void)
{
	static unsigned char *made;

	if (made == NULL) {
		made = mmap(NULL, PAGES * PROF_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
		for (uint32_t n = 0; made != MAP_FAILED && n < PAGES * PROF_PAGE; n++)
			made[n] = (unsigned char)(n + n / 251);
	}
	return made;
}

/* A program that ends so many bytes behind the beginning of its last page. */
static void begin(uint32_t end)
{
	test_pages_left = TEST_PAGES_ALL;
	__arcs_clear();
	__pc_table_clear(&collection.pcs);
	low = (uint32_t)(uintptr_t)text();
	collection = (struct collection){
		.low = low,
		.high = low + (PAGES - 1) * PROF_PAGE + end,
		.has_program = true,
		.runs_here = true,
		.program = {.code = low + FIRST, .bytes = PROF_PAGE - FIRST, .sum = 77},
	};
}

static void visit(bool with_arcs)
{
	n_ranges = 0;
	__code_visit(&collection, with_arcs, note, &collection);
	EXPECT_LE(n_ranges, __code_ranges(&collection));
	if (n_ranges > 0) {
		EXPECT_EQ(ranges[0].code, low + FIRST);
		EXPECT_EQ(ranges[0].bytes, PROF_PAGE - FIRST);
		EXPECT_EQ(ranges[0].sum, 77);
	}
}

static void sample(uint32_t offset)
{
	EXPECT(__pc_table_add(&collection.pcs, low + offset, 0));
}

static void expect_page(unsigned range, uint32_t page, uint32_t bytes)
{
	EXPECT_LT(range, n_ranges);
	EXPECT_EQ(ranges[range].code, low + page * PROF_PAGE);
	EXPECT_EQ(ranges[range].bytes, bytes);
	EXPECT_EQ(ranges[range].sum, gmon_code_sum(text() + (size_t)page * PROF_PAGE, bytes));
}

TEST(code_of_a_program_that_is_not_known)
{
	begin(PROF_PAGE);
	sample(2 * PROF_PAGE);
	collection.has_program = false;
	visit(true);
	EXPECT_EQ(n_ranges, 0);
	EXPECT_EQ(__code_ranges(&collection), 0);
}

TEST(code_that_is_in_another_task)
{
	begin(PROF_PAGE);
	sample(2 * PROF_PAGE);
	collection.runs_here = false;
	visit(true);
	EXPECT_EQ(n_ranges, 1);
	EXPECT_EQ(__code_ranges(&collection), 1);
}

TEST(code_of_which_nothing_was_seen)
{
	begin(PROF_PAGE);
	visit(true);
	EXPECT_EQ(n_ranges, 1);
	sample(PROF_PAGE - 1); /* Of the first page it is known, and these are no code. */
	sample(PROF_PAGE * PAGES);
	visit(true);
	EXPECT_EQ(n_ranges, 1);
}

TEST(code_with_samples_at_the_ends_of_pages)
{
	begin(PROF_PAGE);
	sample(PROF_PAGE);
	sample(3 * PROF_PAGE - 1);
	sample(4 * PROF_PAGE);
	sample(4 * PROF_PAGE);
	sample(4 * PROF_PAGE + 5);
	sample(PAGES * PROF_PAGE - 1);
	visit(false);
	EXPECT_EQ(n_ranges, 5);
	EXPECT_EQ(__code_ranges(&collection), PAGES);
	expect_page(1, 1, PROF_PAGE);
	expect_page(2, 2, PROF_PAGE);
	expect_page(3, 4, PROF_PAGE);
	expect_page(4, 5, PROF_PAGE);
}

TEST(code_with_calls)
{
	begin(PROF_PAGE);
	mcountaux(low + PROF_PAGE + 8, low + 2 * PROF_PAGE);
	visit(false);
	EXPECT_EQ(n_ranges, 1);
	visit(true);
	EXPECT_EQ(n_ranges, 3);
	expect_page(1, 1, PROF_PAGE);
	expect_page(2, 2, PROF_PAGE);
}

/* Nothing is read of what is behind the end, and sums are of whole words. */
TEST(code_ends_within_a_page)
{
	for (uint32_t end = 1; end < 10; end++) {
		begin(end);
		sample((PAGES - 1) * PROF_PAGE);
		visit(true);
		EXPECT_EQ(n_ranges, end < 4 ? 1 : 2);
		if (end >= 4)
			expect_page(1, PAGES - 1, end & ~3u);
	}
}

/* However many pages there are, or none, behind what the program says of itself. */
TEST(code_of_any_length)
{
	for (uint32_t pages = 1; pages <= PAGES; pages++) {
		begin(PROF_PAGE);
		collection.high = low + pages * PROF_PAGE;
		for (uint32_t page = 0; page <= PAGES; page++)
			sample(page * PROF_PAGE + 8);
		visit(true);
		EXPECT_EQ(n_ranges, pages);
		EXPECT_EQ(__code_ranges(&collection), pages);
	}
}

/* What the program says of itself ends somewhere in a page: the next one is the first other. */
TEST(code_that_is_known_ends_anywhere)
{
	for (uint32_t over = 0; over < 3; over++) {
		begin(PROF_PAGE);
		collection.program.bytes += over;
		sample(PROF_PAGE + 100);
		sample(2 * PROF_PAGE);
		n_ranges = 0;
		__code_visit(&collection, true, note, &collection);
		EXPECT_EQ(n_ranges, over == 0 ? 3 : 2);
		EXPECT_EQ(ranges[n_ranges - 1].code, low + 2 * PROF_PAGE);
	}
}

/* Samples of the kernel and calls from nowhere are in the same tables. */
TEST(code_of_others)
{
	begin(PROF_PAGE);
	EXPECT(__pc_table_add(&collection.pcs, 0, 0));
	EXPECT(__pc_table_add(&collection.pcs, 0xc0100000, 0));
	EXPECT(__pc_table_add(&collection.pcs, UINT32_MAX, 0));
	mcountaux(0, 0xc0100000);
	visit(true);
	EXPECT_EQ(n_ranges, 1);
}

/* Wherever in the table it is. */
TEST(code_of_a_sample_in_the_first_place)
{
	uint32_t offset = PROF_PAGE;

	begin(PROF_PAGE);
	sample(offset);
	while (__pc_table_first_place(&collection.pcs, low + offset, 0) != collection.pcs.places)
		offset++;
	__pc_table_clear(&collection.pcs);
	sample(offset);
	visit(true);
	EXPECT_EQ(n_ranges, 2);
}

TEST(code_without_memory)
{
	begin(PROF_PAGE);
	sample(PROF_PAGE);
	test_pages_left = 0;
	visit(true);
	EXPECT_EQ(n_ranges, 1);
	test_pages_left = TEST_PAGES_ALL;
	visit(true);
	EXPECT_EQ(n_ranges, 2);
}
