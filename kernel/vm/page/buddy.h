/* SPDX-License-Identifier: MIT */
/*
 * A buddy allocator of numbers: ranges of whole powers of two out of 0 to `units` - 1.
 *
 * It keeps, for every node of a binary tree over the units, the largest free piece below it, so
 * that taking and giving back cost one walk between the root and a leaf, whatever was done before.
 * It touches nothing but its own tree.  The caller holds whatever guards it.
 */
#ifndef VM_PAGE_BUDDY_H
#define VM_PAGE_BUDDY_H

#include <stdint.h>

#define BUDDY_NONE UINT32_MAX

struct buddy {
	uint32_t units; /* A power of two. */
	/*
	 * By node: 0 if nothing below it is free, else 1 + the order of the largest free piece.
	 * Node 1 is the root, 2n and 2n + 1 are the children of n; 2 * units nodes.
	 */
	uint8_t *free;
	uint32_t in_use; /* Units handed out, with what rounding adds. */
};

/* `tree` is room for 2 * units bytes; everything is free. */
void buddy_init(struct buddy *buddy, uint8_t *tree, uint32_t units);

/* The first of at least `count` units (not 0), lowest place first; BUDDY_NONE if there are none. */
uint32_t buddy_alloc(struct buddy *buddy, uint32_t count);

/* Takes back what buddy_alloc() gave for `count`. */
void buddy_free(struct buddy *buddy, uint32_t first, uint32_t count);

#endif
