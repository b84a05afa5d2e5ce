/* SPDX-License-Identifier: MIT */
/*
 * Zones: pools of kernel objects of one type.
 *
 * A zone is type-stable.  A page that a zone has taken stays with it, and the memory of a freed
 * element only ever becomes an element of the same zone.  Code that may not take a lock (the
 * sampling interrupt) can therefore read through a stale pointer and check what it finds.  Of a
 * free element the zone overwrites the first two words; the rest stays as it was left.
 *
 * Every zone counts its elements; the counts are part of the balance that each test ends with.
 * Guarded by the kernel lock.
 */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc_site.h"
#include <assay/list.h>

struct zone {
	const char *name;
	uint32_t element_size; /* Rounded up to the alignment. */
	uint32_t alignment;
	uint32_t per_page;
	uint32_t pages;    /* Pages taken, */
	uint32_t elements; /* what they have: pages * per_page, */
	uint32_t in_use;   /* and so many are handed out; the others are free. */
	struct zone_free *free_list;
	struct list link; /* On the list of all zones. */
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

/* Calls `visit` for every zone in the order of their creation. */
void zone_for_each(void (*visit)(const struct zone *zone, void *context), void *context);

/* Pages that all zones hold together. */
uint32_t zone_pages(void);

#endif
