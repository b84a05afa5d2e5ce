/* SPDX-License-Identifier: MIT */
/*
 * A program's memory: what may be mapped where, what is in it, and what its rights allow.  What an
 * access that is not allowed does ends a program, so that is in rights.c.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=6
 */
#include "check.h"
#include <assay.h>

#define ALL (ASSAY_READ | ASSAY_WRITE | ASSAY_EXECUTE)
#define RW  (ASSAY_READ | ASSAY_WRITE)
#define RX  (ASSAY_READ | ASSAY_EXECUTE)

/* Where the program's own page tables reach: an address space keeps its tables until it ends. */
#define AREA  ((uint8_t *)0x08100000)
#define PAGES 200u

#define USER_START ((uint8_t *)0x1000)
#define USER_END   ((uint8_t *)0xc0000000)

/* ---------------- Arguments ---------------- */

struct range {
	uint32_t start, size;
};

/* No range of whole pages between the first user address and the last. */
static const struct range bad_ranges[] = {
	{0x08100001, PAGE_SIZE},
	{0x08100000, 1},
	{0x08100000, PAGE_SIZE + 4},
	{0x081007ff, PAGE_SIZE},
	{0, PAGE_SIZE},
	{0, 2 * PAGE_SIZE},
	{0, 0xc0000000},
	{0, 0},
	{0xbffff000, 2 * PAGE_SIZE},
	{0xc0000000, PAGE_SIZE},
	{0xc0100000, PAGE_SIZE},
	{0xffffe000, PAGE_SIZE},
	{0xfffff000, PAGE_SIZE},
	{0xfffff000, 0xfffff000},
	{0x1000, 0xc0000000},
	{0x08100000, 0xf7f00000},
	{0x08100000, 0xf8000000},
	{0x08100000, 0xfffff000},
};

TEST(bad_ranges_are_refused)
{
	for (unsigned i = 0; i < sizeof bad_ranges / sizeof bad_ranges[0]; i++) {
		void *start = (void *)bad_ranges[i].start;
		uint32_t size = bad_ranges[i].size;

		if (assay_memory_map(start, size, RW) != KERN_INVALID_ARGUMENT ||
		    assay_memory_unmap(start, size) != KERN_INVALID_ARGUMENT ||
		    assay_memory_protect(start, size, RW) != KERN_INVALID_ARGUMENT)
			check_fail("0x%x and 0x%x more are taken", bad_ranges[i].start, size);
	}
}

TEST(bad_rights_are_refused)
{
	static const uint32_t bad[] = {0, ASSAY_WRITE, ASSAY_EXECUTE, ASSAY_WRITE | ASSAY_EXECUTE,
				       8, 9,           0x80000001,    0xffffffff};

	EXPECT_EQ(assay_memory_map(AREA, PAGE_SIZE, RW), KERN_SUCCESS);
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		EXPECT_EQ(assay_memory_map(AREA + PAGE_SIZE, PAGE_SIZE, bad[i]),
			  KERN_INVALID_ARGUMENT);
		EXPECT_EQ(assay_memory_protect(AREA, PAGE_SIZE, bad[i]), KERN_INVALID_ARGUMENT);
	}
	AREA[0] = 1;
	EXPECT_EQ(assay_memory_unmap(AREA, PAGE_SIZE), KERN_SUCCESS);
}

TEST(empty_ranges_are_nothing)
{
	EXPECT_EQ(assay_memory_map(AREA, 0, RW), KERN_SUCCESS);
	EXPECT_EQ(assay_memory_unmap(AREA, 0), KERN_SUCCESS);
	EXPECT_EQ(assay_memory_protect(AREA, 0, RW), KERN_SUCCESS);
	EXPECT_EQ(assay_memory_protect(AREA, PAGE_SIZE, RW), KERN_INVALID_ADDRESS);
}

/* The first and the last page that a program may have; the last one is its stack's. */
TEST(ends_of_user_memory)
{
	EXPECT_EQ(assay_memory_map(USER_START, PAGE_SIZE, RW), KERN_SUCCESS);
	USER_START[0] = 1;
	EXPECT_EQ(assay_memory_unmap(USER_START, PAGE_SIZE), KERN_SUCCESS);
	balance_note(); /* With the tables for that address. */
	EXPECT_EQ(assay_memory_map(USER_END - PAGE_SIZE, PAGE_SIZE, RW), KERN_NO_SPACE);
	EXPECT_EQ(assay_memory_map(USER_END - 40 * PAGE_SIZE, PAGE_SIZE, RW), KERN_SUCCESS);
	EXPECT_EQ(assay_memory_unmap(USER_END - 40 * PAGE_SIZE, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(assay_memory_protect(USER_END - PAGE_SIZE, PAGE_SIZE, RW), KERN_SUCCESS);
}

/* ---------------- Contents ---------------- */

static bool is_zero(const uint8_t *start, uint32_t size)
{
	const uint32_t *word = (const uint32_t *)start;

	for (; size > 0; size -= sizeof *word)
		if (*word++ != 0)
			return false;
	return true;
}

/* Pages that were written and given back do not show it when they come again. */
TEST(new_pages_are_zero)
{
	for (unsigned round = 0; round < 3; round++) {
		REQUIRE(assay_memory_map(AREA, PAGES * PAGE_SIZE, RW) == KERN_SUCCESS);
		EXPECT(is_zero(AREA, PAGES * PAGE_SIZE));
		memset(AREA, 0xa5, PAGES * PAGE_SIZE);
		EXPECT_EQ(assay_memory_unmap(AREA, PAGES * PAGE_SIZE), KERN_SUCCESS);
	}
}

/* Neither do pages that were page tables, or stacks of the kernel, or of another program. */
TEST(pages_keep_their_contents)
{
	REQUIRE(assay_memory_map(AREA, PAGES * PAGE_SIZE, RW) == KERN_SUCCESS);
	for (uint32_t page = 0; page < PAGES; page++)
		*(uint32_t *)(AREA + page * PAGE_SIZE) = page * 0x01010101;
	EXPECT_EQ(assay_memory_unmap(AREA + PAGE_SIZE, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(assay_memory_protect(AREA + 2 * PAGE_SIZE, 9 * PAGE_SIZE, ASSAY_READ),
		  KERN_SUCCESS);
	for (uint32_t page = 0; page < PAGES; page++)
		if (page != 1 && *(uint32_t *)(AREA + page * PAGE_SIZE) != page * 0x01010101)
			check_fail("page %u has another's contents", page);
	EXPECT_EQ(assay_memory_unmap(AREA, PAGES * PAGE_SIZE), KERN_SUCCESS);
}

/* ---------------- All or nothing ---------------- */

TEST(occupied_range_stays_as_it_is)
{
	REQUIRE(assay_memory_map(AREA + 3 * PAGE_SIZE, PAGE_SIZE, RW) == KERN_SUCCESS);
	AREA[3 * PAGE_SIZE] = 77;
	EXPECT_EQ(assay_memory_map(AREA, 4 * PAGE_SIZE, RW), KERN_NO_SPACE);
	EXPECT_EQ(assay_memory_map(AREA + 3 * PAGE_SIZE, 4 * PAGE_SIZE, RW), KERN_NO_SPACE);
	EXPECT_EQ(assay_memory_map(AREA, 9 * PAGE_SIZE, RW), KERN_NO_SPACE);
	EXPECT_EQ(assay_memory_map(AREA + 3 * PAGE_SIZE, PAGE_SIZE, RW), KERN_NO_SPACE);
	EXPECT_EQ(AREA[3 * PAGE_SIZE], 77);
	EXPECT_EQ(assay_memory_protect(AREA, PAGE_SIZE, RW), KERN_INVALID_ADDRESS);
	EXPECT_EQ(assay_memory_protect(AREA + 4 * PAGE_SIZE, PAGE_SIZE, RW), KERN_INVALID_ADDRESS);
	EXPECT_EQ(assay_memory_unmap(AREA, 9 * PAGE_SIZE), KERN_SUCCESS);
}

/* A hole in the range: not even the page before it changes. */
TEST(protect_over_a_hole_changes_nothing)
{
	REQUIRE(assay_memory_map(AREA, PAGE_SIZE, RW) == KERN_SUCCESS);
	REQUIRE(assay_memory_map(AREA + 2 * PAGE_SIZE, PAGE_SIZE, RW) == KERN_SUCCESS);
	EXPECT_EQ(assay_memory_protect(AREA, 3 * PAGE_SIZE, ASSAY_READ), KERN_INVALID_ADDRESS);
	AREA[0] = 1;
	AREA[2 * PAGE_SIZE] = 1;
	EXPECT_EQ(assay_memory_unmap(AREA, 3 * PAGE_SIZE), KERN_SUCCESS);
}

TEST(unmapping_passes_over_holes)
{
	for (uint32_t page = 0; page < PAGES; page += 3)
		REQUIRE(assay_memory_map(AREA + page * PAGE_SIZE, PAGE_SIZE, RW) == KERN_SUCCESS);
	EXPECT_EQ(assay_memory_unmap(AREA, PAGES * PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(assay_memory_unmap(AREA, PAGES * PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(assay_memory_map(AREA, PAGES * PAGE_SIZE, RW), KERN_SUCCESS);
	EXPECT_EQ(assay_memory_unmap(AREA, PAGES * PAGE_SIZE), KERN_SUCCESS);
}

/* ---------------- Rights ---------------- */

static uint32_t call(const void *code)
{
	return ((uint32_t(*)(void))(uintptr_t)code)();
}

/* movl $NUMBER, %eax; ret */
static void write_code(uint8_t *place, uint8_t number)
{
	static const uint8_t code[] = {0xb8, 0, 0, 0, 0, 0xc3};

	memcpy(place, code, sizeof code);
	place[1] = number;
}

/* Rights that come take effect at once, after an access that filled the translation cache. */
TEST(rights_that_come)
{
	REQUIRE(assay_memory_map(AREA, 2 * PAGE_SIZE, ASSAY_READ) == KERN_SUCCESS);
	EXPECT_EQ(AREA[0], 0);
	EXPECT_EQ(assay_memory_protect(AREA, 2 * PAGE_SIZE, RW), KERN_SUCCESS);
	write_code(AREA, 7);
	EXPECT_EQ(assay_memory_protect(AREA, PAGE_SIZE, RX), KERN_SUCCESS);
	EXPECT_EQ(call(AREA), 7);
	EXPECT_EQ(assay_memory_protect(AREA, PAGE_SIZE, ALL), KERN_SUCCESS);
	write_code(AREA, 8);
	EXPECT_EQ(call(AREA), 8);
	EXPECT_EQ(assay_memory_unmap(AREA, 2 * PAGE_SIZE), KERN_SUCCESS);
}

/* The same address, other pages: what is read is never the old one's. */
TEST(translations_are_never_stale)
{
	for (uint32_t round = 1; round < 40; round++) {
		const uint32_t pages = round % 2 ? 3 : 20; /* Page by page, and all at once. */

		REQUIRE(assay_memory_map(AREA, pages * PAGE_SIZE, RW) == KERN_SUCCESS);
		for (uint32_t page = 0; page < pages; page++) {
			EXPECT_EQ(AREA[page * PAGE_SIZE], 0);
			AREA[page * PAGE_SIZE] = (uint8_t)round;
		}
		EXPECT_EQ(assay_memory_unmap(AREA, pages * PAGE_SIZE), KERN_SUCCESS);
	}
}
