/* SPDX-License-Identifier: MIT */
/*
 * The queues of pages (vm/page/page_queue.h).
 *
 * Owns the two queues, `queue` and `wirings` of the pages, and the `link` of those on a queue.
 * Guarded by the kernel lock.
 */
#include "vm/page/page_queue.h"

#include <stddef.h>

#include "base/assert.h"
#include "i386/mmu/pmap.h"
#include <assay/list.h>

static struct list queues[PAGE_QUEUES] = {
	[PAGE_QUEUE_ACTIVE] = LIST_INITIALIZER(queues[PAGE_QUEUE_ACTIVE]),
	[PAGE_QUEUE_INACTIVE] = LIST_INITIALIZER(queues[PAGE_QUEUE_INACTIVE]),
};

static uint32_t lengths[PAGE_QUEUES];
static uint32_t wired;

void page_unqueue(struct page *page)
{
	if (page->queue == PAGE_QUEUE_NONE)
		return;
	assert(page->queue < PAGE_QUEUES && lengths[page->queue] > 0);
	lengths[page->queue]--;
	list_remove(&page->link);
	page->queue = PAGE_QUEUE_NONE;
}

static inline void page_queue_enqueue(struct page *page, enum page_queue queue)
{
	assert(page->use == PAGE_USER);
	if (page->queue != PAGE_QUEUE_NONE)
		page_unqueue(page);
	if (page->wirings != 0)
		return;
	page->queue = (uint8_t)queue;
	lengths[queue]++;
	list_add_last(&queues[queue], &page->link);
}

void page_activate(struct page *page)
{
	page_queue_enqueue(page, PAGE_QUEUE_ACTIVE);
}

void page_deactivate(struct page *page)
{
	if (page->wirings == 0)
		pmap_page_remove(page);
	page_queue_enqueue(page, PAGE_QUEUE_INACTIVE);
}

void page_wire(struct page *page)
{
	assert(page->use == PAGE_USER);
	if (page->wirings++ == 0) {
		page_unqueue(page);
		wired++;
	}
}

void page_unwire(struct page *page)
{
	assert(page->use == PAGE_USER && page->wirings > 0);
	if (--page->wirings == 0) {
		wired--;
		page_activate(page);
	}
}

struct page *page_queue_first(enum page_queue queue)
{
	assert(queue == PAGE_QUEUE_ACTIVE || queue == PAGE_QUEUE_INACTIVE);
	if (list_empty(&queues[queue]))
		return NULL;
	return list_first_object(&queues[queue], struct page, link);
}

uint32_t page_queue_length(enum page_queue queue)
{
	return lengths[queue];
}

uint32_t page_wired_count(void)
{
	return wired;
}
