/* SPDX-License-Identifier: MIT */
/*
 * A task's memory: pages at fixed addresses, present from the moment they are mapped.
 *
 * The page tables, and the structures of the pages that they name, are the whole record of what is
 * mapped.  A page belongs to one map, unless it was inherited, as shared memory or to be copied
 * with the first write: then each map that has it counts in its `mappings`.  Guarded by the kernel
 * lock.
 *
 * Addresses and sizes are of whole pages unless a function says that it takes bytes.
 */
#ifndef VM_MAP_H
#define VM_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/vm_inherit.h>
#include <mach/vm_prot.h>

#include "kern/assert.h"

struct page;
struct pmap;

#define MAP_MAGIC 0x564d4150u

struct vm_map {
	uint32_t magic; /* MAP_MAGIC */
	uint32_t refs;
	bool active; /* False from map_terminate() on: there is no memory and no pmap. */
	struct pmap *pmap;
	uint32_t hint;           /* Where the search for free space begins. */
	uint32_t size_limit;     /* Bytes that may be mapped, */
	uint32_t size_limit_max; /* and what the limit may be raised to. */
};

/* How memory is mapped, and what its task may make of it. */
struct map_attributes {
	uint32_t rights;     /* ASSAY_READ and so on, which are VM_PROT_READ and so on. */
	uint32_t max_rights; /* The most that they may become. */
	vm_inherit_t inheritance;
};

/* A piece of a map whose pages all have the same attributes. */
struct map_region {
	uint32_t start;
	uint32_t size;
	struct map_attributes attributes;
	bool shared;
};

void map_module_init(void);

/* An empty map with one reference, or NULL when there is no memory. */
struct vm_map *map_create(void);

/* A new map with what `parent` leaves to a child; NULL when there is no memory. */
struct vm_map *map_inherit(struct vm_map *parent);

static inline struct vm_map *map_reference(struct vm_map *map)
{
	assert(map->magic == MAP_MAGIC && map->refs > 0);
	map->refs++;
	return map;
}

/* Gives up one reference; with the last goes the structure, whose map must have been terminated. */
void map_release(struct vm_map *map);

/* Frees the pages and the page tables; loaded on no CPU.  Takes no reference. */
void map_terminate(struct vm_map *map);

/* Both, for a map that nobody else has seen. */
void map_destroy(struct vm_map *map);

/*
 * Maps zeroed pages from `start`, with `rights` (ASSAY_READ and so on, READ among them).  All or
 * nothing: KERN_INVALID_ARGUMENT for a range that is not of whole user pages or rights that make no
 * sense, KERN_NO_SPACE if part of it is mapped or the map's limit is reached,
 * KERN_RESOURCE_SHORTAGE when there is no memory.
 */
kern_return_t map_allocate(struct vm_map *map, uint32_t start, uint32_t size, uint32_t rights);

/* The same with every attribute, which make sense; with no right at all, too. */
kern_return_t map_allocate_as(struct vm_map *map, uint32_t start, uint32_t size,
			      const struct map_attributes *attributes);

/*
 * Finds `size` bytes (not 0) where nothing is mapped, at an address with none of the bits of
 * `mask`; KERN_NO_SPACE.  Maps nothing.  Looks first behind what was found last.
 */
kern_return_t map_find_space(struct vm_map *map, uint32_t size, uint32_t mask, uint32_t *start);

/*
 * Maps a page of the kernel's, readable and writable, where nothing is mapped; the map has it then.
 * KERN_RESOURCE_SHORTAGE without a table, KERN_NO_SPACE beyond the limit.
 */
kern_return_t map_enter_page(struct vm_map *map, uint32_t address, struct page *page);

/* Unmaps and frees; addresses where nothing is mapped are passed over. */
kern_return_t map_deallocate(struct vm_map *map, uint32_t start, uint32_t size);

/* Takes the translations away of pages that the caller has taken for itself (vm/copy.c). */
void map_forget(struct vm_map *map, uint32_t start, uint32_t size);

/* Changes the rights; KERN_INVALID_ADDRESS, and nothing changed, if part of it is not mapped. */
kern_return_t map_protect(struct vm_map *map, uint32_t start, uint32_t size, uint32_t rights);

/*
 * Whether every byte of the range is mapped and has all of `rights`: KERN_SUCCESS,
 * KERN_INVALID_ADDRESS or KERN_PROTECTION_FAILURE.  Takes bytes, any number of them.
 */
kern_return_t map_check(struct vm_map *map, uint32_t address, uint32_t size, uint32_t rights);

/*
 * Copies into or out of mapped pages whatever their rights.  The range, in bytes, must be mapped;
 * for writing, the map must have been given its own pages (map_own()) unless nobody has inherited
 * from it.
 */
void map_write(struct vm_map *map, uint32_t address, const void *from, uint32_t size);
void map_read(struct vm_map *map, uint32_t address, void *to, uint32_t size);

/* The same from one mapped place to another, which is not in the source above its beginning. */
void map_copy(struct vm_map *map, uint32_t from, uint32_t size, uint32_t to);

/*
 * Where the byte at `address`, which is mapped, lies in physical memory, and stays as long as it is
 * mapped.  KERN_RESOURCE_SHORTAGE.
 */
kern_return_t map_physical(struct vm_map *map, uint32_t address, uint32_t *physical);

/* Bytes that are mapped; 0 for a map that was terminated. */
uint32_t map_size(const struct vm_map *map);

/* ---------------- Copy on write: inherit.c ---------------- */

/*
 * Gives the map pages of its own for those of the range, in bytes and mapped, that it shares for
 * copying: what is written to them now nobody else sees.  KERN_RESOURCE_SHORTAGE; some may have
 * been copied then, which nobody notices.
 */
kern_return_t map_own(struct vm_map *map, uint32_t address, uint32_t size);
kern_return_t map_own_page(struct vm_map *map, uint32_t address);

/*
 * A CPU was not let write at `address`.  KERN_SUCCESS: it is to try again.  Otherwise why it may
 * not: KERN_INVALID_ADDRESS, KERN_PROTECTION_FAILURE, or KERN_RESOURCE_SHORTAGE for the copy.
 */
kern_return_t map_write_fault(struct vm_map *map, uint32_t address);

/* ---------------- Attributes: map_attributes.c ---------------- */

/*
 * As Mach's vm_protect() and vm_inherit(): what is not mapped in the range is passed over.
 * map_set_rights() changes nothing and returns KERN_PROTECTION_FAILURE if some of it may not have
 * `rights`.  With `maximum` they become the most that it may have.  Pages whose attributes change
 * are copied if they are shared for copying; KERN_RESOURCE_SHORTAGE when that fails, with the pages
 * below changed.
 */
kern_return_t map_set_rights(struct vm_map *map, uint32_t start, uint32_t size, bool maximum,
			     uint32_t rights);
kern_return_t map_set_inheritance(struct vm_map *map, uint32_t start, uint32_t size,
				  vm_inherit_t inheritance);

/* The region at `address`, or the next one above; false if there is none. */
bool map_find_region(struct vm_map *map, uint32_t address, struct map_region *region);

#endif
