/* SPDX-License-Identifier: MIT */
/*
 * Memory on its way: what out-of-line data is between the sender's map and the receiver's.
 *
 * A copy of a few pages (COPY_PAGES) is pages of its own, copied at once: that is cheaper than two
 * faults.  A larger one (COPY_ENTRIES) is a list of map entries that share the sender's objects for
 * copying: whole pages of them, so that what lies beside the data in its first and last page goes
 * with it, as in Mach.  Guarded by the kernel lock.
 */
#ifndef VM_MAP_COPY_H
#define VM_MAP_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>

#include "base/assert.h"
#include <assay/list.h>
#include "vm/page/page.h"

struct map_entry;
struct object;
struct pager;
struct vm_map;

/* Up to so many pages are copied at once. */
#define COPY_PAGES_MAX 8u

enum copy_kind {
	COPY_PAGES,
	COPY_ENTRIES,
};

struct copy {
	enum copy_kind kind;
	uint32_t offset;   /* Of the first byte in the first page. */
	uint32_t size;     /* In bytes; never 0: no data is no copy. */
	struct list pages; /* COPY_PAGES: nobody's pages, by `link`; zeroes outside of the data. */
	struct list entries; /* COPY_ENTRIES: struct map_entry, `start` from 0 on without gaps. */
	struct pager *pager; /* Whom to tell when it has been received, pager_landed(); or NULL. */
	/*
	 * Between copy_move() and copy_keep(): the entry that shows the pages, and the index of the
	 * first in its object.  Otherwise NULL.
	 */
	struct map_entry *source;
	uint32_t source_index;
};

/* The bytes that the copy has in whole pages from its first on: where its last page ends. */
static inline uint32_t copy_span(const struct copy *copy)
{
	return page_round(copy->offset + copy->size);
}

void copy_module_init(void);

/*
 * A copy of `size` bytes (not 0) at `address` of the map.  KERN_INVALID_ADDRESS,
 * KERN_PROTECTION_FAILURE (not readable), KERN_RESOURCE_SHORTAGE, KERN_ABORTED, what a pager says.
 * A caller that moves the memory takes it out of the map afterwards, when it need not go back any
 * more.  May block.
 */
kern_return_t copy_take(struct vm_map *map, uint32_t address, uint32_t size, struct copy **copy);

/*
 * As copy_take(), for memory that is moved, if nothing waits any more until copy_keep() or
 * copy_destroy(): where that can be, the very pages, which nobody else can see. copy_keep() takes
 * them out of their object, before any of the memory is taken out of the map; the copy is empty
 * until then.
 */
kern_return_t copy_move(struct vm_map *map, uint32_t address, uint32_t size, struct copy **copy);
void copy_keep(struct copy *copy);

/* A copy of the kernel's own bytes; NULL when there is no memory.  Does not block. */
struct copy *copy_of_kernel(const void *data, uint32_t size);

/* An empty COPY_PAGES for `size` bytes, to be given its pages by copy_add_page(); NULL. */
struct copy *copy_for_pages(uint32_t size);
void copy_add_page(struct copy *copy, struct page *page);

/* All of `object`, whose reference goes over on success, as a copy; NULL without memory. */
struct copy *copy_of_object(struct object *object);

/*
 * Puts the copy somewhere into the map, readable and writable, and takes it on success; after a
 * failure it can only be destroyed, or given once more.  May block only if the map wires what is
 * mapped; then it can only be destroyed.
 */
kern_return_t copy_give(struct vm_map *map, struct copy *copy, uint32_t *address);

void copy_destroy(struct copy *copy);

/* ---------------- Contents: copy_contents.c ---------------- */

/* Reads the first `size` bytes of the copy.  May block. */
kern_return_t copy_read(struct copy *copy, void *to, uint32_t size);

/*
 * Writes all bytes of the copy to `address` of the map, where there is memory that may be written
 * to (the caller has seen that).  Whole pages are shared for copying where both sides allow.  What
 * a fault says; part may be done then.  May block.
 */
kern_return_t copy_write_to(struct copy *copy, struct vm_map *map, uint32_t address);

/*
 * Takes the first page off the copy, the caller's own: a page that only the copy has as it is, else
 * a copy of it.  NULL when there is none left.  What a fault says; the copy can only be destroyed
 * then.  May block, for COPY_ENTRIES.
 */
kern_return_t copy_take_page(struct copy *copy, struct page **page);

/* Makes COPY_PAGES of any copy, with such pages.  As above. */
kern_return_t copy_make_pages(struct copy *copy);

/* ---------------- Between the files of copies ---------------- */

/* Where the copy's bytes begin and end in the page at `start` of its span. */
static inline uint32_t copy_first_in(const struct copy *copy, uint32_t start)
{
	return start == 0 ? copy->offset : 0;
}

static inline uint32_t copy_last_in(const struct copy *copy, uint32_t start)
{
	uint32_t left = copy->offset + copy->size - start;

	return left < PAGE_SIZE ? left : PAGE_SIZE;
}

/* Clears what lies outside of the copy's bytes in the page of it at `start` of its span. */
void copy_clear_around(const struct copy *copy, uint32_t start, struct page *page);

/*
 * A page of nobody's; waits for one if need be.  KERN_RESOURCE_SHORTAGE, KERN_ABORTED.  May block.
 */
kern_return_t copy_page_alloc(struct page **page);

/* copy_entries.c: what copy_take(), copy_give() and copy_destroy() do for COPY_ENTRIES.  The first
 * two may block as those do. */
kern_return_t copy_entries_take(struct copy *copy, struct vm_map *map, uint32_t base);
kern_return_t copy_entries_give(struct copy *copy, struct vm_map *map, uint32_t base);
void copy_entries_free(struct copy *copy);

#endif
