/* SPDX-License-Identifier: MIT */
/*
 * Whole user address spaces: made, inherited, destroyed.  Guarded by the kernel lock.
 *
 * Most entries of most tables are absent.  The two walks here look only at those that were ever
 * used (a table's `span`), take eight at a time, and pass over them at once if none is there.  What
 * is done for a page is done without a call.
 */
#include <stddef.h>

#include "i386/io_permission.h"
#include "i386/pmap.h"
#include "i386/pmap_entry.h"
#include "i386/shootdown.h"
#include "kern/assert.h"
#include "kern/lock.h"
#include "kern/work.h"
#include "kern/zone.h"
#include "vm/page.h"

#define GROUP 8u

/* An entry in two halves: the lower one has all that is looked at here. */
struct halves {
	uint32_t low;
	uint32_t high;
};

static struct zone pmap_zone;

void pmap_zone_init(void)
{
	zone_init(&pmap_zone, "pmaps", sizeof(struct pmap), 32);
}

struct pmap *pmap_create(void)
{
	struct pmap *pmap = zone_alloc(&pmap_zone);

	if (pmap != NULL)
		*pmap = (struct pmap){.magic = PMAP_MAGIC, .pdpt[3] = kernel_pmap.pdpt[3]};
	return pmap;
}

/* Whether none of the entries of the group is there: not even a bit of one. */
static inline bool group_is_empty(const struct halves *group)
{
	return (group[0].low | group[1].low | group[2].low | group[3].low | group[4].low |
		group[5].low | group[6].low | group[7].low) == 0;
}

/* The table or directory that an entry names, and its first group that may not be empty. */
static struct page *table_page(uint32_t low)
{
	struct page *table = page_of_entry(low);

	assert(table->use == PAGE_TABLE);
	return table;
}

static uint32_t first_group(const struct page *table)
{
	return table->span.first & ~(GROUP - 1);
}

/* ---------------- Inheriting ---------------- */

/*
 * Makes both maps share `page` for copying: neither may write now.  The hardware's permission goes
 * from the parent's table here; its CPUs are told when all is done, before the child runs.
 */
static inline void share(struct halves *to, struct halves *from, struct page *page)
{
	uint32_t low = from->low;

	if ((low & PTE_WRITE) != 0) {
		low ^= PTE_WRITE | PTE_COPY;
		((volatile struct halves *)from)->low = low;
	}
	page->copying = true;
	page->mappings++;
	to->high = from->high;
	to->low = low;
}

static kern_return_t inherit_group(struct pmap *child, struct halves *to, struct halves *from,
				   uint32_t address, pmap_inherit_other *other)
{
	for (unsigned n = 0; n < GROUP; n++) {
		struct page *page;
		kern_return_t result;

		if (from[n].low == 0)
			continue;
		page = page_of_entry(from[n].low);
		assert(page->use == PAGE_USER);
		if (page_is_for_copying(page)) {
			share(&to[n], &from[n], page);
			child->pages++;
			continue;
		}
		result = other(child, address + n * PAGE_SIZE, page,
			       pte_rights(((pte_t)from[n].high << 32) | from[n].low));
		if (result != KERN_SUCCESS)
			return result;
	}
	return KERN_SUCCESS;
}

static kern_return_t inherit_table(struct pmap *child, const struct page *table, uint32_t address,
				   pmap_inherit_other *other)
{
	struct halves *from = page_data(table), *to = NULL;
	kern_return_t result = KERN_SUCCESS;

	kernel_pause();
	for (uint32_t n = first_group(table); n < table->span.end && result == KERN_SUCCESS;
	     n += GROUP) {
		if (n % 64 == 0)
			kernel_pause();
		if (group_is_empty(&from[n]))
			continue;
		if (to == NULL) {
			struct page *own = pmap_table_made(child, address + n * PAGE_SIZE);

			if (own == NULL)
				return KERN_RESOURCE_SHORTAGE;
			own->span = table->span;
			to = page_data(own);
		}
		result = inherit_group(child, &to[n], &from[n], address + n * PAGE_SIZE, other);
	}
	return result;
}

static kern_return_t inherit_directory(struct pmap *child, const struct page *directory,
				       uint32_t address, pmap_inherit_other *other)
{
	const struct halves *entries = page_data(directory);
	kern_return_t result = KERN_SUCCESS;

	for (uint32_t n = directory->span.first; n < directory->span.end && result == KERN_SUCCESS;
	     n++) {
		if (entries[n].low != 0)
			result = inherit_table(child, table_page(entries[n].low),
					       address + n * LARGE_SIZE, other);
		else if (n % GROUP == 0 && group_is_empty(&entries[n]))
			n += GROUP - 1;
	}
	return result;
}

kern_return_t pmap_inherit(struct pmap *child, struct pmap *parent, pmap_inherit_other *other)
{
	kern_return_t result = KERN_SUCCESS;

	assert(kernel_locked());
	for (unsigned n = 0; n < USER_END / QUARTER_SIZE && result == KERN_SUCCESS; n++)
		if ((parent->pdpt[n] & PTE_PRESENT) != 0)
			result = inherit_directory(child, table_page((uint32_t)parent->pdpt[n]),
						   n * QUARTER_SIZE, other);
	shootdown_range(parent, USER_START, USER_END);
	return result;
}

/* ---------------- Ending ---------------- */

static inline void release(struct page *page)
{
	uint32_t mappings = page->mappings;

	assert(page->use == PAGE_USER && mappings > 0);
	page->mappings = (uint16_t)--mappings;
	if (mappings == 0)
		page_free(page);
}

static void release_group(struct pmap *pmap, const struct halves *group)
{
	for (unsigned n = 0; n < GROUP; n++) {
		if (group[n].low == 0)
			continue;
		pmap->pages--;
		release(page_of_entry(group[n].low));
	}
}

static void destroy_table(struct pmap *pmap, struct page *table)
{
	const struct halves *entries = page_data(table);

	kernel_pause();
	for (uint32_t n = first_group(table); n < table->span.end; n += GROUP) {
		if (n % 64 == 0)
			kernel_pause();
		if (!group_is_empty(&entries[n]))
			release_group(pmap, &entries[n]);
	}
	page_free(table);
}

static void destroy_directory(struct pmap *pmap, struct page *directory)
{
	const struct halves *entries = page_data(directory);

	for (uint32_t n = directory->span.first; n < directory->span.end; n++) {
		if (entries[n].low != 0)
			destroy_table(pmap, table_page(entries[n].low));
		else if (n % GROUP == 0 && group_is_empty(&entries[n]))
			n += GROUP - 1;
	}
	page_free(directory);
}

/* No CPU has it loaded, so that none remembers its translations. */
void pmap_destroy(struct pmap *pmap)
{
	assert(kernel_locked());
	assert(pmap->magic == PMAP_MAGIC);
	assert(pmap->cpus == 0);
	for (unsigned n = 0; n < USER_END / QUARTER_SIZE; n++)
		if ((pmap->pdpt[n] & PTE_PRESENT) != 0)
			destroy_directory(pmap, table_page((uint32_t)pmap->pdpt[n]));
	assert(pmap->pages == 0);
	io_permissions_free(pmap->io);
	pmap->magic = 0;
	zone_free(&pmap_zone, pmap);
}
