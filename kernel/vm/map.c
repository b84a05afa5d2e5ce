/* SPDX-License-Identifier: MIT */
/* A task's memory: see map.h.  Guarded by the kernel lock. */
#include "vm/map.h"

#include <stddef.h>

#include <assay/traps.h>

#include "i386/memory.h"
#include "i386/pmap.h"
#include "kern/assert.h"
#include "kern/lock.h"
#include "kern/string.h"
#include "kern/work.h"
#include "kern/zone.h"

#define ALL_RIGHTS (ASSAY_READ | ASSAY_WRITE | ASSAY_EXECUTE)

_Static_assert(ASSAY_READ == PMAP_READ && ASSAY_WRITE == PMAP_WRITE &&
		       ASSAY_EXECUTE == PMAP_EXECUTE,
	       "rights are handed through");

static struct zone map_zone;

void map_module_init(void)
{
	zone_init(&map_zone, "maps", sizeof(struct vm_map), 4);
}

struct vm_map *map_create(void)
{
	struct vm_map *map = zone_alloc(&map_zone);

	if (map == NULL)
		return NULL;
	map->pmap = pmap_create();
	if (map->pmap == NULL) {
		zone_free(&map_zone, map);
		return NULL;
	}
	return map;
}

void map_destroy(struct vm_map *map)
{
	kern_return_t result = map_release(map, USER_START, USER_END - USER_START);

	assert(result == KERN_SUCCESS);
	pmap_destroy(map->pmap);
	zone_free(&map_zone, map);
}

static bool range_is_valid(uint32_t start, uint32_t size)
{
	if (((start | size) & PAGE_MASK) != 0)
		return false;
	return start >= USER_START && start <= USER_END && size <= USER_END - start;
}

static bool rights_are_valid(uint32_t rights)
{
	return (rights & ASSAY_READ) != 0 && (rights & ~ALL_RIGHTS) == 0;
}

static bool is_mapped(struct vm_map *map, uint32_t start, uint32_t end)
{
	for (uint32_t address = start; address < end; address += PAGE_SIZE) {
		if (pmap_lookup(map->pmap, address) == NULL)
			return false;
		if ((address / PAGE_SIZE) % 64 == 0)
			kernel_pause();
	}
	return true;
}

static kern_return_t allocate_page(struct vm_map *map, uint32_t address, uint32_t rights)
{
	struct page *page = page_alloc_zeroed(PAGE_USER);
	kern_return_t result;

	if (page == NULL)
		return KERN_RESOURCE_SHORTAGE;
	result = pmap_enter(map->pmap, address, page, rights);
	if (result != KERN_SUCCESS)
		page_free(page);
	return result;
}

kern_return_t map_allocate(struct vm_map *map, uint32_t start, uint32_t size, uint32_t rights)
{
	uint32_t end = start + size;

	assert(kernel_locked());
	if (!range_is_valid(start, size) || !rights_are_valid(rights))
		return KERN_INVALID_ARGUMENT;
	if (pmap_next(map->pmap, start, end) < end)
		return KERN_NO_SPACE;
	for (uint32_t address = start; address < end; address += PAGE_SIZE) {
		kern_return_t result = allocate_page(map, address, rights);

		if (result != KERN_SUCCESS) {
			map_release(map, start, address - start);
			return result;
		}
		/* Clearing a page is a thousand instructions: sixteen of them are a turn. */
		if ((address / PAGE_SIZE) % 16 == 0)
			kernel_pause();
	}
	return KERN_SUCCESS;
}

/* Takes at most 64 pages from `*start` on out of the map, all CPUs told, and frees them. */
static void release_some(struct vm_map *map, uint32_t *start, uint32_t end)
{
	struct list pages = LIST_INITIALIZER(pages);
	uint32_t address = *start;
	uint32_t first = address;

	for (unsigned n = 0; n < 64 && address < end; n++) {
		list_add_last(&pages, &pmap_lookup(map->pmap, address)->link);
		address = pmap_next(map->pmap, address + PAGE_SIZE, end);
	}
	pmap_remove(map->pmap, first, address);
	while (!list_empty(&pages)) {
		struct list *link = list_take_first(&pages);

		page_free(list_object(link, struct page, link));
	}
	*start = address;
}

kern_return_t map_release(struct vm_map *map, uint32_t start, uint32_t size)
{
	uint32_t end = start + size;
	uint32_t address;

	assert(kernel_locked());
	if (!range_is_valid(start, size))
		return KERN_INVALID_ARGUMENT;
	address = pmap_next(map->pmap, start, end);
	while (address < end) {
		release_some(map, &address, end);
		kernel_pause();
	}
	return KERN_SUCCESS;
}

kern_return_t map_protect(struct vm_map *map, uint32_t start, uint32_t size, uint32_t rights)
{
	uint32_t end = start + size;

	assert(kernel_locked());
	if (!range_is_valid(start, size) || !rights_are_valid(rights))
		return KERN_INVALID_ARGUMENT;
	if (!is_mapped(map, start, end))
		return KERN_INVALID_ADDRESS;
	pmap_protect(map->pmap, start, end, rights);
	return KERN_SUCCESS;
}

void map_write(struct vm_map *map, uint32_t address, const void *from, uint32_t size)
{
	const char *bytes = from;

	while (size > 0) {
		struct page *page = pmap_lookup(map->pmap, address);
		uint32_t offset = address & PAGE_MASK;
		uint32_t part = PAGE_SIZE - offset < size ? PAGE_SIZE - offset : size;

		assert(page != NULL);
		memcpy((char *)page_data(page) + offset, bytes, part);
		address += part;
		bytes += part;
		size -= part;
	}
}
