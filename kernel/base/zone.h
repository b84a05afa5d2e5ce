/* SPDX-License-Identifier: MIT */
/*
 * Zones: pools of kernel objects of one type.
 *
 * A zone cuts pages into elements, and hands out those of one page until that has no more.  Of all
 * its other pages each that has no element in use any more goes back to the allocator of pages.
 * Elements that come and go with each message or fault can be kept in front of the zone, with what
 * they contain.
 *
 *   invariants   an element is in use, kept, or on its page's list of free ones
 *                a page but the current one has an element in use, and is on the zone's list while
 *                it has a free one, too
 *
 * Of a free element the zone overwrites the first two words.  Nobody may look at one: its memory
 * may be anything by now.  The sampling interrupt, which takes no lock, reads no other element than
 * the thread that its CPU runs, and that is in use as long as it runs.
 *
 * Every zone counts its elements; the counts are part of the balance that each test ends with.
 * Guarded by the kernel lock.
 */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc_site.h"
#include <assay/list.h>

/* How many free elements a zone keeps at most for what comes and goes in hot paths. */
#define ZONE_KEPT 64u

struct zone {
	const char *name;
	uint32_t element_size; /* Rounded up to the alignment. */
	uint32_t alignment;
	uint32_t per_page;
	uint32_t pages;       /* Pages taken, */
	uint32_t elements;    /* what they have: pages * per_page, */
	uint32_t taken;       /* and so many are in use or kept; the others are free. */
	struct page *current; /* Whose elements are handed out, */
	struct list open;     /* and the others with a free element. */
	struct list link;     /* On the list of all zones. */
	size_t kept_link;     /* Where in a kept element the one kept before it is named. */
	uint32_t kept_most;
	uint32_t n_kept;
	void *kept; /* The last one. */
};

/*
 * Elements are at most a page; `alignment` is a power of two of at least 4.  The zone itself stays
 * for good: there is no way to end one.
 */
void zone_init(struct zone *zone, const char *name, size_t size, size_t alignment);

/* An element with undefined contents, or NULL when there is no memory. */
void *zone_alloc(struct zone *zone);
#define zone_alloc(zone) ALLOC_SITE((zone_alloc)(zone))

/* Takes an element back; the pointer must be one of this zone that is in use. */
void zone_free(struct zone *zone, void *element);

/* Elements in use. */
static inline uint32_t zone_in_use(const struct zone *zone)
{
	return zone->taken - zone->n_kept;
}

/* ---------------- Kept elements ---------------- */

/*
 * Has the zone keep up to so many elements, of which the word at `link` means nothing then.  The
 * same `link` is given with each of them, as a constant that costs nothing.
 */
static inline void zone_init_kept(struct zone *zone, size_t link, uint32_t most)
{
	zone->kept_link = link;
	zone->kept_most = most;
}

/* The element that was kept last, as it was but for that word; NULL if there is none. */
static inline void *zone_take_kept(struct zone *zone, size_t link)
{
	char *element = zone->kept;

	if (element != NULL) {
		zone->kept = *(void **)(element + link);
		zone->n_kept--;
	}
	return element;
}

/* Keeps an element; false, and nothing is done, if enough are: it is to be freed. */
static inline bool zone_keep(struct zone *zone, void *element, size_t link)
{
	if (zone->n_kept >= zone->kept_most)
		return false;
	*(void **)((char *)element + link) = zone->kept;
	zone->kept = element;
	zone->n_kept++;
	return true;
}

/* ---------------- All zones ---------------- */

/* Gives every page back that has no element in use, kept ones or not. */
void zones_trim(void);

/* Calls `visit` for every zone in the order of their creation. */
void zone_for_each(void (*visit)(const struct zone *zone, void *context), void *context);

/* Pages that all zones hold together. */
uint32_t zone_pages(void);

#endif
