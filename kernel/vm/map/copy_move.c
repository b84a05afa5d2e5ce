/* SPDX-License-Identifier: MIT */
/*
 * Memory that moves: a copy that is the sender's own pages (vm/map/copy.h).  Guarded by the kernel
 * lock.
 *
 * The pages stay where they are until it is sure that the message can be sent, since nothing waits
 * meanwhile: whoever touches the memory on another CPU waits for the kernel lock.
 */
#include <stddef.h>

#include "base/lock.h"
#include "vm/map/copy.h"
#include "vm/map/map.h"
#include "vm/object/object.h"

/* The entry that shows all of [start, end), and all of whose pages can be taken; or NULL. */
static struct map_entry *copy_move_find_movable(struct vm_map *map, uint32_t start, uint32_t end)
{
	struct map_entry *entry = map_entry_at(map, start);

	if (entry == NULL || entry->end < end || entry->object == NULL || entry->wired)
		return NULL;
	if ((entry->attributes.rights & VM_PROT_READ) == 0 || !map_entry_is_private(entry))
		return NULL;
	for (uint32_t address = start; address < end; address += PAGE_SIZE) {
		const struct page *slot =
			object_slot(entry->object, map_entry_index(entry, address));

		if (!slot_is_page(slot) || slot->wirings > 0)
			return NULL;
	}
	return entry;
}

kern_return_t copy_move(struct vm_map *map, uint32_t address, uint32_t size, struct copy **copy)
{
	struct map_entry *entry;
	struct copy *new;

	assert(kernel_locked());
	if (((address | size) & PAGE_MASK) != 0 || size > COPY_PAGES_MAX * PAGE_SIZE)
		return copy_take(map, address, size, copy);
	entry = copy_move_find_movable(map, address, address + size);
	new = entry == NULL ? NULL : copy_for_pages(size);
	if (new == NULL)
		return copy_take(map, address, size, copy);
	new->source = entry;
	new->source_index = map_entry_index(entry, address);
	*copy = new;
	return KERN_SUCCESS;
}

/* What the object's swap has of the pages is nobody's any more. */
void copy_keep(struct copy *copy)
{
	struct object *object;

	if (copy->source == NULL)
		return;
	object = copy->source->object;
	copy->source = NULL;
	for (uint32_t n = 0; n < copy->size / PAGE_SIZE; n++) {
		struct page *page = object_slot(object, copy->source_index + n);

		assert(slot_is_page(page) && page->wirings == 0);
		object_remove(page, SLOT_EMPTY);
		page->in_swap = false;
		page->dirty = true;
		copy_add_page(copy, page);
	}
}
