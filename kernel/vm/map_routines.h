/* SPDX-License-Identifier: MIT */
/*
 * What the calls of Mach's interface about memory share, and those that the kernel makes itself.
 * The generated stubs declare the others.  Guarded by the kernel lock.
 */
#ifndef VM_MAP_ROUTINES_H
#define VM_MAP_ROUTINES_H

#include <stdbool.h>
#include <stdint.h>

struct vm_map;

/* Whether there is a map and its task has not ended. */
bool map_is_usable(const struct vm_map *map);

/* The whole pages of user memory that a user's range touches; none if the range wraps. */
void map_clip(uint32_t address, uint32_t size, uint32_t *start, uint32_t *bytes);

#endif
