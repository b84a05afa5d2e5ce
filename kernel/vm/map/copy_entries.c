/* SPDX-License-Identifier: MIT */
/*
 * Copies of entries: see copy.h.  Guarded by the kernel lock.
 *
 * The entries of a copy are those of a map, but that `start` counts from the copy's first page and
 * that the attributes mean nothing: they become those of new memory in the map that gets them.
 */
#include <stddef.h>

#include "base/lock.h"
#include "i386/cpu/memory.h"
#include "thread/work.h"
#include "vm/map/copy.h"
#include "vm/map/map.h"
#include "vm/object/object.h"

static struct map_entry *copy_entry_of_link(struct list *link)
{
	return list_object(link, struct map_entry, link);
}

void copy_entries_free(struct copy *copy)
{
	while (!list_empty(&copy->entries)) {
		struct map_entry *entry = copy_entry_of_link(list_take_first(&copy->entries));

		if (entry->object != NULL)
			object_release(entry->object);
		map_entry_free(entry);
		pause_each();
	}
}

/* ---------------- Out of a map ---------------- */

/* Appends [start, end) of the copy; takes the content's reference on success. */
static bool copy_entries_append(struct copy *copy, uint32_t start, uint32_t end,
				const struct map_content *content)
{
	struct map_entry *entry = map_entry_alloc();

	if (entry == NULL)
		return false;
	*entry = (struct map_entry){
		.start = start,
		.end = end,
		.object = content->object,
		.index = content->index,
		.pending = content->pending,
	};
	list_add_last(&copy->entries, &entry->link);
	return true;
}

/* Copies what the map shows from `start` on, up to `*end` or the end of one entry. */
static kern_return_t copy_entries_take_part(struct copy *copy, struct map_run *run, uint32_t base,
					    uint32_t start, uint32_t *end)
{
	struct map_entry *entry = map_entry_at(run->map, start);
	struct map_content content;
	kern_return_t result;

	if (entry == NULL)
		return KERN_INVALID_ADDRESS;
	if ((entry->attributes.rights & VM_PROT_READ) == 0)
		return KERN_PROTECTION_FAILURE;
	result = map_copy_part(run, start, end, &content);
	if (result == KERN_SUCCESS &&
	    !copy_entries_append(copy, start - base, *end - base, &content)) {
		if (content.object != NULL)
			object_release(content.object);
		result = KERN_RESOURCE_SHORTAGE;
	}
	return result;
}

kern_return_t copy_entries_take(struct copy *copy, struct vm_map *map, uint32_t base)
{
	uint32_t end = base + copy_span(copy);
	struct map_run run = {.map = map};
	kern_return_t result = KERN_SUCCESS;
	uint32_t start = base;

	copy->kind = COPY_ENTRIES;
	while (start < end && result == KERN_SUCCESS) {
		uint32_t part_end = end;

		result = copy_entries_take_part(copy, &run, base, start, &part_end);
		start = part_end;
		pause_each();
	}
	map_run_flush(&run);
	return result;
}

/* ---------------- Into a map ---------------- */

/* Whether there is room at [start, end); where there is, between which entries. */
static bool copy_entries_find_neighbours(struct vm_map *map, uint32_t start, uint32_t end,
					 struct map_entry **before, struct map_entry **after)
{
	*after = map_entry_from(map, start);
	*before = *after == NULL ? map_entry_last(map) : map_entry_previous(map, *after);
	if (*after != NULL && (*after)->start < end)
		return false;
	return map_allows(map, VM_PROT_DEFAULT, end - start);
}

/* The entries move into the map, which has room for them: nothing of that can fail. */
static void copy_entries_move_entries(struct copy *copy, struct vm_map *map, uint32_t base,
				      struct map_entry *before, struct map_entry *after)
{
	const struct map_attributes usual = {VM_PROT_DEFAULT, VM_PROT_ALL, VM_INHERIT_DEFAULT};

	while (!list_empty(&copy->entries)) {
		struct map_entry *entry = copy_entry_of_link(list_take_first(&copy->entries));

		entry->start += base;
		entry->end += base;
		entry->attributes = usual;
		map_entry_link(map, entry, before, after);
		before = entry;
		pause_each();
	}
	map_count(map, &usual, copy_span(copy));
}

/* Whether the map's payer may have the entries. */
static bool copy_entries_are_allowed(const struct copy *copy, struct vm_map *map)
{
	uint32_t n = 0;

	if (map->payer == NULL)
		return true;
	list_for_each_object (struct map_entry, entry, &copy->entries, link) {
		n++;
		pause_each();
	}
	return map_entries_are_paid(map, n);
}

kern_return_t copy_entries_give(struct copy *copy, struct vm_map *map, uint32_t base)
{
	uint32_t size = copy_span(copy);
	struct map_entry *before, *after;
	kern_return_t result;

	assert(kernel_locked());
	assert(map->active);
	if (base < USER_START || base > USER_END || size > USER_END - base)
		return KERN_INVALID_ADDRESS;
	if (!copy_entries_are_allowed(copy, map))
		return KERN_RESOURCE_SHORTAGE;
	if (!copy_entries_find_neighbours(map, base, base + size, &before, &after))
		return KERN_NO_SPACE;
	copy_entries_move_entries(copy, map, base, before, after);
	if (!map->wire_future)
		return KERN_SUCCESS;
	result = map_wire(map, base, size, true);
	if (result != KERN_SUCCESS && map->active)
		map_deallocate(map, base, size);
	return result;
}
