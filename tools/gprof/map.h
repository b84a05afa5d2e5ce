/* SPDX-License-Identifier: MIT */
/* Numbers by numbers: what was noted for a process or a task, found in constant time. */
#ifndef GPROF_MAP_H
#define GPROF_MAP_H

#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

/* All zeros: empty. */
struct map {
	struct map_slot *slots;
	size_t room; /* A power of 2. */
	size_t used;
};

/* What was set for the key last; MAP_NONE. */
uint32_t map_get(const struct map *map, uint32_t key);

/* `value` is not MAP_NONE. */
void map_set(struct map *map, uint32_t key, uint32_t value);

void map_free(struct map *map);

#endif
