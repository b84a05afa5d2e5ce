/* SPDX-License-Identifier: MIT */
/* links: vm/page.c i386/page_copy.c */
/* The allocator of pages (vm/page.h), and clearing and copying, which runs on the host as it is. */
#include "vm/page.h"

#include <string.h>

#include "host/kernel.h"

#define PAGES (HOST_MEMORY_SIZE / PAGE_SIZE)
#define STEPS 100000

#define UNTOUCHED 0xa5

static struct page array[PAGES];

/* A new allocator whose structures hold what memory holds after a reset: anything. */
static void begin(void)
{
	memset(array, UNTOUCHED, sizeof(array));
	EXPECT_EQ(page_init(array, HOST_MEMORY_SIZE), sizeof(array));
}

static void begin_with(unsigned first, unsigned end)
{
	begin();
	page_add_range(first * PAGE_SIZE, end * PAGE_SIZE);
}

static unsigned touched(void)
{
	const unsigned char *bytes = (const unsigned char *)array;
	unsigned n = 0;

	for (unsigned i = 0; i < PAGES; i++) {
		for (unsigned b = 0; b < sizeof(array[i]); b++) {
			if (bytes[i * sizeof(array[i]) + b] != UNTOUCHED) {
				n++;
				break;
			}
		}
	}
	return n;
}

TEST(page_init_tells_the_size)
{
	EXPECT_EQ(page_init(NULL, 0), 0);
	EXPECT_EQ(page_init(NULL, 2 * PAGE_SIZE - 1), sizeof(struct page));
	EXPECT_EQ(page_init(NULL, DIRECT_MAP_SIZE), 0x30000 * sizeof(struct page));
}

TEST(page_init_refuses_more_than_is_mapped)
{
	EXPECT_PANIC(page_init(NULL, DIRECT_MAP_SIZE + PAGE_SIZE));
}

TEST(page_rounding)
{
	EXPECT_EQ(page_round(1u), PAGE_SIZE);
	EXPECT_EQ(page_round(PAGE_SIZE), PAGE_SIZE);
	EXPECT_EQ(page_trunc(2 * PAGE_SIZE - 1), PAGE_SIZE);
}

TEST(page_alloc_without_memory)
{
	begin();
	EXPECT(page_alloc(PAGE_USER) == NULL);
	EXPECT(page_alloc_zeroed(PAGE_USER) == NULL);
	EXPECT_EQ(page_count(PAGE_FREE), 0);
}

TEST(page_memory_is_untouched_until_allocated)
{
	begin_with(0, PAGES);
	EXPECT_EQ(touched(), 0);
	EXPECT_EQ(page_count(PAGE_FREE), PAGES);
	page_alloc(PAGE_USER);
	EXPECT_EQ(touched(), 1);
}

TEST(page_freed_last_comes_first)
{
	struct page *a, *b;

	begin_with(1, PAGES);
	a = page_alloc(PAGE_USER);
	b = page_alloc(PAGE_USER);
	page_free(a);
	page_free(b);
	EXPECT(page_alloc(PAGE_USER) == b);
	EXPECT(page_alloc(PAGE_USER) == a);
	EXPECT_EQ(touched(), 2);
}

/* Takes all there is and returns how many pages that were, each one inside the bounds. */
static unsigned drain(unsigned first, unsigned end)
{
	struct page *page;
	unsigned n = 0;

	while ((page = page_alloc(PAGE_TABLE)) != NULL) {
		uint32_t number = page_physical(page) / PAGE_SIZE;

		EXPECT(number >= first && number < end);
		n++;
	}
	return n;
}

TEST(page_ranges_are_rounded_inwards)
{
	begin();
	page_add_range(PAGE_SIZE + 1, 5 * PAGE_SIZE - 1);
	EXPECT_EQ(page_count(PAGE_FREE), 2);
	EXPECT_EQ(drain(2, 4), 2);
	page_add_range(6 * PAGE_SIZE + 1, 7 * PAGE_SIZE);
	page_add_range(8 * PAGE_SIZE, 7 * PAGE_SIZE);
	EXPECT(page_alloc(PAGE_USER) == NULL);
}

TEST(page_ranges_end_at_the_limit)
{
	begin();
	page_add_range((PAGES - 3) * PAGE_SIZE, 0xffffffff);
	page_add_range(0xfffff001, 0xffffffff);
	page_add_range(PAGES * PAGE_SIZE, (PAGES + 1) * PAGE_SIZE);
	EXPECT_EQ(page_count(PAGE_FREE), 3);
	EXPECT_EQ(drain(PAGES - 3, PAGES), 3);
}

TEST(page_ranges_must_not_overlap)
{
	begin_with(10, 20);
	drain(10, 20);
	EXPECT_PANIC(page_add_range(19 * PAGE_SIZE, 21 * PAGE_SIZE));
	EXPECT_PANIC(page_add_range(5 * PAGE_SIZE, 11 * PAGE_SIZE));
	EXPECT_PANIC(page_add_range(12 * PAGE_SIZE, 13 * PAGE_SIZE));
	EXPECT_EQ(page_count(PAGE_FREE), 0);
}

/* The range that grows is one that allocation has left behind. */
TEST(page_ranges_grow_together)
{
	begin_with(0, 1);
	page_add_range(100 * PAGE_SIZE, 101 * PAGE_SIZE);
	EXPECT_EQ(drain(0, 101), 2);
	for (unsigned i = 1; i < 100; i++)
		page_add_range(i * PAGE_SIZE, (i + 1) * PAGE_SIZE);
	EXPECT_EQ(drain(1, 100), 99);
	EXPECT_STREQ(host_log(), "");
}

TEST(page_ranges_too_many_are_left_alone)
{
	unsigned given = 0;

	begin();
	for (unsigned i = 0; i < PAGES / 2; i++)
		page_add_range(2 * i * PAGE_SIZE, (2 * i + 1) * PAGE_SIZE);
	given = page_count(PAGE_FREE);
	EXPECT(given >= 32 && given < PAGES / 2);
	EXPECT(strstr(host_log(), "memory: 4 KiB left alone") != NULL);
	EXPECT_EQ(drain(0, PAGES), given);
}

TEST(page_data_and_back)
{
	struct page *page;
	char *data;

	begin_with(7, 8);
	page = page_alloc(PAGE_USER);
	data = page_data(page);
	EXPECT(data == host_memory + 7 * PAGE_SIZE);
	EXPECT_EQ(page_physical(page), 7 * PAGE_SIZE);
	EXPECT(page_of_data(data) == page);
	EXPECT(page_of_data(data + PAGE_MASK) == page);
	EXPECT(page_of_physical(7 * PAGE_SIZE + 5) == page);
}

TEST(page_wrong_addresses_are_caught)
{
	begin_with(7, 9);
	page_alloc(PAGE_USER);
	EXPECT_PANIC(page_of_physical(8 * PAGE_SIZE));
	EXPECT_PANIC(page_of_physical(PAGES * PAGE_SIZE));
	EXPECT_PANIC(page_of_data(host_memory - 1));
}

TEST(page_double_free_is_caught)
{
	struct page *page;

	begin_with(0, PAGES);
	page = page_alloc(PAGE_USER);
	page_free(page);
	EXPECT_PANIC(page_free(page));
	EXPECT(strstr(host_panic_text(), "PAGE_FREE") != NULL);
	EXPECT_PANIC(page_free(&array[5]));
	EXPECT_EQ(page_count(PAGE_FREE), PAGES);
}

TEST(page_use_must_be_one)
{
	begin_with(0, PAGES);
	EXPECT_PANIC(page_alloc(PAGE_FREE));
	EXPECT_PANIC(page_alloc(PAGE_USES));
	EXPECT_PANIC(page_count(PAGE_USES));
	EXPECT_EQ(page_count(PAGE_FREE), PAGES);
}

TEST(page_corrupt_free_list_is_caught)
{
	struct page *page;

	begin_with(0, PAGES);
	page = page_alloc(PAGE_USER);
	page_free(page);
	page->magic++;
	EXPECT_PANIC(page_alloc(PAGE_USER));
	page->magic--;
	page->use = PAGE_STACK;
	EXPECT_PANIC(page_alloc(PAGE_USER));
}

static bool is_filled(const char *data, char value)
{
	for (unsigned i = 0; i < PAGE_SIZE; i++) {
		if (data[i] != value)
			return false;
	}
	return true;
}

/* Exactly one page: the bytes around it keep their values. */
TEST(page_clear_and_copy)
{
	char *data = host_memory + PAGE_SIZE;

	memset(host_memory, 1, 4 * PAGE_SIZE);
	page_clear(data);
	EXPECT(is_filled(data, 0) && is_filled(data - PAGE_SIZE, 1));
	EXPECT(is_filled(data + PAGE_SIZE, 1));
	page_copy(data + PAGE_SIZE, data);
	EXPECT(is_filled(data + PAGE_SIZE, 0) && is_filled(data + 2 * PAGE_SIZE, 1));
	EXPECT_PANIC(page_clear(data + 4));
	EXPECT_PANIC(page_copy(data, data));
}

TEST(page_alloc_zeroed_is_clear)
{
	struct page *page;

	begin_with(0, 4);
	page = page_alloc(PAGE_USER);
	memset(page_data(page), 1, PAGE_SIZE);
	page_free(page);
	EXPECT(page_alloc_zeroed(PAGE_USER) == page);
	EXPECT(is_filled(page_data(page), 0));
}

/* The model: who has which page, and how many each use has. */
static uint32_t model_counts[PAGE_USES];
static enum page_use model_use[PAGES];

static void check_counts(void)
{
	for (unsigned use = 0; use < PAGE_USES; use++)
		EXPECT_EQ(page_count(use), model_counts[use]);
}

static void random_alloc(uint32_t *seed)
{
	enum page_use use = 1 + host_random_below(seed, PAGE_USES - 1);
	struct page *page = page_alloc(use);

	EXPECT((page == NULL) == (model_counts[PAGE_FREE] == 0));
	if (page == NULL)
		return;
	EXPECT_EQ(model_use[page - array], PAGE_FREE);
	model_use[page - array] = use;
	model_counts[PAGE_FREE]--;
	model_counts[use]++;
}

static void random_free(uint32_t *seed)
{
	unsigned i = host_random_below(seed, PAGES);

	if (model_use[i] == PAGE_FREE)
		return;
	page_free(&array[i]);
	model_counts[model_use[i]]--;
	model_counts[PAGE_FREE]++;
	model_use[i] = PAGE_FREE;
}

/* Phases of mostly taking and mostly giving, so that memory runs out and comes back. */
TEST(page_random_against_counts)
{
	uint32_t seed = 2;

	begin();
	page_add_range(0, PAGES / 2 * PAGE_SIZE);
	page_add_range((PAGES / 2 + 1) * PAGE_SIZE, PAGES * PAGE_SIZE);
	model_counts[PAGE_FREE] = PAGES - 1;
	for (unsigned step = 0; step < STEPS; step++) {
		bool taking = step / (STEPS / 10) % 2 == 0;

		if (host_random_below(&seed, 4) < (taking ? 3 : 1))
			random_alloc(&seed);
		else
			random_free(&seed);
		check_counts();
	}
}
