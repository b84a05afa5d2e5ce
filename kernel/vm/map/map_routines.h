/* SPDX-License-Identifier: MIT */
/*
 * What the calls of Mach's interface about memory share, and those that the kernel makes itself.
 * The generated stubs declare the others.  Guarded by the kernel lock.
 */
#ifndef VM_MAP_MAP_ROUTINES_H
#define VM_MAP_MAP_ROUTINES_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>

struct map_attributes;
struct map_content;
struct vm_map;

/* Whether there is a map and its task has not ended. */
bool map_is_usable(const struct vm_map *map);

/* The whole pages of user memory that a user's range touches; none if the range wraps. */
void map_clip(uint32_t address, uint32_t size, uint32_t *start, uint32_t *bytes);

/*
 * Maps `size` bytes, rounded up, of the content (NULL: zeroes) where the caller of a routine wants
 * it: at `*address`, rounded down, or anywhere, where no bit of `mask` is set; tells in `*address`
 * where.  The content's reference goes over on success.  KERN_NO_SPACE for no bytes or too many,
 * KERN_INVALID_ADDRESS, and as map_enter().
 */
kern_return_t map_place(struct vm_map *map, uint32_t *address, uint32_t size, uint32_t mask,
			bool anywhere, const struct map_attributes *attributes,
			const struct map_content *content);

#endif
