/* SPDX-License-Identifier: MIT */
/* A hash table with open addresses, at most half full.  See map.h. */
#include "map.h"

#include <assert.h>
#include <stdlib.h>

#include "util.h"

#define ROOM_FIRST 64u

struct map_slot {
	uint32_t key;
	uint32_t value; /* MAP_NONE: free. */
};

/* The key's slot, or the free one where it would be. */
static struct map_slot *map_find(const struct map *map, uint32_t key)
{
	size_t at = (size_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & (map->room - 1);

	while (map->slots[at].value != MAP_NONE && map->slots[at].key != key)
		at = (at + 1) & (map->room - 1);
	return &map->slots[at];
}

static void map_double_room(struct map *map)
{
	struct map bigger = {.room = map->room == 0 ? ROOM_FIRST : 2 * map->room};

	bigger.used = map->used;
	bigger.slots = allocate(bigger.room, sizeof(*bigger.slots));
	for (size_t i = 0; i < bigger.room; i++)
		bigger.slots[i].value = MAP_NONE;
	for (size_t i = 0; i < map->room; i++)
		if (map->slots[i].value != MAP_NONE)
			*map_find(&bigger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = bigger;
}

uint32_t map_get(const struct map *map, uint32_t key)
{
	return map->room == 0 ? MAP_NONE : map_find(map, key)->value;
}

void map_set(struct map *map, uint32_t key, uint32_t value)
{
	struct map_slot *slot;

	assert(value != MAP_NONE);
	if (2 * map->used >= map->room)
		map_double_room(map);
	slot = map_find(map, key);
	if (slot->value == MAP_NONE)
		map->used++;
	*slot = (struct map_slot){key, value};
}

void map_free(struct map *map)
{
	free(map->slots);
	*map = (struct map){0};
}
