/* SPDX-License-Identifier: MIT */
/*
 * Copying from one task's memory to another's as page tables have it at this moment (pmap.h): no
 * fault, so nobody waits, and neither task has to be the current one.  Guarded by the kernel lock.
 */
#include "i386/mmu/pmap.h"

#include <stddef.h>

#include "base/string.h"
#include "i386/mmu/pmap_entry.h"

/* Pages that a range of PMAP_MOVE_MAX bytes has at most. */
#define MOVE_PAGES (PMAP_MOVE_MAX / PAGE_SIZE + 1)

/* The pages of a range, where the kernel has them. */
struct reach {
	uint32_t offset; /* Where the range begins in the first one. */
	uint8_t *pages[MOVE_PAGES];
};

/* The lower half of the entry for `address`, a user's; 0 if nothing is mapped there. */
static inline uint32_t move_entry(const struct pmap *pmap, uint32_t address)
{
	uint32_t directory = (uint32_t)pmap->pdpt[address / QUARTER_SIZE], table;

	if (directory == 0)
		return 0;
	table = (uint32_t)table_of(directory)[address / LARGE_SIZE % TABLE_ENTRIES];
	if (table == 0)
		return 0;
	return ((struct halves *)table_of(table))[address / PAGE_SIZE % TABLE_ENTRIES].low;
}

/*
 * Notes that the page is going to be written to.  Not if it is mapped elsewhere, too: what is
 * written there might be what is still to be read.
 */
static inline bool move_note_target(uint32_t low)
{
	struct page *page = page_of_entry(low);

	if ((low & LOW_WRITE) == 0 || !pmap_page_is_mapped_once(page))
		return false;
	page->dirty = true;
	return true;
}

/* Finds the pages from `start` on; false if one is not there, or as a target not to be used. */
static inline bool move_reach(struct reach *reach, const struct pmap *pmap, uint32_t start,
			      uint32_t size, bool target)
{
	uint8_t **page = reach->pages;

	reach->offset = start & PAGE_MASK;
	if (start > USER_END - size)
		return false;
	for (uint32_t at = page_trunc(start); at < start + size; at += PAGE_SIZE) {
		uint32_t low = move_entry(pmap, at);

		if (low == 0 || (target && !move_note_target(low)))
			return false;
		*page++ = phys_to_virt(page_trunc(low));
	}
	return true;
}

/* Copies what lies `done` bytes behind both beginnings and in one page each; says how much. */
static inline uint32_t move_piece(const struct reach *target, const struct reach *source,
				  uint32_t done, uint32_t left)
{
	uint32_t to = target->offset + done, from = source->offset + done;
	uint32_t in_to = to & PAGE_MASK, in_from = from & PAGE_MASK;
	uint32_t room = PAGE_SIZE - (in_to > in_from ? in_to : in_from);
	uint32_t piece = left < room ? left : room;

	memcpy(&target->pages[to / PAGE_SIZE][in_to], &source->pages[from / PAGE_SIZE][in_from],
	       piece);
	return piece;
}

bool pmap_move(const struct pmap *to, uint32_t target, const struct pmap *from, uint32_t source,
	       uint32_t size)
{
	struct reach targets, sources;

	if (size > PMAP_MOVE_MAX ||
	    (to == from && target + size > source && source + size > target))
		return false;
	if (!move_reach(&targets, to, target, size, true) ||
	    !move_reach(&sources, from, source, size, false))
		return false;
	for (uint32_t done = 0; done < size;)
		done += move_piece(&targets, &sources, done, size - done);
	return true;
}
