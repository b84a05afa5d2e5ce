/* SPDX-License-Identifier: MIT */
/*
 * The allocator of physical pages (vm/page.h).
 *
 * Owns the page structures, the free list and the untouched ranges.  Guarded by the kernel lock.
 *
 * A page is untouched until it is first allocated: neither its contents nor its structure have been
 * read or written.  Then its structure gets its magic number, and from there on it is either in use
 * or on the free list, which is a stack, so that the page freed last, whose contents may still be
 * in the cache, goes out first.
 */
#include "vm/page.h"

#include "i386/memory.h"
#include "kern/assert.h"
#include "kern/log.h"

/* Firmware reports a few dozen ranges at most, and each boot program gives back one. */
#define MAX_RANGES 64

/* Page numbers: from `next` to `end` untouched, from `start` to `next` allocated at least once. */
struct page_range {
	uint32_t start;
	uint32_t next;
	uint32_t end;
};

struct page *page_array;

static struct {
	struct page *free; /* The free list. */
	uint32_t counts[PAGE_USES];
	uint32_t limit; /* There is a structure for each page number below this one. */
	struct page_range ranges[MAX_RANGES];
	unsigned n_ranges;
	unsigned current; /* The ranges before this one have no untouched page. */
} memory;

_Static_assert(sizeof(struct page) == 2 * sizeof(void *) + 8, "a power of two on the machine");

/*
 * The array's contents are not looked at: clearing it would cost 4 KiB for each MiB of the machine,
 * most of which no run ever uses.
 */
size_t page_init(struct page *array, uint32_t limit)
{
	uint32_t pages = limit >> PAGE_SHIFT;

	assert(limit <= DIRECT_MAP_SIZE);
	if (array != NULL) {
		page_array = array;
		memory.limit = pages;
		memory.free = NULL;
		memory.n_ranges = 0;
		memory.current = 0;
		for (unsigned use = 0; use < PAGE_USES; use++)
			memory.counts[use] = 0;
	}
	return pages * sizeof(struct page);
}

/* Against all that has ever been given, allocated or not. */
static bool ranges_overlap(uint32_t start, uint32_t end)
{
	for (unsigned i = 0; i < memory.n_ranges; i++) {
		if (start < memory.ranges[i].end && memory.ranges[i].start < end)
			return true;
	}
	return false;
}

/* Lengthens the range that ends at `start`, so that pieces given one by one need no slots. */
static bool range_extend(uint32_t start, uint32_t end)
{
	for (unsigned i = 0; i < memory.n_ranges; i++) {
		if (memory.ranges[i].end != start)
			continue;
		memory.ranges[i].end = end;
		if (memory.current > i)
			memory.current = i;
		return true;
	}
	return false;
}

/* False when there is no slot left. */
static bool range_append(uint32_t start, uint32_t end)
{
	if (memory.n_ranges == MAX_RANGES)
		return false;
	memory.ranges[memory.n_ranges++] = (struct page_range){start, start, end};
	return true;
}

/* A page that lies in the range only in part belongs to whatever has the other part. */
void page_add_range(uint32_t start, uint32_t end)
{
	/* Not page_round(): it would wrap around in the last page below 4 GiB. */
	uint32_t first = (start >> PAGE_SHIFT) + ((start & PAGE_MASK) != 0);
	uint32_t last = end >> PAGE_SHIFT;

	assert(page_array != NULL);
	if (last > memory.limit)
		last = memory.limit;
	if (first >= last)
		return;
	assert(!ranges_overlap(first, last));
	if (range_extend(first, last) || range_append(first, last))
		memory.counts[PAGE_FREE] += last - first;
	else
		klog("memory: %u KiB left alone, there are more than %u ranges\n",
		     (last - first) << (PAGE_SHIFT - 10), MAX_RANGES);
}

/* Puts the next untouched page on the free list, which is empty; false when there is none. */
static bool page_touch(void)
{
	struct page_range *range;
	struct page *page;

	assert(memory.free == NULL);
	for (;; memory.current++) {
		if (memory.current == memory.n_ranges)
			return false;
		range = &memory.ranges[memory.current];
		assert(range->next <= range->end && range->end <= memory.limit);
		if (range->next < range->end)
			break;
	}
	page = &page_array[range->next++];
	page->magic = PAGE_MAGIC;
	page->use = PAGE_FREE;
	page->next_free = NULL;
	memory.free = page;
	return true;
}

/* Kept out of page_alloc(), which is short without it. */
static __attribute__((noinline)) struct page *page_alloc_untouched(enum page_use use)
{
	return page_touch() ? (page_alloc)(use) : NULL;
}

/*
 * The path that is almost always taken is under 25 instructions, nine of them checks.  A page on
 * the free list that is not free has been freed twice or written to by someone who no longer has
 * it.
 */
struct page *(page_alloc)(enum page_use use)
{
	struct page *page = memory.free;

	assert(use > PAGE_FREE && use < PAGE_USES);
	if (page == NULL)
		return page_alloc_untouched(use);
	assert(page->magic == PAGE_MAGIC);
	assert(page->use == PAGE_FREE);
	memory.free = page->next_free;
	page->use = (uint8_t)use;
	memory.counts[PAGE_FREE]--;
	memory.counts[use]++;
	return page;
}

struct page *(page_alloc_zeroed)(enum page_use use)
{
	struct page *page = (page_alloc)(use);

	if (page != NULL)
		page_clear(page_data(page));
	return page;
}

/* The contents stay as they are: whoever needs a clear page asks for one. */
void page_free(struct page *page)
{
	assert(page->magic == PAGE_MAGIC);
	assert(page->use != PAGE_FREE && page->use < PAGE_USES);
	assert(memory.counts[page->use] > 0);
	memory.counts[page->use]--;
	memory.counts[PAGE_FREE]++;
	page->use = PAGE_FREE;
	page->next_free = memory.free;
	memory.free = page;
}

/* Trusts the structure: whoever holds a page has got it from this file. */
uint32_t page_physical(const struct page *page)
{
	return (uint32_t)(page - page_array) << PAGE_SHIFT;
}

void *page_data(const struct page *page)
{
	return phys_to_virt(page_physical(page));
}

/*
 * Checks what it finds: the address comes from a page table or a pointer.  The magic number of an
 * untouched page is whatever memory held, so a wrong address is not sure to be caught here.
 */
struct page *page_of_physical(uint32_t physical)
{
	uint32_t number = physical >> PAGE_SHIFT;
	struct page *page;

	assert(number < memory.limit);
	page = &page_array[number];
	assert(page->magic == PAGE_MAGIC);
	return page;
}

/* An address outside of the direct map becomes a page number beyond the limit. */
struct page *page_of_data(const void *data)
{
	return page_of_physical(virt_to_phys(data));
}

/* Counted where pages change hands, so that a balance costs nothing to take. */
uint32_t page_count(enum page_use use)
{
	assert(use < PAGE_USES);
	return memory.counts[use];
}
