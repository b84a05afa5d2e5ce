/* SPDX-License-Identifier: MIT */
/*
 * A task's memory: pages of its own at fixed addresses, present from the moment they are mapped.
 *
 * The page tables are the whole record of what is mapped: every page of the range is present and
 * belongs to this map alone.  Guarded by the kernel lock.
 */
#ifndef VM_MAP_H
#define VM_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>

struct pmap;

struct vm_map {
	struct pmap *pmap;
};

void map_module_init(void);

/* An empty map, or NULL when there is no memory. */
struct vm_map *map_create(void);

/* Frees the map and its pages; loaded on no CPU. */
void map_destroy(struct vm_map *map);

/*
 * Maps zeroed pages from `start`, with `rights` (ASSAY_READ and so on, READ among them).  All or
 * nothing: KERN_INVALID_ARGUMENT for a range that is not of whole user pages or rights that make no
 * sense, KERN_NO_SPACE if part of it is mapped, KERN_RESOURCE_SHORTAGE when there is no memory.
 */
kern_return_t map_allocate(struct vm_map *map, uint32_t start, uint32_t size, uint32_t rights);

/* Unmaps and frees; addresses where nothing is mapped are passed over. */
kern_return_t map_release(struct vm_map *map, uint32_t start, uint32_t size);

/* Changes the rights; KERN_INVALID_ADDRESS, and nothing changed, if part of it is not mapped. */
kern_return_t map_protect(struct vm_map *map, uint32_t start, uint32_t size, uint32_t rights);

/* Copies into mapped pages whatever their rights: for the loader.  The range must be mapped. */
void map_write(struct vm_map *map, uint32_t address, const void *from, uint32_t size);

#endif
