/* SPDX-License-Identifier: MIT */
/*
 * Kernel memory of any size: see kernel_memory.h.  Guarded by the kernel lock.
 *
 * Addresses beyond a page come from a buddy allocator, so that finding some costs the same however
 * the region is cut up.  Only the addresses are rounded up to a power of two: pages are mapped for
 * what was asked, and go back with it.
 */
#include "vm/page/kernel_memory.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/lock.h"
#include "base/zone.h"
#include "i386/cpu/memory.h"
#include "i386/mmu/pmap.h"
#include "thread/work.h"
#include "vm/page/buddy.h"
#include "vm/page/page.h"

#define SMALLEST_SHIFT 6
#define N_ZONES        (PAGE_SHIFT - SMALLEST_SHIFT + 1)
#define REGION_PAGES   ((KERNEL_MEMORY_END - KERNEL_MEMORY_BASE) / PAGE_SIZE)

_Static_assert((REGION_PAGES & (REGION_PAGES - 1)) == 0,
	       "the buddy allocator needs a power of two");
_Static_assert(KERNEL_MEMORY_MAX / PAGE_SIZE <= REGION_PAGES, "the largest piece fits");

static struct zone zones[N_ZONES];
static struct buddy addresses;
static uint8_t address_tree[2 * REGION_PAGES];

void kernel_memory_init(void)
{
	static const char *const names[] = {
		"memory 64",   "memory 128",  "memory 256",  "memory 512",
		"memory 1024", "memory 2048", "memory 4096",
	};

	_Static_assert(sizeof names / sizeof names[0] == N_ZONES, "a name for each");
	for (unsigned n = 0; n < N_ZONES; n++)
		zone_init(&zones[n], names[n], 1u << (n + SMALLEST_SHIFT), 4);
	buddy_init(&addresses, address_tree, REGION_PAGES);
}

static struct zone *kernel_memory_zone_for(uint32_t size)
{
	if (size <= 1u << SMALLEST_SHIFT)
		return &zones[0];
	return &zones[32 - __builtin_clz(size - 1) - SMALLEST_SHIFT];
}

static uint32_t pages_for(uint32_t size)
{
	return page_round(size) / PAGE_SIZE;
}

/* In this order, so that no CPU writes to them. */
void kernel_memory_unmap(uint32_t start, uint32_t end)
{
	struct list pages = LIST_INITIALIZER(pages);
	uint32_t rights;

	for (uint32_t address = start; address < end; address += PAGE_SIZE)
		list_add_last(&pages, &pmap_lookup(&kernel_pmap, address, &rights)->link);
	pmap_remove_kernel(start, end);
	while (!list_empty(&pages)) {
		struct list *link = list_take_first(&pages);

		page_free(list_object(link, struct page, link));
	}
}

/* False when there is no memory: nothing is mapped then. */
static bool kernel_memory_map(uint32_t start, uint32_t end)
{
	for (uint32_t address = start; address < end; address += PAGE_SIZE) {
		struct page *page = page_alloc(PAGE_KERNEL);

		if (page == NULL || !pmap_enter_kernel(address, page)) {
			if (page != NULL)
				page_free(page);
			kernel_memory_unmap(start, address);
			return false;
		}
		pause_each();
	}
	return true;
}

static void *kernel_memory_alloc_pages(uint32_t pages)
{
	uint32_t first = buddy_alloc(&addresses, pages);
	uint32_t start = KERNEL_MEMORY_BASE + first * PAGE_SIZE;

	if (first == BUDDY_NONE)
		return NULL;
	if (!kernel_memory_map(start, start + pages * PAGE_SIZE)) {
		buddy_free(&addresses, first, pages);
		return NULL;
	}
	return (void *)start;
}

static void kernel_memory_free_pages(uint32_t start, uint32_t pages)
{
	assert(start >= KERNEL_MEMORY_BASE && start < KERNEL_MEMORY_END);
	assert((start & PAGE_MASK) == 0);
	kernel_memory_unmap(start, start + pages * PAGE_SIZE);
	buddy_free(&addresses, (start - KERNEL_MEMORY_BASE) / PAGE_SIZE, pages);
}

void *(kernel_memory_alloc)(uint32_t size)
{
	assert(kernel_locked());
	assert(size > 0 && size <= KERNEL_MEMORY_MAX);
	return size <= PAGE_SIZE ? (zone_alloc)(kernel_memory_zone_for(size))
				 : kernel_memory_alloc_pages(pages_for(size));
}

void kernel_memory_free(void *memory, uint32_t size)
{
	assert(kernel_locked());
	assert(size > 0 && size <= KERNEL_MEMORY_MAX);
	if (size <= PAGE_SIZE)
		zone_free(kernel_memory_zone_for(size), memory);
	else
		kernel_memory_free_pages((uint32_t)memory, pages_for(size));
}
