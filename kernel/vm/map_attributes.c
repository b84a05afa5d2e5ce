/* SPDX-License-Identifier: MIT */
/*
 * What memory may be used for: rights, the most they may become, inheritance.
 *
 * The rights are in the page tables; the rest is in the structures of the pages, so that maps which
 * share a page share it too.  Guarded by the kernel lock.
 */
#include <stddef.h>

#include "i386/memory.h"
#include "i386/pmap.h"
#include "kern/lock.h"
#include "kern/work.h"
#include "vm/map.h"
#include "vm/page.h"

static void check_range(const struct vm_map *map, uint32_t start, uint32_t size)
{
	assert(kernel_locked());
	assert(map->magic == MAP_MAGIC && map->active);
	assert(((start | size) & PAGE_MASK) == 0);
	assert(start >= USER_START && start <= USER_END && size <= USER_END - start);
}

/* What the CPU can do: whoever may write or execute may read. */
static uint32_t machine_rights(uint32_t rights)
{
	return rights == 0 ? 0 : rights | PMAP_READ;
}

/* Goes on to the next mapped page, with a pause each 64 pages. */
static uint32_t next_page(struct vm_map *map, uint32_t address, uint32_t end)
{
	if ((address / PAGE_SIZE) % 64 == 0)
		kernel_pause();
	return pmap_next(map->pmap, address + PAGE_SIZE, end);
}

/* Whether all pages of the range may have `rights`. */
static bool may_have(struct vm_map *map, uint32_t start, uint32_t end, uint32_t rights)
{
	uint32_t address = pmap_next(map->pmap, start, end);

	while (address < end) {
		if ((rights & ~(uint32_t)pmap_lookup(map->pmap, address)->max_rights) != 0)
			return false;
		address = next_page(map, address, end);
	}
	return true;
}

/* Makes `rights` the most, and takes away what goes beyond. */
static kern_return_t set_maximum(struct vm_map *map, uint32_t start, uint32_t end, uint32_t rights)
{
	uint32_t address = pmap_next(map->pmap, start, end);

	while (address < end) {
		kern_return_t result = map_own_page(map, address);
		struct page *page;
		uint32_t has;

		if (result != KERN_SUCCESS)
			return result;
		page = pmap_lookup_rights(map->pmap, address, &has);
		page->max_rights = rights & VM_PROT_ALL;
		if ((has & ~machine_rights(rights)) != 0)
			pmap_protect(map->pmap, address, address + PAGE_SIZE,
				     machine_rights(has & rights));
		address = next_page(map, address, end);
	}
	return KERN_SUCCESS;
}

kern_return_t map_set_rights(struct vm_map *map, uint32_t start, uint32_t size, bool maximum,
			     uint32_t rights)
{
	uint32_t end = start + size;

	check_range(map, start, size);
	if (!may_have(map, start, end, rights))
		return KERN_PROTECTION_FAILURE;
	if (maximum)
		return set_maximum(map, start, end, rights);
	pmap_protect(map->pmap, start, end, machine_rights(rights));
	return KERN_SUCCESS;
}

kern_return_t map_set_inheritance(struct vm_map *map, uint32_t start, uint32_t size,
				  vm_inherit_t inheritance)
{
	uint32_t end = start + size;
	uint32_t address;

	check_range(map, start, size);
	for (address = pmap_next(map->pmap, start, end); address < end;
	     address = next_page(map, address, end)) {
		kern_return_t result = KERN_SUCCESS;

		if (pmap_lookup(map->pmap, address)->inheritance != inheritance)
			result = map_own_page(map, address);
		if (result != KERN_SUCCESS)
			return result;
		pmap_lookup(map->pmap, address)->inheritance = inheritance & 3;
	}
	return KERN_SUCCESS;
}

/* ---------------- Regions ---------------- */

/* Describes the page at `address`; false if none is mapped there. */
static bool describe(struct vm_map *map, uint32_t address, struct map_region *region)
{
	uint32_t rights;
	struct page *page;

	if (address < USER_START || address >= USER_END)
		return false;
	page = pmap_lookup_rights(map->pmap, address, &rights);
	if (page == NULL)
		return false;
	*region = (struct map_region){
		.start = address,
		.size = PAGE_SIZE,
		.attributes = {rights, page->max_rights, page->inheritance},
		.shared = page->mappings > 1 && !page->copying,
	};
	return true;
}

/* Whether the page at `address` is mapped as the region is. */
static bool belongs(struct vm_map *map, uint32_t address, const struct map_region *region)
{
	struct map_region page;

	if ((address / PAGE_SIZE) % 64 == 0)
		kernel_pause();
	return describe(map, address, &page) && page.shared == region->shared &&
	       page.attributes.rights == region->attributes.rights &&
	       page.attributes.max_rights == region->attributes.max_rights &&
	       page.attributes.inheritance == region->attributes.inheritance;
}

bool map_find_region(struct vm_map *map, uint32_t address, struct map_region *region)
{
	check_range(map, USER_START, 0);
	if (address < USER_START)
		address = USER_START;
	address = pmap_next(map->pmap, page_trunc(address), USER_END);
	if (address >= USER_END || !describe(map, address, region))
		return false;
	while (belongs(map, region->start + region->size, region))
		region->size += PAGE_SIZE;
	while (belongs(map, region->start - PAGE_SIZE, region)) {
		region->start -= PAGE_SIZE;
		region->size += PAGE_SIZE;
	}
	return true;
}
