/* SPDX-License-Identifier: MIT */
/*
 * Memory that moves: a copy that is the sender's own pages (vm/copy.h).  Guarded by the kernel
 * lock.
 *
 * The pages leave their object before it is sure that the message can be sent, and a mark stays in
 * their slots: so there is memory for their way back.  Nobody looks at the slots meanwhile, since
 * nothing waits; whoever touches the memory on another CPU waits for the kernel lock.
 */
#include <stddef.h>

#include "kern/lock.h"
#include "vm/copy.h"
#include "vm/map.h"
#include "vm/object.h"

/* The entry that shows all of [start, end), and all of whose pages can be taken; or NULL. */
static struct map_entry *find_movable(struct vm_map *map, uint32_t start, uint32_t end)
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
	entry = find_movable(map, address, address + size);
	new = entry == NULL ? NULL : copy_for_pages(size);
	if (new == NULL)
		return copy_take(map, address, size, copy);
	new->source = object_reference(entry->object);
	new->source_index = map_entry_index(entry, address);
	for (uint32_t n = 0; n < size / PAGE_SIZE; n++) {
		struct page *page = object_slot(new->source, new->source_index + n);

		object_remove(page, SLOT_ABSENT);
		copy_add_page(new, page);
	}
	*copy = new;
	return KERN_SUCCESS;
}

void copy_keep(struct copy *copy)
{
	struct list *link;

	if (copy->source == NULL)
		return;
	object_release(copy->source);
	copy->source = NULL;
	list_for_each (link, &copy->pages) {
		struct page *page = list_object(link, struct page, link);

		/* What its object's swap has of it is nobody's any more. */
		page->in_swap = false;
		page->dirty = true;
	}
}

void copy_put_back(struct copy *copy)
{
	struct object *source = copy->source;

	for (uint32_t n = 0; !list_empty(&copy->pages); n++) {
		bool put = object_insert(source, copy->source_index + n, copy_take_page(copy));

		assert(put); /* The slot is not empty. */
	}
	copy->source = NULL;
	object_release(source);
}
