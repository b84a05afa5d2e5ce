/* SPDX-License-Identifier: MIT */
/*
 * Copying what a map shows, without copying pages: for a child that inherits it, and for memory on
 * its way (vm/map/copy.h).  Guarded by the kernel lock.
 *
 * Both sides show the same object and are copy-pending then, or whatever else the object says
 * (vm/object/object.h).  What nobody may write to any more is told to the CPUs in runs of entries.
 */
#include <stddef.h>

#include "base/assert.h"
#include "base/lock.h"
#include "i386/mmu/pmap.h"
#include "thread/work.h"
#include "vm/map/map.h"
#include "vm/object/object.h"

/* ---------------- Copying ---------------- */

void map_run_flush(struct map_run *run)
{
	if (run->end > run->start)
		pmap_protect(run->map->pmap, run->start, run->end, PMAP_READ | PMAP_EXECUTE);
	run->start = 0;
	run->end = 0;
}

static void inherit_run_add(struct map_run *run, const struct map_entry *entry)
{
	if ((entry->attributes.rights & VM_PROT_WRITE) == 0)
		return;
	if (run->end != entry->start) {
		map_run_flush(run);
		run->start = entry->start;
	}
	run->end = entry->end;
}

/* Copying asks a pager, or copies pages at once: that may wait, whatever the entry. */
static bool inherit_copying_waits(const struct map_entry *entry)
{
	return entry->wired || entry->object->pager != NULL || entry->object->kernel;
}

/*
 * Copies a piece of an entry's object that may have to be waited for.  The entry may be gone
 * afterwards; whoever had it mapped when this was called has been copied.  An object like this
 * never makes the entry pending.
 */
static kern_return_t inherit_copy_waiting(struct map_run *run, struct map_entry *entry,
					  uint32_t index, uint32_t pages,
					  struct map_content *content)
{
	struct object *object = entry->object;
	bool pending = false;
	kern_return_t result;

	map_run_flush(run);
	if (!entry->wired)
		return object_copy(run->map->payer, object, index, pages, true, &content->object,
				   &content->index, &pending);
	object_reference(object);
	content->index = 0;
	result = object_copy_now(run->map->payer, object, index, pages, &content->object);
	object_release(object);
	return result;
}

/* Others that showed the same are gone. */
static void inherit_leave_sharing(struct map_entry *entry)
{
	if (entry->object->refs == 1)
		entry->shared = false;
}

/*
 * Whether to make the piece an entry of its own, before it becomes pending: what is beside it would
 * be copied for nothing when it is written to.  At most as much as the piece is put up with, so
 * that who sends a buffer now and then keeps it in one entry.
 */
static bool inherit_is_worth_splitting(const struct map_entry *entry, uint32_t start, uint32_t end)
{
	return !entry->pending && !entry->shared && (entry->end - entry->start) / 2 > end - start;
}

/*
 * Whether the entry shows an object of which others show other parts, as is so once an entry has
 * been split, and could do with an object of its own.
 */
static bool inherit_is_worth_separating(const struct map_entry *entry)
{
	const struct object *object = entry->object;

	return object->refs > 1 && !entry->pending && !entry->shared &&
	       map_entry_is_private(entry) && object->shadow == NULL && object->n_swapped == 0 &&
	       object->n_unsettled == 0;
}

/*
 * Gives the entry an object of its own with its pages: else those would stay in the other one when
 * they have been copied, seen by nobody, as long as the other parts are there.  Without memory it
 * stays as it is, or what is still in the other object is behind the new one.
 */
static void inherit_separate(struct map_entry *entry)
{
	struct object *from = entry->object;
	uint32_t first = entry->index;
	uint32_t end = first + map_entry_pages(entry);
	struct object *to = object_create_for(from->payer, end - first);
	struct page *slot;

	if (to == NULL)
		return;
	entry->object = to;
	entry->index = 0;
	for (uint32_t index = first;
	     (slot = page_tree_next(&from->slots, &index, end)) != SLOT_EMPTY; index++) {
		if (slot_is_page(slot) && !object_move_page(slot, to, index - first)) {
			to->shadow = from;
			to->shadow_index = first;
			return;
		}
		pause_each();
	}
	object_release(from);
}

static kern_return_t inherit_copy_at_once(struct map_run *run, struct map_entry *entry,
					  uint32_t start, uint32_t end, struct map_content *content)
{
	bool pending = false;
	kern_return_t result;

	inherit_leave_sharing(entry);
	if (inherit_is_worth_splitting(entry, start, end)) {
		if (!map_split(run->map, &entry, start, end))
			return KERN_RESOURCE_SHORTAGE;
	}
	if (inherit_is_worth_separating(entry))
		inherit_separate(entry);
	object_unite(&entry->object, &entry->index);
	result = object_copy(run->map->payer, entry->object, map_entry_index(entry, start),
			     (end - start) / PAGE_SIZE, entry->shared, &content->object,
			     &content->index, &pending);
	if (result == KERN_SUCCESS && pending && !entry->pending) {
		entry->pending = true;
		inherit_run_add(run, entry);
	}
	return result;
}

kern_return_t map_copy_part(struct map_run *run, uint32_t start, uint32_t *end,
			    struct map_content *content)
{
	struct map_entry *entry = map_entry_at(run->map, start);

	assert(start < *end);
	if (entry == NULL)
		return KERN_INVALID_ADDRESS;
	if (entry->end < *end)
		*end = entry->end;
	*content = (struct map_content){.pending = true};
	if (entry->object == NULL) {
		content->pending = false;
		return KERN_SUCCESS;
	}
	if (inherit_copying_waits(entry))
		return inherit_copy_waiting(run, entry, map_entry_index(entry, start),
					    (*end - start) / PAGE_SIZE, content);
	return inherit_copy_at_once(run, entry, start, *end, content);
}

/* ---------------- Inheriting ---------------- */

/* Appends to the child what is above all that it has; takes the content's reference on success. */
static kern_return_t inherit_append(struct vm_map *child, uint32_t start, uint32_t end,
				    const struct map_attributes *attributes,
				    const struct map_content *content)
{
	struct map_entry *entry = map_entry_alloc_for(child);

	if (entry == NULL)
		return KERN_RESOURCE_SHORTAGE;
	*entry = (struct map_entry){
		.start = start,
		.end = end,
		.object = content->object,
		.index = content->index,
		.attributes = *attributes,
		.pending = content->pending,
		.shared = content->shared,
	};
	map_entry_link(child, entry, map_entry_last(child), NULL);
	map_count(child, attributes, end - start);
	return KERN_SUCCESS;
}

/* The content of an entry, from `start` on, that shares it with the child's from now on. */
static kern_return_t inherit_share(const struct vm_map *parent, struct map_entry *entry,
				   uint32_t start, struct map_content *content)
{
	if (!map_entry_make_object(parent, entry) || !map_entry_make_own(parent, entry))
		return KERN_RESOURCE_SHORTAGE;
	entry->shared = true;
	*content = (struct map_content){
		.object = object_reference(entry->object),
		.index = map_entry_index(entry, start),
		.shared = true,
	};
	return KERN_SUCCESS;
}

/* Gives the child what it inherits of the entry, from *end on and up to where it sets *end. */
static kern_return_t inherit_entry(struct map_run *run, struct map_entry *entry, uint32_t *end,
				   struct vm_map *child)
{
	struct map_attributes attributes = entry->attributes;
	uint32_t start = *end < entry->start ? entry->start : *end;
	struct map_content content;
	kern_return_t result;

	*end = entry->end;
	if (attributes.inheritance == VM_INHERIT_NONE)
		return KERN_SUCCESS;
	if (attributes.inheritance == VM_INHERIT_SHARE)
		result = inherit_share(run->map, entry, start, &content);
	else
		result = map_copy_part(run, start, end, &content);
	if (result != KERN_SUCCESS)
		return result;
	result = inherit_append(child, start, *end, &attributes, &content);
	if (result != KERN_SUCCESS && content.object != NULL)
		object_release(content.object);
	return result;
}

/*
 * The parent's entries may be different ones after each: only the address counts, and it may lie
 * within one that begins below it.
 */
static kern_return_t inherit_all(struct vm_map *parent, struct vm_map *child)
{
	struct map_run run = {.map = parent};
	kern_return_t result = KERN_SUCCESS;
	struct map_entry *entry;
	uint32_t address = 0;

	while (result == KERN_SUCCESS && parent->active &&
	       (entry = map_entry_from(parent, address)) != NULL) {
		result = inherit_entry(&run, entry, &address, child);
		pause_each();
	}
	if (!parent->active)
		return KERN_INVALID_ARGUMENT;
	map_run_flush(&run);
	return result;
}

kern_return_t map_inherit(struct vm_map *parent, struct vm_map **child)
{
	struct vm_map *map = map_create(parent->payer);
	kern_return_t result;

	assert(kernel_locked());
	assert(parent->magic == MAP_MAGIC && parent->active);
	if (map == NULL)
		return KERN_RESOURCE_SHORTAGE;
	result = inherit_all(parent, map);
	if (result != KERN_SUCCESS) {
		map_destroy(map);
		return result;
	}
	map->hint = parent->hint;
	map->size_limit = parent->size_limit;
	map->size_limit_max = parent->size_limit_max;
	*child = map;
	return KERN_SUCCESS;
}
