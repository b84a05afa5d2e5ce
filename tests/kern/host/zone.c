/* SPDX-License-Identifier: MIT */
/* links: base/zone.c vm/page/page.c */
/* Zones (base/zone.h), on the kernel's own page allocator. */
#include "base/zone.h"

#include <string.h>

#include "host/kernel.h"

#define PAGES    64
#define ELEMENTS 2000 /* Three times as many as there is memory for. */
#define STEPS    50000

static struct page array[PAGES];

/* Zones stay for good, and so does the memory that they share in this program. */
static void begin(void)
{
	static bool begun;

	if (begun)
		return;
	begun = true;
	page_init(array, PAGES * PAGE_SIZE);
	page_add_range(0, PAGES * PAGE_SIZE);
}

static bool counts_agree(const struct zone *zone)
{
	return zone->taken <= zone->elements && zone->elements == zone->pages * zone->per_page;
}

TEST(zone_sizes)
{
	static struct zone small, odd, page;

	begin();
	zone_init(&small, "small", 1, 4);
	EXPECT(small.element_size >= sizeof(void *));
	zone_init(&odd, "odd", 33, 32);
	EXPECT_EQ(odd.element_size, 64);
	EXPECT_EQ(odd.per_page, PAGE_SIZE / 64);
	zone_init(&page, "page", PAGE_SIZE, PAGE_SIZE);
	EXPECT_EQ(page.per_page, 1);
}

TEST(zone_bad_sizes_are_refused)
{
	static struct zone zone;

	EXPECT_PANIC(zone_init(&zone, "zone", PAGE_SIZE + 1, 4));
	EXPECT_PANIC(zone_init(&zone, "zone", 0, 4));
	EXPECT_PANIC(zone_init(&zone, "zone", 8, 2));
	EXPECT_PANIC(zone_init(&zone, "zone", 8, 24));
	EXPECT_PANIC(zone_alloc(&zone));
}

TEST(zone_elements_are_aligned)
{
	static struct zone zone;
	void *elements[40];

	begin();
	zone_init(&zone, "aligned", 100, 128);
	for (unsigned i = 0; i < COUNT_OF(elements); i++) {
		elements[i] = zone_alloc(&zone);
		EXPECT_EQ((uintptr_t)elements[i] % 128, 0);
	}
	EXPECT_EQ(zone.taken, COUNT_OF(elements));
	EXPECT_EQ(zone.pages, 2);
	for (unsigned i = 0; i < COUNT_OF(elements); i++)
		zone_free(&zone, elements[i]);
	EXPECT_EQ(zone.taken, 0);
	EXPECT(counts_agree(&zone));
}

/* The element keeps what the zone has no use for, and the zone its only page. */
TEST(zone_element_freed_last_goes_out_first)
{
	static struct zone zone;
	char *element;

	begin();
	zone_init(&zone, "stable", 256, 4);
	element = zone_alloc(&zone);
	memset(element, 7, 256);
	zone_free(&zone, element);
	for (unsigned i = 2 * sizeof(void *); i < 256; i++)
		EXPECT_EQ(element[i], 7);
	EXPECT_EQ(page_of_data(element)->use, PAGE_ZONE);
	EXPECT(zone_alloc(&zone) == element);
	zone_free(&zone, element);
}

/* ---------------- Given back ---------------- */

#define PER_PAGE 4u

/* A zone with so many elements in use, in the order of their pages. */
static void fill(struct zone *zone, void **elements, unsigned n)
{
	begin();
	zone_init(zone, "filled", PAGE_SIZE / PER_PAGE, 4);
	for (unsigned i = 0; i < n; i++)
		elements[i] = zone_alloc(zone);
	EXPECT_EQ(zone->pages, n / PER_PAGE);
}

/* Each page goes with its last element, but for the current one. */
TEST(zone_gives_empty_pages_back)
{
	static struct zone zone;
	void *elements[3 * PER_PAGE];
	uint32_t before;

	begin();
	before = page_count(PAGE_FREE);
	fill(&zone, elements, COUNT_OF(elements));
	for (unsigned i = 0; i < COUNT_OF(elements); i++) {
		zone_free(&zone, elements[i]);
		EXPECT_EQ(zone.pages, i < 2 * PER_PAGE ? 3 - (i + 1) / PER_PAGE : 1);
		EXPECT(counts_agree(&zone));
	}
	EXPECT_EQ(page_count(PAGE_FREE), before - 1);
	zones_trim();
	EXPECT_EQ(zone.pages, 0);
	EXPECT_EQ(zone_pages(), page_count(PAGE_ZONE));
	zones_trim();
	elements[0] = zone_alloc(&zone);
	EXPECT_EQ(zone.pages, 1);
	zone_free(&zone, elements[0]);
}

/* When the current page has no more, another one that has is taken before memory is. */
TEST(zone_fills_its_pages)
{
	static struct zone zone;
	void *elements[3 * PER_PAGE];

	fill(&zone, elements, COUNT_OF(elements));
	zone_free(&zone, elements[0]);
	zone_free(&zone, elements[PER_PAGE]);
	zones_trim();
	EXPECT_EQ(zone.pages, 3);
	elements[PER_PAGE] = zone_alloc(&zone);
	elements[0] = zone_alloc(&zone);
	EXPECT_EQ(zone.taken, zone.elements);
	EXPECT_EQ(zone.pages, 3);
	for (unsigned i = COUNT_OF(elements); i > 0; i--)
		zone_free(&zone, elements[i - 1]);
	EXPECT_EQ(zone.pages, 1);
}

struct link {
	uint32_t contents;
	struct link *next;
};

#define LINK offsetof(struct link, next)

TEST(zone_keeps_elements_as_they_are)
{
	static struct zone zone;
	struct link *links[3];

	begin();
	zone_init(&zone, "kept", sizeof(struct link), 4);
	zone_init_kept(&zone, LINK, 2);
	EXPECT(zone_take_kept(&zone, LINK) == NULL);
	for (unsigned i = 0; i < COUNT_OF(links); i++) {
		links[i] = zone_alloc(&zone);
		links[i]->contents = i;
	}
	EXPECT(zone_keep(&zone, links[0], LINK) && zone_keep(&zone, links[1], LINK));
	EXPECT(!zone_keep(&zone, links[2], LINK));
	EXPECT_EQ(zone_in_use(&zone), 1);
	EXPECT(zone_take_kept(&zone, LINK) == links[1]);
	EXPECT(links[0]->contents == 0 && links[1]->contents == 1);
	EXPECT_EQ(zone_in_use(&zone), 2);
	zone_free(&zone, links[1]);
	zone_free(&zone, links[2]);
	zones_trim();
	EXPECT(zone_take_kept(&zone, LINK) == NULL);
	EXPECT(zone.taken == 0 && zone.pages == 0);
}

/* ---------------- What is caught ---------------- */

TEST(zone_double_free_is_caught)
{
	static struct zone zone;
	void *one, *other;

	begin();
	zone_init(&zone, "double", 24, 8);
	one = zone_alloc(&zone);
	other = zone_alloc(&zone);
	zone_free(&zone, one);
	EXPECT_PANIC(zone_free(&zone, one));
	zone_free(&zone, other);
	EXPECT_PANIC(zone_free(&zone, one));
	EXPECT(counts_agree(&zone));
	EXPECT_EQ(zone.taken, 0);
}

/* What a free element looks like is no secret: a user may have it written into one in use. */
TEST(zone_forged_mark_does_no_harm)
{
	static struct zone zone;
	uintptr_t *one, mark;

	begin();
	zone_init(&zone, "forged", 64, 8);
	one = zone_alloc(&zone);
	zone_free(&zone, one);
	mark = one[1];
	EXPECT(zone_alloc(&zone) == one);
	EXPECT_NE(one[1], mark);
	one[1] = mark;
	zone_free(&zone, one);
	EXPECT_EQ(zone.taken, 0);
}

TEST(zone_write_after_free_is_caught)
{
	static struct zone zone;
	uintptr_t *one;

	begin();
	zone_init(&zone, "stale", 64, 8);
	one = zone_alloc(&zone);
	zone_free(&zone, one);
	one[1] = 0;
	EXPECT_PANIC(zone_alloc(&zone));
}

TEST(zone_foreign_pointers_are_caught)
{
	static struct zone zone, other;
	struct page *page;
	char *element, *foreign;

	begin();
	zone_init(&zone, "own", 48, 8);
	zone_init(&other, "foreign", 48, 8);
	element = zone_alloc(&zone);
	foreign = zone_alloc(&other);
	page = page_alloc(PAGE_USER);
	EXPECT_PANIC(zone_free(&zone, foreign));
	EXPECT_PANIC(zone_free(&zone, element + 8));
	EXPECT_PANIC(zone_free(&zone, (char *)((uintptr_t)element & ~(uintptr_t)PAGE_MASK) +
					      PAGE_SIZE / 48 * 48));
	EXPECT_PANIC(zone_free(&zone, page_data(page)));
	zone_free(&zone, element);
	zone_free(&other, foreign);
	page_free(page);
	EXPECT(zone.taken == 0 && other.taken == 0);
}

TEST(zone_without_memory)
{
	static struct zone zone;
	struct page *pages[PAGES];
	unsigned n = 0;

	begin();
	zone_init(&zone, "poor", 2048, 4);
	while ((pages[n] = page_alloc(PAGE_USER)) != NULL)
		n++;
	EXPECT(zone_alloc(&zone) == NULL);
	EXPECT(zone.taken == 0 && zone.pages == 0);
	page_free(pages[--n]);
	EXPECT(zone_alloc(&zone) != NULL);
	EXPECT(zone_alloc(&zone) != NULL);
	EXPECT(zone_alloc(&zone) == NULL);
	while (n > 0)
		page_free(pages[--n]);
}

struct found {
	unsigned n;
	bool ordered;
};

static void find(const struct zone *zone, void *context)
{
	static const char *const names[] = {"first of three", "second of three", "third of three"};
	struct found *found = context;

	if (strstr(zone->name, "of three") == NULL)
		return;
	if (found->n < COUNT_OF(names) && strcmp(zone->name, names[found->n]) != 0)
		found->ordered = false;
	found->n++;
}

TEST(zone_for_each_in_order)
{
	static struct zone zones[3];
	struct found found = {.ordered = true};

	begin();
	zone_init(&zones[0], "first of three", 8, 4);
	zone_init(&zones[1], "second of three", 8, 4);
	zone_init(&zones[2], "third of three", 8, 4);
	zone_for_each(find, &found);
	EXPECT_EQ(found.n, 3);
	EXPECT(found.ordered);
	EXPECT_EQ(zone_pages(), page_count(PAGE_ZONE));
}

/* The set of elements in use; each is filled with its own number, which nobody else may change. */
static unsigned char *model[ELEMENTS];
static unsigned model_n;

static bool is_intact(unsigned i, size_t size)
{
	for (size_t b = 0; b < size; b++) {
		if (model[i][b] != (unsigned char)i)
			return false;
	}
	return true;
}

static void random_alloc(struct zone *zone, unsigned i, size_t size)
{
	model[i] = zone_alloc(zone);
	if (model[i] == NULL)
		return;
	memset(model[i], (int)i, size);
	model_n++;
}

static void random_free(struct zone *zone, unsigned i, size_t size)
{
	EXPECT(is_intact(i, size));
	zone_free(zone, model[i]);
	model[i] = NULL;
	model_n--;
}

/* Memory runs out, and elements come back, over and over. */
TEST(zone_random_against_set)
{
	static struct zone zone;
	const size_t size = 300;
	uint32_t seed = 3, failures = 0;

	begin();
	zone_init(&zone, "random", size, 4);
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned i = host_random_below(&seed, ELEMENTS);
		bool full = zone.taken == zone.elements && page_count(PAGE_FREE) == 0;

		if (model[i] != NULL) {
			random_free(&zone, i, size);
			continue;
		}
		random_alloc(&zone, i, size);
		EXPECT_EQ(model[i] == NULL, full);
		failures += model[i] == NULL;
		EXPECT_EQ(zone.taken, model_n);
		REQUIRE(counts_agree(&zone));
	}
	EXPECT(failures > 0);
}
