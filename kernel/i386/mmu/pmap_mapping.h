/* SPDX-License-Identifier: MIT */
/*
 * Where pages are mapped, for pmap.c and pmap_space.c: what changes with each translation.
 *
 * A page's `mappings` is 0, or the address of the one entry that names it, or with the lowest bit
 * set the address of a link: one of a ring, of at least two, that stand for the entries that do.
 */
#ifndef I386_MMU_PMAP_MAPPING_H
#define I386_MMU_PMAP_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"
#include "i386/mmu/pmap_entry.h"
#include "vm/page/page.h"

/* For a page with other entries: adds one, of `table`.  False, and nothing done, without memory. */
bool mapping_link(struct page *page, struct page *table, struct halves *entry);

/* For a page with a ring: takes the entry out of it. */
void mapping_unlink(struct page *page, struct page *table, struct halves *entry);

/* Notes that `entry`, of `table`, is about to name `page`.  False without memory. */
static inline bool mapping_add(struct page *page, struct page *table, struct halves *entry)
{
	if (page->mappings != 0)
		return mapping_link(page, table, entry);
	page->mappings = (uintptr_t)entry;
	return true;
}

/* Notes that `entry`, of `table`, whose lower half was `low`, names its page no more. */
static inline void mapping_remove(struct page *table, struct halves *entry, uint32_t low)
{
	struct page *page = page_of_entry(low);

	assert(page->use == PAGE_USER);
	if ((low & LOW_DIRTY) != 0)
		page->dirty = true;
	table->pmap->pages--;
	if (page->mappings == (uintptr_t)entry)
		page->mappings = 0;
	else
		mapping_unlink(page, table, entry);
}

#endif
