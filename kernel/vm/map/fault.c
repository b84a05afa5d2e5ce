/* SPDX-License-Identifier: MIT */
/*
 * Faults in maps: see fault.h.  What a map entry shows is found by vm/map/touch.c; here are the
 * entries before that and the page tables after it.  Guarded by the kernel lock.
 */
#include "vm/map/fault.h"

#include <mach/vm_prot.h>

#include "base/assert.h"
#include "base/lock.h"
#include "i386/mmu/pmap.h"
#include "prof/stream.h"
#include "task/task.h"
#include "thread/work.h"
#include "vm/map/map.h"
#include "vm/map/touch.h"
#include "vm/object/object.h"
#include "vm/page/page.h"
#include "vm/page/page_queue.h"

struct fault_counts host_faults;

void fault_event(enum fault_flavor flavor)
{
	struct task *task = current_thread()->task;

	assert(flavor < FAULT_FLAVORS);
	host_faults.n[flavor]++;
	if (task != NULL)
		task->faults.n[flavor]++;
	if (stream_event_takers != 0)
		stream_event(flavor, (uint32_t)__builtin_return_address(0));
}

/* ---------------- Entries ---------------- */

/* The entry that has `address`: often the same as last time.  NULL if none has. */
static inline struct map_entry *fault_entry_at(struct vm_map *map, uint32_t address)
{
	struct map_entry *last = map->last;

	assert(map->magic == MAP_MAGIC);
	if (last != NULL && address - last->start < last->end - last->start)
		return last;
	return map->active ? map_entry_at(map, address) : NULL;
}

/* What the entry lets the CPU do: who may do anything may read. */
static inline uint32_t fault_entry_rights(const struct map_entry *entry)
{
	uint32_t rights = entry->attributes.rights;

	return rights == VM_PROT_NONE ? VM_PROT_NONE : rights | VM_PROT_READ;
}

/* Touches what the entry shows at `address`, which it has: as touch_page(). */
static inline kern_return_t fault_touch_entry(struct vm_map *map, struct touch *touch,
					      struct map_entry *entry, uint32_t address)
{
	if (entry->object == NULL && !map_entry_make_object(map, entry))
		return touch_shortage();
	if (entry->pending && touch->own && !map_entry_make_own(map, entry))
		return touch_shortage();
	touch->wired = entry->wired;
	touch->map = map;
	return touch_page(touch, entry->object, map_entry_index(entry, address));
}

/* ---------------- Faults ---------------- */

/* Maps what the touch has found; it is there when a next attempt has to be made. */
static inline kern_return_t fault_enter(struct vm_map *map, const struct map_entry *entry,
					uint32_t address, const struct touch *touch)
{
	uint32_t rights = fault_entry_rights(entry) & touch->allowed;

	if (entry->pending)
		rights &= ~(uint32_t)VM_PROT_WRITE;
	if (pmap_enter(map->pmap, page_trunc(address), touch->page, rights))
		return KERN_SUCCESS;
	return touch_shortage();
}

/* One attempt, without a wait if it is KERN_SUCCESS. */
static inline kern_return_t fault_attempt(struct vm_map *map, uint32_t address, struct touch *touch)
{
	struct map_entry *entry = fault_entry_at(map, address);
	kern_return_t result;

	if (entry == NULL)
		return KERN_INVALID_ADDRESS;
	if ((touch->rights & ~fault_entry_rights(entry)) != 0)
		return KERN_PROTECTION_FAILURE;
	result = fault_touch_entry(map, touch, entry, address);
	return result == KERN_SUCCESS ? fault_enter(map, entry, address, touch) : result;
}

kern_return_t fault(struct vm_map *map, uint32_t address, uint32_t rights)
{
	struct touch touch = {
		.rights = rights | VM_PROT_READ,
		.own = (rights & VM_PROT_WRITE) != 0,
		.zero = true,
	};
	kern_return_t result;

	assert(kernel_locked());
	do
		result = fault_attempt(map, address, &touch);
	while (result == TOUCH_AGAIN);
	if (result == KERN_SUCCESS)
		fault_event(FAULT_ANY);
	return result;
}

/* ---------------- Touches of the kernel's ---------------- */

static kern_return_t fault_attempt_page(struct vm_map *map, uint32_t address, bool force,
					struct touch *touch)
{
	struct map_entry *entry = fault_entry_at(map, address);

	if (entry == NULL)
		return KERN_INVALID_ADDRESS;
	if (!force && (touch->rights & ~fault_entry_rights(entry)) != 0)
		return KERN_PROTECTION_FAILURE;
	return fault_touch_entry(map, touch, entry, address);
}

/* The kernel writes by another way than the map's tasks, whose page tables would not tell of it. */
kern_return_t fault_page(struct vm_map *map, uint32_t address, uint32_t rights, bool force,
			 struct page **page)
{
	bool write = (rights & VM_PROT_WRITE) != 0;
	struct touch touch = {.rights = rights | VM_PROT_READ, .own = write, .zero = true};
	kern_return_t result;

	assert(kernel_locked());
	do
		result = fault_attempt_page(map, address, force, &touch);
	while (result == TOUCH_AGAIN);
	if (result != KERN_SUCCESS)
		return result;
	if (touch.worked)
		fault_event(FAULT_ANY);
	if (touch.copied)
		pmap_remove(map->pmap, page_trunc(address), page_trunc(address) + PAGE_SIZE);
	if (write)
		touch.page->dirty = true;
	*page = touch.page;
	return KERN_SUCCESS;
}

kern_return_t fault_object_page(struct object *object, uint32_t index, struct page **page)
{
	struct touch touch = {.rights = VM_PROT_READ};
	kern_return_t result;

	assert(kernel_locked());
	do
		result = touch_page(&touch, object, index);
	while (result == TOUCH_AGAIN);
	if (result != KERN_SUCCESS)
		return result;
	if (touch.worked)
		fault_event(FAULT_ANY);
	*page = touch.page;
	return KERN_SUCCESS;
}

/* ---------------- Wiring ---------------- */

/*
 * To wire a range takes waits, and what was wired before one could be unmapped in it.  So all is
 * brought first, and then wired without a wait if it is all still there; where memory is so short
 * that it never is, that ends after so many rounds.
 */
#define WIRE_ROUNDS 16

/* The page is to be that of the entry's own object: nobody's copying takes its place then. */
static kern_return_t fault_attempt_own(struct vm_map *map, uint32_t address, struct touch *touch)
{
	struct map_entry *entry = fault_entry_at(map, address);
	kern_return_t result;

	if (entry == NULL)
		return KERN_INVALID_ADDRESS;
	touch->rights = fault_entry_rights(entry) | VM_PROT_READ;
	result = fault_touch_entry(map, touch, entry, address);
	if (result != KERN_SUCCESS || fault_entry_rights(entry) == VM_PROT_NONE)
		return result;
	return fault_enter(map, entry, address, touch);
}

static kern_return_t fault_bring(struct vm_map *map, uint32_t address)
{
	struct touch touch = {.own = true, .zero = true};
	kern_return_t result;

	do
		result = fault_attempt_own(map, address, &touch);
	while (result == TOUCH_AGAIN);
	if (result == KERN_SUCCESS && touch.worked)
		fault_event(FAULT_ANY);
	return result;
}

static kern_return_t fault_bring_all(struct vm_map *map, uint32_t start, uint32_t end)
{
	kern_return_t result = KERN_SUCCESS;

	for (uint32_t address = start; address < end && result == KERN_SUCCESS;
	     address += PAGE_SIZE) {
		result = fault_bring(map, address);
		if (address / PAGE_SIZE % 16 == 0)
			kernel_rest();
	}
	return result;
}

/* What fault_bring() has brought there, or NULL if it has gone again. */
static struct page *fault_brought(struct vm_map *map, uint32_t address)
{
	const struct map_entry *entry = fault_entry_at(map, address);
	struct page *slot;
	uint32_t rights;

	if (entry == NULL || entry->object == NULL || entry->pending)
		return NULL;
	slot = object_slot(entry->object, map_entry_index(entry, address));
	if (!slot_is_page(slot))
		return NULL;
	if (fault_entry_rights(entry) == VM_PROT_NONE)
		return slot;
	return pmap_lookup(map->pmap, address, &rights) == slot ? slot : NULL;
}

/* Does not block; false, and nothing is wired, if something has gone. */
static bool fault_wire_all(struct vm_map *map, uint32_t start, uint32_t end)
{
	for (uint32_t address = start; address < end; address += PAGE_SIZE) {
		struct page *page = fault_brought(map, address);

		if (page == NULL) {
			fault_unwire(map, start, address);
			return false;
		}
		page_wire(page);
		pause_each();
	}
	return true;
}

kern_return_t fault_wire(struct vm_map *map, uint32_t start, uint32_t end)
{
	assert(kernel_locked());
	assert(((start | end) & PAGE_MASK) == 0);
	/* What cannot be there at once would only drive out what has been brought. */
	if ((end - start) / PAGE_SIZE > page_count(PAGE_FREE) + page_count(PAGE_USER))
		return KERN_RESOURCE_SHORTAGE;
	for (unsigned round = 0; round < WIRE_ROUNDS; round++) {
		kern_return_t result = fault_bring_all(map, start, end);

		if (result != KERN_SUCCESS)
			return result;
		if (fault_wire_all(map, start, end))
			return KERN_SUCCESS;
	}
	return KERN_RESOURCE_SHORTAGE;
}

/* The page that is seen at `address`: an entry that has become copy-pending still shows it. */
static struct page *fault_page_shown(struct vm_map *map, uint32_t address)
{
	const struct map_entry *entry = fault_entry_at(map, address);
	const struct object *object = entry->object;
	uint32_t index = map_entry_index(entry, address);

	while (!slot_is_page(object_slot(object, index))) {
		index += object->shadow_index;
		object = object->shadow;
		assert(object != NULL);
	}
	return object_slot(object, index);
}

void fault_unwire(struct vm_map *map, uint32_t start, uint32_t end)
{
	assert(kernel_locked());
	for (uint32_t address = start; address < end; address += PAGE_SIZE) {
		page_unwire(fault_page_shown(map, address));
		pause_each();
	}
}
