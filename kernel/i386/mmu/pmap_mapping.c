/* SPDX-License-Identifier: MIT */
/*
 * The record of where each page of a user's is mapped, and what is done to a page everywhere.
 *
 * Most pages are mapped once, and `mappings` is the address of the entry.  The others have a ring
 * of links.  An entry's link lies in a page of links beside its table, at the same offset, since a
 * link is as large as an entry: so the way from one to the other is an addition, and a translation
 * that goes, goes from the middle of a ring of thousands as easily as from any other.  A table gets
 * its links with the first entry that needs one, and loses them with the last.  Either of the two
 * pages has the other's address in `mappings`, and the table counts its links that are in a ring.
 *
 * Guarded by the kernel lock.
 */
#include "i386/mmu/pmap_mapping.h"

#include <stddef.h>

#include "i386/mmu/pmap.h"
#include "i386/mmu/shootdown.h"
#include <assay/list.h>
#include "base/lock.h"
#include "thread/work.h"

#define IS_RING ((uintptr_t)1)

_Static_assert(sizeof(struct list) == sizeof(struct halves), "they lie side by side");

/* ---------------- The record ---------------- */

static inline struct page *mapping_page_of(const void *data)
{
	return page_of_entry(virt_to_phys(data));
}

static inline bool mapping_is_ring(const struct page *page)
{
	return (page->mappings & IS_RING) != 0;
}

static inline struct list *mapping_ring_of(const struct page *page)
{
	return (struct list *)(page->mappings & ~IS_RING);
}

/* What is beside `place`, a link or an entry: the other one. */
static inline void *mapping_beside(const void *place)
{
	return (void *)(mapping_page_of(place)->mappings + ((uintptr_t)place & PAGE_MASK));
}

/* As mapping_beside(), for an entry of a table that is known to have links. */
static inline struct list *mapping_link_of(const struct page *table, const struct halves *entry)
{
	return (struct list *)(table->mappings + ((uintptr_t)entry & PAGE_MASK));
}

/* Counts one more link of the table, which gets a page of them if it has none; false without. */
static bool mapping_link_take(struct page *table)
{
	struct page *links;

	if (table->mappings == 0) {
		links = (page_alloc)(PAGE_TABLE);
		if (links == NULL)
			return false;
		links->mappings = (uintptr_t)page_data(table);
		table->mappings = (uintptr_t)page_data(links);
	}
	table->linked++;
	return true;
}

static void mapping_link_give(struct page *table)
{
	assert(table->linked > 0);
	if (--table->linked > 0)
		return;
	page_free(mapping_page_of((void *)table->mappings));
	table->mappings = 0;
}

/* Makes the record of a page that is mapped once a ring of one; false without memory. */
static bool mapping_ring_make(struct page *page)
{
	struct halves *only = (struct halves *)page->mappings;
	struct list *link;

	if (!mapping_link_take(mapping_page_of(only)))
		return false;
	link = mapping_beside(only);
	list_init(link);
	page->mappings = (uintptr_t)link | IS_RING;
	return true;
}

/* Only one entry maps the page by now: the record is that entry itself again. */
static void mapping_ring_dissolve(struct page *page)
{
	struct halves *only = mapping_beside(mapping_ring_of(page));

	page->mappings = (uintptr_t)only;
	mapping_link_give(mapping_page_of(only));
}

bool mapping_link(struct page *page, struct page *table, struct halves *entry)
{
	bool made = !mapping_is_ring(page);

	if (made && !mapping_ring_make(page))
		return false;
	if (!mapping_link_take(table)) {
		if (made)
			mapping_ring_dissolve(page);
		return false;
	}
	list_insert_after(mapping_ring_of(page), mapping_link_of(table, entry));
	return true;
}

void mapping_unlink(struct page *page, struct page *table, struct halves *entry)
{
	struct list *link = mapping_link_of(table, entry);
	struct list *next = link->next;

	assert(mapping_is_ring(page) && next != link && next->prev == link &&
	       link->prev->next == link);
	link->prev->next = next;
	next->prev = link->prev;
	mapping_link_give(table);
	page->mappings = (uintptr_t)next | IS_RING;
	if (next->next == next)
		mapping_ring_dissolve(page);
}

/* ---------------- By page ---------------- */

/*
 * All entries of a page are gone through from mapping_first() to where mapping_next() is NULL; the
 * record stays as it is meanwhile.
 */
static struct halves *mapping_first(const struct page *page)
{
	return mapping_is_ring(page) ? mapping_beside(mapping_ring_of(page))
				     : (struct halves *)page->mappings;
}

static struct halves *mapping_next(const struct page *page, const struct halves *entry)
{
	struct list *next;

	if (!mapping_is_ring(page))
		return NULL;
	next = ((struct list *)mapping_beside(entry))->next;
	return next == mapping_ring_of(page) ? NULL : mapping_beside(next);
}

/* What `entry`, of `table`, translates. */
static inline uint32_t mapping_address_of(const struct page *table, const struct halves *entry)
{
	return table->table.base +
	       ((uintptr_t)entry & PAGE_MASK) / sizeof(struct halves) * PAGE_SIZE;
}

/* The translation of `entry`, of `table`, has changed: this CPU forgets it, and who else is to? */
static uint32_t mapping_tell_later(const struct page *table, const struct halves *entry)
{
	uint32_t address = mapping_address_of(table, entry);

	shootdown_here(table->pmap, address, address + PAGE_SIZE);
	return table->pmap->cpus;
}

static void mapping_remove_ring(struct page *page)
{
	uint32_t cpus = 0;

	while (page->mappings != 0) {
		struct halves *entry = mapping_first(page);
		struct page *table = mapping_page_of(entry);

		mapping_remove(table, entry, entry_take(entry));
		cpus |= mapping_tell_later(table, entry);
		pause_each();
	}
	shootdown_others(cpus);
}

/* A translation that no CPU has used, none remembers. */
static inline void mapping_remove_only(struct halves *entry)
{
	struct page *table = mapping_page_of(entry);
	uint32_t low = entry_take(entry);
	uint32_t address;

	mapping_remove(table, entry, low);
	if ((low & LOW_USED) == 0)
		return;
	address = mapping_address_of(table, entry);
	shootdown_range(table->pmap, address, address + PAGE_SIZE);
}

void pmap_page_remove(struct page *page)
{
	assert(kernel_locked());
	assert(page->use == PAGE_USER);
	if (mapping_is_ring(page))
		mapping_remove_ring(page);
	else if (page->mappings != 0)
		mapping_remove_only((struct halves *)page->mappings);
}

void pmap_page_protect(struct page *page, uint32_t rights)
{
	uint32_t cpus = 0;

	assert(kernel_locked());
	assert(page->use == PAGE_USER);
	if ((rights & PMAP_READ) == 0) {
		pmap_page_remove(page);
		return;
	}
	if ((rights & PMAP_WRITE) != 0)
		return;
	for (struct halves *entry = mapping_first(page); entry != NULL;
	     entry = mapping_next(page, entry)) {
		if ((entry->low & LOW_WRITE) != 0) {
			entry_forbid_write(entry, page);
			cpus |= mapping_tell_later(mapping_page_of(entry), entry);
		}
		pause_each();
	}
	shootdown_others(cpus);
}

bool pmap_page_is_dirty(struct page *page)
{
	assert(page->use == PAGE_USER);
	for (struct halves *entry = mapping_first(page); entry != NULL && !page->dirty;
	     entry = mapping_next(page, entry)) {
		if ((entry->low & LOW_DIRTY) != 0)
			page->dirty = true;
		pause_each();
	}
	return page->dirty;
}

/* A CPU that remembers that the bit is set would not set it again: it has to forget that. */
void pmap_page_clean(struct page *page)
{
	uint32_t cpus = 0;

	assert(kernel_locked());
	assert(page->use == PAGE_USER);
	for (struct halves *entry = mapping_first(page); entry != NULL;
	     entry = mapping_next(page, entry)) {
		if ((entry->low & LOW_DIRTY) != 0) {
			entry_clear_bit(entry, LOW_DIRTY);
			cpus |= mapping_tell_later(mapping_page_of(entry), entry);
		}
		pause_each();
	}
	shootdown_others(cpus);
	page->dirty = false;
}
