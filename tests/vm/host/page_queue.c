/* SPDX-License-Identifier: MIT */
/* links: vm/page/page.c vm/page/page_queue.c */
/* The queues of pages (vm/page/page_queue.h), against a model that walks over all pages. */
#include "vm/page/page_queue.h"

#include "host/kernel.h"
#include "i386/mmu/pmap.h"

#define PAGES 200
#define STEPS 20000

static struct page array[PAGES];
static struct page *pages[PAGES];
static unsigned unmapped; /* How often a page was. */

/* In place of the pmap's: a page is mapped where its `mappings` is not 0. */
void pmap_page_remove(struct page *page)
{
	if (page->mappings != 0)
		unmapped++;
	page->mappings = 0;
}

/* The queues stay what they are from test to test, so each leaves them empty. */
static void begin(void)
{
	page_init(array, PAGES * PAGE_SIZE);
	page_add_range(0, PAGES * PAGE_SIZE);
	page_levels = (struct page_levels){0};
	for (unsigned i = 0; i < PAGES; i++)
		pages[i] = page_alloc(PAGE_USER);
	unmapped = 0;
}

static void end(void)
{
	for (unsigned i = 0; i < PAGES; i++) {
		while (pages[i]->wirings != 0)
			page_unwire(pages[i]);
		page_unqueue(pages[i]);
		pages[i]->mappings = 0;
		page_free(pages[i]);
	}
	EXPECT_EQ(page_queue_length(PAGE_QUEUE_ACTIVE), 0);
	EXPECT_EQ(page_queue_length(PAGE_QUEUE_INACTIVE), 0);
	EXPECT_EQ(page_wired_count(), 0);
}

TEST(page_queue_gives_the_oldest)
{
	begin();
	EXPECT(page_queue_first(PAGE_QUEUE_ACTIVE) == NULL);
	for (unsigned i = 0; i < 3; i++)
		page_activate(pages[i]);
	EXPECT(page_queue_first(PAGE_QUEUE_ACTIVE) == pages[0]);
	page_activate(pages[0]);
	EXPECT(page_queue_first(PAGE_QUEUE_ACTIVE) == pages[1]);
	page_unqueue(pages[1]);
	page_unqueue(pages[1]);
	EXPECT(page_queue_first(PAGE_QUEUE_ACTIVE) == pages[2]);
	EXPECT_EQ(page_queue_length(PAGE_QUEUE_ACTIVE), 2);
	end();
}

TEST(page_queue_inactive_is_mapped_nowhere)
{
	begin();
	page_activate(pages[0]);
	pages[0]->mappings = 8;
	page_deactivate(pages[0]);
	EXPECT_EQ(pages[0]->mappings, 0);
	EXPECT_EQ(unmapped, 1);
	EXPECT(page_queue_first(PAGE_QUEUE_INACTIVE) == pages[0]);
	EXPECT(page_queue_first(PAGE_QUEUE_ACTIVE) == NULL);
	end();
}

TEST(page_queue_has_no_wired_page)
{
	begin();
	page_activate(pages[0]);
	page_wire(pages[0]);
	page_wire(pages[0]);
	EXPECT_EQ(page_wired_count(), 1);
	EXPECT_EQ(pages[0]->queue, PAGE_QUEUE_NONE);
	page_activate(pages[0]);
	pages[0]->mappings = 8;
	page_deactivate(pages[0]);
	EXPECT_EQ(pages[0]->queue, PAGE_QUEUE_NONE);
	EXPECT_EQ(unmapped, 0);
	page_unwire(pages[0]);
	EXPECT_EQ(pages[0]->queue, PAGE_QUEUE_NONE);
	page_unwire(pages[0]);
	EXPECT_EQ(pages[0]->queue, PAGE_QUEUE_ACTIVE);
	EXPECT_PANIC(page_unwire(pages[0]));
	end();
}

static void random_step(uint32_t *seed)
{
	struct page *page = pages[host_random_below(seed, PAGES)];

	switch (host_random_below(seed, 5)) {
	case 0:
		page_activate(page);
		break;
	case 1:
		page_deactivate(page);
		break;
	case 2:
		page_unqueue(page);
		break;
	case 3:
		page_wire(page);
		break;
	default:
		if (page->wirings != 0)
			page_unwire(page);
	}
}

TEST(page_queue_random_against_counts)
{
	uint32_t seed = 5;

	begin();
	for (unsigned step = 0; step < STEPS; step++) {
		uint32_t counts[PAGE_QUEUES] = {0};
		uint32_t wired = 0;

		random_step(&seed);
		for (unsigned i = 0; i < PAGES; i++) {
			counts[pages[i]->queue]++;
			wired += pages[i]->wirings != 0;
			EXPECT(pages[i]->wirings == 0 || pages[i]->queue == PAGE_QUEUE_NONE);
		}
		EXPECT_EQ(page_queue_length(PAGE_QUEUE_ACTIVE), counts[PAGE_QUEUE_ACTIVE]);
		EXPECT_EQ(page_queue_length(PAGE_QUEUE_INACTIVE), counts[PAGE_QUEUE_INACTIVE]);
		EXPECT_EQ(page_wired_count(), wired);
	}
	end();
}
