/* SPDX-License-Identifier: MIT */
/*
 * Memory on its way: what out-of-line data is between the sender's map and the receiver's.
 *
 * A copy is pages of its own, and which bytes of them are meant.  It is made at once, whole, before
 * anything else is done with it.  Guarded by the kernel lock.
 */
#ifndef VM_COPY_H
#define VM_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>

#include "kern/list.h"

struct vm_map;

struct copy {
	uint32_t offset; /* Of the first byte in the first page. */
	uint32_t size;   /* In bytes; never 0: no data is no copy. */
	struct list pages;
};

void copy_module_init(void);

/*
 * A copy of `size` bytes (not 0) at `address` of the map.  KERN_INVALID_ADDRESS,
 * KERN_PROTECTION_FAILURE (not readable), KERN_RESOURCE_SHORTAGE.  A caller that moves the memory
 * takes it out of the map afterwards, when it need not go back any more.
 */
kern_return_t copy_take(struct vm_map *map, uint32_t address, uint32_t size, struct copy **copy);

/* A copy of the kernel's own bytes; NULL when there is no memory. */
struct copy *copy_of_kernel(const void *data, uint32_t size);

/* Puts the copy somewhere into the map, readable and writable, and takes it on success. */
kern_return_t copy_give(struct vm_map *map, struct copy *copy, uint32_t *address);

void copy_destroy(struct copy *copy);

/* Reads the first `size` bytes of the copy. */
void copy_read(const struct copy *copy, void *to, uint32_t size);

/* Writes all bytes of the copy to `address` of the map, where there are pages for them. */
void copy_write_to(const struct copy *copy, struct vm_map *map, uint32_t address);

#endif
