/* SPDX-License-Identifier: MIT */
/*
 * Inherited memory, and copy on write: see map.h.  Guarded by the kernel lock.
 *
 * A page that a child inherits to copy is first shared by both, with `copying` set, and no map lets
 * the CPU write to it.  Whoever wants to write gets a page of his own in its place, or, when no
 * other map has it any more, the very page.  Its attributes are common to its maps, as those of any
 * shared page; so whoever changes one gets his own page before, too.
 */
#include <stddef.h>

#include "i386/pmap.h"
#include "kern/assert.h"
#include "kern/lock.h"
#include "kern/work.h"
#include "vm/map.h"
#include "vm/page.h"

/* ---------------- Copying ---------------- */

/* Makes `own`, which no map has yet, a copy of `page` for one. */
static void copy_page(struct page *own, const struct page *page)
{
	page_copy(page_data(own), page_data(page));
	own->max_rights = page->max_rights;
	own->inheritance = page->inheritance;
	own->copying = false;
	own->fixed = false;
	own->mappings = 1;
}

/* The map is the only one that still has the page. */
static void keep(struct vm_map *map, uint32_t address, struct page *page)
{
	page->copying = false;
	pmap_replace(map->pmap, address, page);
}

/*
 * Puts a copy in `own` in the place of `page`.  No CPU sees the old one there when this returns:
 * what its other maps make of it does not show.
 */
static void replace(struct vm_map *map, uint32_t address, struct page *page, struct page *own)
{
	assert(page->copying && page->mappings > 1);
	copy_page(own, page);
	page->mappings--;
	pmap_replace(map->pmap, address, own);
}

kern_return_t map_own_page(struct vm_map *map, uint32_t address)
{
	struct page *page = pmap_lookup(map->pmap, address);
	struct page *own;

	assert(page != NULL);
	if (!page->copying)
		return KERN_SUCCESS;
	if (page->mappings == 1) {
		keep(map, address, page);
		return KERN_SUCCESS;
	}
	own = page_alloc(PAGE_USER);
	if (own == NULL)
		return KERN_RESOURCE_SHORTAGE;
	replace(map, address, page, own);
	return KERN_SUCCESS;
}

kern_return_t map_own(struct vm_map *map, uint32_t address, uint32_t size)
{
	uint32_t end = address + size;
	kern_return_t result = KERN_SUCCESS;

	assert(kernel_locked());
	for (address = page_trunc(address); address < end && result == KERN_SUCCESS;
	     address += PAGE_SIZE) {
		result = map_own_page(map, address);
		if (address / PAGE_SIZE % 16 == 0)
			kernel_pause();
	}
	return result;
}

/*
 * The allocation here is none of those that tests let fail: it can be for any store of a program's,
 * the test's own among them.
 */
kern_return_t map_write_fault(struct vm_map *map, uint32_t address)
{
	uint32_t rights;
	struct page *page = pmap_lookup_rights(map->pmap, address, &rights);
	struct page *own;

	assert(kernel_locked());
	address = page_trunc(address);
	if (page == NULL)
		return KERN_INVALID_ADDRESS;
	if ((rights & PMAP_WRITE) == 0)
		return KERN_PROTECTION_FAILURE;
	if (!page->copying) /* Another CPU was here first. */
		return KERN_SUCCESS;
	if (page->mappings == 1) {
		keep(map, address, page);
		return KERN_SUCCESS;
	}
	own = (page_alloc)(PAGE_USER);
	if (own == NULL)
		return KERN_RESOURCE_SHORTAGE;
	replace(map, address, page, own);
	return KERN_SUCCESS;
}

/* ---------------- Inheriting ---------------- */

/* Gives `child` a page of its own with the contents of `page`, at once. */
static kern_return_t inherit_copy(struct pmap *child, uint32_t address, struct page *page,
				  uint32_t rights)
{
	struct page *own = page_alloc(PAGE_USER);
	kern_return_t result;

	if (own == NULL)
		return KERN_RESOURCE_SHORTAGE;
	copy_page(own, page);
	result = pmap_enter(child, address, own, rights);
	if (result != KERN_SUCCESS)
		page_free(own);
	return result;
}

/* Gives `child` the very page. */
static kern_return_t inherit_shared(struct pmap *child, uint32_t address, struct page *page,
				    uint32_t rights)
{
	kern_return_t result;

	assert(!page->copying);
	if (page->mappings == PAGE_MAPPINGS_MAX)
		return KERN_RESOURCE_SHORTAGE;
	result = pmap_enter(child, address, page, rights);
	if (result == KERN_SUCCESS)
		page->mappings++;
	return result;
}

/* What is not shared for copying, which most pages are (pmap_inherit()). */
static kern_return_t inherit_page(struct pmap *child, uint32_t address, struct page *page,
				  uint32_t rights)
{
	kernel_pause();
	switch (page->inheritance) {
	case VM_INHERIT_COPY:
		return inherit_copy(child, address, page, rights);
	case VM_INHERIT_SHARE:
		return inherit_shared(child, address, page, rights);
	default:
		return KERN_SUCCESS;
	}
}

struct vm_map *map_inherit(struct vm_map *parent)
{
	struct vm_map *child = map_create();

	assert(kernel_locked());
	assert(parent->magic == MAP_MAGIC && parent->active);
	if (child == NULL)
		return NULL;
	if (pmap_inherit(child->pmap, parent->pmap, inherit_page) != KERN_SUCCESS) {
		map_destroy(child);
		return NULL;
	}
	child->hint = parent->hint;
	child->size_limit = parent->size_limit;
	child->size_limit_max = parent->size_limit_max;
	return child;
}
