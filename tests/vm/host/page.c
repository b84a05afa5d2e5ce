/* SPDX-License-Identifier: MIT */
/* links: vm/page/page.c i386/mmu/page_copy.c */
/*
 * The allocator of pages (vm/page/page.h), and clearing and copying, which runs on the host as it
 * is.
 */
#include "vm/page/page.h"

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
	page_levels = (struct page_levels){0};
	host_pageout_wakes = 0;
	host_privileged = false;
	host_class = PAGE_FOR_SYSTEM;
	host_users = false;
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

/* Whatever the page was before. */
TEST(page_of_a_user_is_nobodys_at_first)
{
	struct page *page;

	begin_with(7, 8);
	page = page_alloc(PAGE_TABLE);
	memset((char *)page + offsetof(struct page, wirings), UNTOUCHED,
	       offsetof(struct page, use) - offsetof(struct page, wirings));
	page->dirty = page->precious = page->in_swap = page->unlocking = true;
	page->lock = 7;
	page_free(page);
	EXPECT(page_alloc(PAGE_USER) == page);
	EXPECT(page->object == NULL && page->mappings == 0 && page->wirings == 0);
	EXPECT(page->queue == PAGE_QUEUE_NONE && page->lock == 0);
	EXPECT(!page->dirty && !page->precious && !page->in_swap && !page->unlocking);
}

TEST(page_of_a_user_is_nobodys_when_freed)
{
	struct page *page;

	begin_with(7, 8);
	page = page_alloc(PAGE_USER);
	page->mappings = 8;
	EXPECT_PANIC(page_free(page));
	page->mappings = 0;
	page->wirings = 1;
	EXPECT_PANIC(page_free(page));
	page->wirings = 0;
	page->queue = PAGE_QUEUE_INACTIVE;
	EXPECT_PANIC(page_free(page));
	page->queue = PAGE_QUEUE_NONE;
	page->object = (struct object *)&array[1];
	EXPECT_PANIC(page_free(page));
	page->object = NULL;
	page_free(page);
	EXPECT_EQ(page_count(PAGE_FREE), 1);
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

/* ---------------- Levels ---------------- */

static void set_levels(unsigned pages)
{
	begin_with(0, pages);
	page_levels_set();
}

/* What users cannot have is little, and each level leaves something to the next. */
TEST(page_levels_follow_the_size)
{
	static const unsigned sizes[] = {256, 512, 700, PAGES};

	for (unsigned i = 0; i < COUNT_OF(sizes); i++) {
		set_levels(sizes[i]);
		EXPECT(page_levels.kernel >= 12);
		EXPECT(page_levels.user >= page_levels.kernel + 4);
		EXPECT(page_levels.wake >= page_levels.user + 4);
		EXPECT(page_levels.target >= page_levels.wake + 8);
		EXPECT(page_levels.target < sizes[i] / 6);
		EXPECT(page_levels.reserve >= 16 && page_levels.reserve <= sizes[i] / 16);
	}
	EXPECT(page_levels.user * 1000 < PAGES * 25);
	EXPECT(page_levels.target * 1000 < PAGES * 50);
}

/* What is in use counts as well as what is free. */
TEST(page_levels_count_all_pages)
{
	struct page_levels levels;

	set_levels(PAGES);
	levels = page_levels;
	begin_with(0, PAGES);
	for (unsigned i = 0; i < PAGES / 2; i++)
		page_alloc(PAGE_ZONE);
	page_levels_set();
	EXPECT_EQ(memcmp(&levels, &page_levels, sizeof(levels)), 0);
}

/* How many pages there are for `use`, until there is none. */
static unsigned take_all(enum page_use use)
{
	unsigned n = 0;

	while (page_alloc(use) != NULL)
		n++;
	return n;
}

TEST(page_levels_keep_the_last_pages)
{
	set_levels(PAGES);
	EXPECT_EQ(take_all(PAGE_USER), PAGES - page_levels.user);
	EXPECT_EQ(page_count(PAGE_FREE), page_levels.user);
	EXPECT(page_alloc_zeroed(PAGE_USER) == NULL);
	EXPECT_EQ(take_all(PAGE_TABLE), page_levels.user - page_levels.kernel);
	EXPECT(page_alloc(PAGE_ZONE) == NULL && page_alloc(PAGE_KERNEL) == NULL);
	EXPECT_EQ(page_count(PAGE_FREE), page_levels.kernel);
	host_privileged = true;
	EXPECT(page_alloc(PAGE_USER) != NULL);
	EXPECT_EQ(take_all(PAGE_ZONE), page_levels.kernel - 1);
	EXPECT_EQ(page_count(PAGE_FREE), 0);
	EXPECT(page_alloc(PAGE_USER) == NULL);
}

/* Users leave some to the system that works for them, and that some to itself. */
TEST(page_levels_keep_a_reserve)
{
	set_levels(PAGES);
	host_users = true;
	host_class = PAGE_FOR_USER;
	EXPECT_EQ(take_all(PAGE_USER), PAGES - page_levels.user - page_levels.reserve);
	EXPECT(page_is_free_for(PAGE_FOR_SERVED) && !page_is_free_for(PAGE_FOR_USER));
	host_class = PAGE_FOR_SERVED;
	EXPECT_EQ(take_all(PAGE_USER), page_levels.reserve - page_levels.reserve / 4);
	EXPECT(page_is_free_for(PAGE_FOR_SYSTEM) && !page_is_free_for(PAGE_FOR_SERVED));
	host_class = PAGE_FOR_SYSTEM;
	EXPECT_EQ(take_all(PAGE_USER), page_levels.reserve / 4);
	EXPECT(!page_is_free_for(PAGE_FOR_SYSTEM));
}

/* What the kernel keeps for a user is still to be had when his programs' pages are not. */
TEST(page_levels_keep_a_reserve_from_what_is_for_users)
{
	set_levels(PAGES);
	host_users = true;
	host_class = PAGE_FOR_USER;
	take_all(PAGE_USER);
	EXPECT_EQ(take_all(PAGE_ZONE), page_levels.user - page_levels.kernel + page_levels.reserve -
					       page_levels.reserve / 4);
	EXPECT(page_alloc_run(PAGE_KERNEL, 1, 0, 0, UINT64_MAX) == NULL);
	host_class = PAGE_FOR_SYSTEM;
	EXPECT_EQ(take_all(PAGE_ZONE), page_levels.reserve / 4);
}

/* Or who has a page and finds none for its slot would be told that waiting is of no use. */
TEST(page_levels_leave_pages_for_slots)
{
	set_levels(PAGES);
	host_users = true;
	for (enum page_class who = PAGE_CLASSES; who-- > 0;) {
		host_class = who;
		take_all(PAGE_USER);
		EXPECT(!page_is_free_for(who));
		EXPECT(page_alloc(PAGE_ZONE) != NULL);
	}
}

/* Who waits is woken when the daemon has done its work, also if the last user has gone since. */
TEST(page_levels_are_below_the_target)
{
	set_levels(PAGES);
	for (int users = 0; users <= 1; users++) {
		host_users = users != 0;
		for (enum page_class who = 0; who < PAGE_CLASSES; who++)
			EXPECT(page_level(who) < page_target());
	}
}

/* The daemon keeps the reserve free if there is somebody to be kept from it. */
TEST(page_levels_wake_the_daemon_earlier_for_users)
{
	set_levels(PAGES);
	EXPECT_EQ(page_target(), page_levels.target);
	host_users = true;
	EXPECT_EQ(page_target(), page_levels.target + page_levels.reserve);
	while (page_count(PAGE_FREE) > page_levels.wake + page_levels.reserve)
		page_alloc(PAGE_USER);
	EXPECT_EQ(host_pageout_wakes, 0);
	page_alloc(PAGE_USER);
	EXPECT_EQ(host_pageout_wakes, 1);
}

TEST(page_levels_wake_the_daemon)
{
	struct page *page = NULL;

	set_levels(PAGES);
	while (page_count(PAGE_FREE) > page_levels.wake)
		page = page_alloc(PAGE_USER);
	EXPECT_EQ(host_pageout_wakes, 0);
	page_alloc(PAGE_USER);
	EXPECT_EQ(host_pageout_wakes, 1);
	take_all(PAGE_USER);
	EXPECT(host_pageout_wakes > 1);
	while (page_count(PAGE_FREE) <= page_levels.wake) {
		page_free(page);
		page = &array[page - array - 1];
	}
	host_pageout_wakes = 0;
	EXPECT(page_alloc(PAGE_USER) != NULL);
	EXPECT_EQ(host_pageout_wakes, 0);
}

TEST(page_levels_do_not_hold_before_they_are_set)
{
	begin_with(0, PAGES);
	EXPECT_EQ(take_all(PAGE_USER), PAGES);
	EXPECT_EQ(host_pageout_wakes, 0);
}

/* ---------------- Pages in a row ---------------- */

#define EVERYWHERE 0, UINT64_MAX

/* The number of the first of `n` pages that page_alloc_run() gives, which it must all give. */
static unsigned run_at(uint32_t n, uint32_t alignment, uint64_t least, uint64_t end)
{
	uint32_t free = page_count(PAGE_FREE), users = page_count(PAGE_USER);
	struct page *first = page_alloc_run(PAGE_USER, n, alignment, least, end);

	if (!EXPECT(first != NULL))
		return PAGES;
	for (unsigned i = 0; i < n; i++) {
		EXPECT(first[i].use == PAGE_USER && first[i].object == NULL);
		EXPECT_EQ(first[i].mappings, 0);
		EXPECT_EQ(first[i].magic, PAGE_MAGIC);
	}
	EXPECT_EQ(page_count(PAGE_FREE), free - n);
	EXPECT_EQ(page_count(PAGE_USER), users + n);
	return (unsigned)(first - array);
}

/* There is none, and nothing has changed. */
static void no_run(uint32_t n, uint32_t alignment, uint64_t least, uint64_t end)
{
	uint32_t free = page_count(PAGE_FREE), users = page_count(PAGE_USER);

	EXPECT(page_alloc_run(PAGE_USER, n, alignment, least, end) == NULL);
	EXPECT_EQ(page_count(PAGE_FREE), free);
	EXPECT_EQ(page_count(PAGE_USER), users);
}

TEST(page_run_of_untouched_pages)
{
	begin_with(3, 60);
	EXPECT_EQ(run_at(5, 0, EVERYWHERE), 3);
	EXPECT_EQ(touched(), 5);
	EXPECT_EQ(run_at(3, 8 * PAGE_SIZE, EVERYWHERE), 8);
	EXPECT_EQ(run_at(4, PAGE_SIZE, 20 * PAGE_SIZE - 1, 24 * PAGE_SIZE), 20);
	EXPECT_EQ(touched(), 5 + 3 + 9 + 4);
	/* What was passed over is free like any other page. */
	EXPECT_EQ(drain(11, 60), 9 + 36);
	no_run(1, 0, EVERYWHERE);
}

TEST(page_run_of_pages_that_were_freed)
{
	struct page *page[20];

	begin_with(10, 30);
	for (unsigned i = 0; i < 20; i++)
		page[i] = page_alloc(PAGE_TABLE);
	for (unsigned i = 0; i < 20; i++)
		if (i != 4 && i != 12)
			page_free(page[i]);
	no_run(8, 0, EVERYWHERE);
	EXPECT_EQ(run_at(7, 0, EVERYWHERE), 15);
	EXPECT_EQ(run_at(4, 4 * PAGE_SIZE, EVERYWHERE), 24);
	no_run(4, 4 * PAGE_SIZE, EVERYWHERE);
	EXPECT_EQ(run_at(4, 0, EVERYWHERE), 10);
	EXPECT_EQ(drain(10, 30), 3);
}

/* From the end of what was touched into what was not. */
TEST(page_run_over_the_edge)
{
	begin_with(10, 20);
	for (unsigned i = 0; i < 6; i++)
		page_alloc(PAGE_TABLE);
	page_free(&array[14]);
	page_free(&array[15]);
	EXPECT_EQ(run_at(6, 0, EVERYWHERE), 14);
	no_run(1, 0, EVERYWHERE);
}

TEST(page_run_between_limits)
{
	begin_with(0, PAGES);
	no_run(2, 0, 5 * PAGE_SIZE, 7 * PAGE_SIZE - 1);
	no_run(2, 0, 5 * PAGE_SIZE + 1, 7 * PAGE_SIZE);
	no_run(1, 0, 9, 8);
	no_run(1, 0, PAGES * PAGE_SIZE, UINT64_MAX);
	no_run(PAGES + 1, 0, EVERYWHERE);
	no_run(UINT32_MAX, 0, EVERYWHERE);
	no_run(1, 1u << 31, 1, UINT64_MAX);
	EXPECT_EQ(run_at(2, 0, 5 * PAGE_SIZE, 7 * PAGE_SIZE), 5);
	EXPECT_EQ(run_at(1, 1u << 31, EVERYWHERE), 0);
	EXPECT_EQ(drain(1, PAGES), PAGES - 3);
}

TEST(page_run_takes_no_kept_pages)
{
	unsigned most;

	set_levels(PAGES);
	most = PAGES - page_levels.user;
	no_run(most + 1, 0, EVERYWHERE);
	EXPECT_EQ(host_pageout_wakes, 1);
	EXPECT_EQ(run_at(most, 0, EVERYWHERE), 0);
	no_run(1, 0, EVERYWHERE);
	EXPECT(page_alloc_run(PAGE_KERNEL, 1, 0, 0, UINT64_MAX) != NULL);
	host_privileged = true;
	EXPECT_EQ(run_at(page_levels.user - 1, 0, EVERYWHERE), most + 1);
	no_run(1, 0, EVERYWHERE);
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

/* Whether `n` pages in a row are free, the first at a multiple of `step`. */
static bool has_place(uint32_t n, uint32_t step)
{
	for (unsigned first = 0; first + n <= PAGES; first += step) {
		unsigned i = first;

		while (i < first + n && i != PAGES / 2 && model_use[i] == PAGE_FREE)
			i++;
		if (i == first + n)
			return true;
	}
	return false;
}

static void random_run(uint32_t *seed)
{
	uint32_t n = 1 + host_random_below(seed, 8), step = 1u << host_random_below(seed, 4);
	struct page *first = page_alloc_run(PAGE_ZONE, n, step * PAGE_SIZE, 0, UINT64_MAX);

	EXPECT_EQ(first != NULL, has_place(n, step));
	if (first == NULL)
		return;
	EXPECT_EQ((first - array) % step, 0);
	for (unsigned i = 0; i < n; i++) {
		EXPECT_EQ(model_use[first + i - array], PAGE_FREE);
		model_use[first + i - array] = PAGE_ZONE;
	}
	model_counts[PAGE_FREE] -= n;
	model_counts[PAGE_ZONE] += n;
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

		if (step % 16 == 15)
			random_run(&seed);
		else if (host_random_below(&seed, 4) < (taking ? 3 : 1))
			random_alloc(&seed);
		else
			random_free(&seed);
		check_counts();
	}
}
