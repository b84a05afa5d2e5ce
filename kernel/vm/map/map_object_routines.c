/* SPDX-License-Identifier: MIT */
/*
 * The calls of Mach's interface that have to do with maps and with memory objects: mapping one,
 * telling what is mapped, writing back.  As in map_routines.c, numbers are the caller's, and so
 * any.  Guarded by the kernel lock.
 */
#include <stddef.h>

#include "base/assert.h"
#include "i386/cpu/memory.h"
#include "i386/mmu/pmap.h"
#include "ipc/ipc_port.h"
#include "mach/gnumach_server.h"
#include "mach/mach_server.h"
#include "thread/work.h"
#include "vm/map/map.h"
#include "vm/map/map_routines.h"
#include "vm/map/proxy.h"
#include "vm/object/object.h"
#include "vm/page/page.h"
#include "vm/page/page_queue.h"
#include "vm/pager/pager.h"
#include "vm/pager/pager_internal.h"

/* ---------------- Mapping ---------------- */

/* What is to be mapped. */
struct source {
	uint64_t offset; /* In the memory object, in bytes; of whole pages. */
	uint32_t size;   /* Of whole pages. */
	bool copy;
	struct map_attributes attributes;
};

/* A part of a proxy becomes one of what that stands for, with no more rights than it gives. */
static kern_return_t map_object_resolve_proxy(const struct proxy *proxy, struct source *source)
{
	/* A proxy of all that there is ends with the last page. */
	uint64_t size = ((uint64_t)proxy->size + PAGE_MASK) & ~(uint64_t)PAGE_MASK;

	if (source->offset > size || source->size > size - source->offset)
		return KERN_INVALID_ARGUMENT;
	source->offset += proxy->start;
	if (source->copy)
		return (proxy->rights & VM_PROT_READ) != 0 ? KERN_SUCCESS : KERN_PROTECTION_FAILURE;
	source->attributes.max_rights &= proxy->rights;
	source->attributes.rights &= proxy->rights;
	return KERN_SUCCESS;
}

/* The object for a port, with a reference for the caller, as large as the source needs it. */
static kern_return_t map_object_find_object(struct port *port, struct source *source,
					    struct object **object)
{
	const struct proxy *proxy = proxy_of_port(port);
	kern_return_t result;
	uint64_t end;

	if (proxy != NULL) {
		result = map_object_resolve_proxy(proxy, source);
		if (result != KERN_SUCCESS)
			return result;
		if (proxy->object != NULL) {
			*object = object_reference(proxy->object);
			return KERN_SUCCESS;
		}
		port = proxy->memory;
	}
	end = source->offset + source->size;
	if (!port_is_valid(port) || !port_is_alive(port) || end > UINT32_MAX)
		return KERN_INVALID_ARGUMENT;
	return pager_object(port, (uint32_t)(end / PAGE_SIZE), object);
}

/* The kernel's own memory is shown as it is, and to be read only. */
static bool map_object_is_read_only(const struct object *object, const struct source *source)
{
	return object->kernel && !source->copy;
}

/* What is mapped for it: the object itself, or a copy.  May block. */
static kern_return_t map_object_find_content(const struct vm_map *map, struct port *port,
					     struct source *source, struct map_content *content)
{
	struct object *object;
	kern_return_t result = map_object_find_object(port, source, &object);
	bool pending;

	if (result != KERN_SUCCESS)
		return result;
	*content = (struct map_content){
		.object = object,
		.index = (uint32_t)(source->offset / PAGE_SIZE),
		.shared = object->pager == NULL,
	};
	if (map_object_is_read_only(object, source) &&
	    (source->attributes.rights & VM_PROT_WRITE) != 0) {
		object_release(object);
		return KERN_PROTECTION_FAILURE;
	}
	if (map_object_is_read_only(object, source))
		source->attributes.max_rights &= ~(uint32_t)VM_PROT_WRITE;
	if (!source->copy)
		return KERN_SUCCESS;
	content->shared = false;
	content->pending = true;
	result = object_copy(map->payer, object, content->index, source->size / PAGE_SIZE, true,
			     &content->object, &content->index, &pending);
	assert(result != KERN_SUCCESS || !pending);
	object_release(object);
	return result;
}

static bool map_object_is_sensible(vm_prot_t rights, vm_prot_t max_rights, vm_inherit_t inheritance)
{
	return ((rights | max_rights) & ~VM_PROT_ALL) == 0 && inheritance >= VM_INHERIT_SHARE &&
	       inheritance <= VM_INHERIT_NONE;
}

/* The port is the routine's on success: what is mapped has rights of its own. */
kern_return_t vm_map(struct vm_map *map, vm_address_t *address, vm_size_t size, vm_address_t mask,
		     boolean_t anywhere, ipc_port_t port, vm_offset_t offset, boolean_t copy,
		     vm_prot_t rights, vm_prot_t max_rights, vm_inherit_t inheritance)
{
	struct source source = {.offset = offset, .size = page_round(size), .copy = copy != 0};
	struct map_content content = {.object = NULL};
	struct map_attributes *attributes = &source.attributes;
	kern_return_t result = KERN_SUCCESS;

	if (!map_is_usable(map) || size == 0 ||
	    !map_object_is_sensible(rights, max_rights, inheritance))
		return KERN_INVALID_ARGUMENT;
	if (source.size == 0 || source.size > USER_END - USER_START)
		return KERN_NO_SPACE;
	*attributes = (struct map_attributes){(uint32_t)(rights & max_rights), (uint32_t)max_rights,
					      inheritance};
	if (port != PORT_NULL && (offset & PAGE_MASK) != 0)
		return KERN_INVALID_ARGUMENT;
	if (port != PORT_NULL)
		result = map_object_find_content(map, port, &source, &content);
	if (result != KERN_SUCCESS)
		return result;
	if (attributes->rights != 0)
		attributes->rights |= VM_PROT_READ;
	if (map_is_usable(map))
		result = map_place(map, address, size, mask, anywhere, attributes, &content);
	else
		result = KERN_INVALID_ARGUMENT;
	if (result == KERN_SUCCESS)
		port_release_send(port);
	else if (content.object != NULL)
		object_release(content.object);
	return result;
}

/* ---------------- Telling ---------------- */

/* Whether nobody could tell that these, the one behind the other, are two entries. */
static bool map_object_are_alike(const struct map_entry *entry, const struct map_entry *next)
{
	const struct map_attributes *a = &entry->attributes;
	const struct map_attributes *b = &next->attributes;

	return entry->end == next->start && a->rights == b->rights &&
	       a->max_rights == b->max_rights && a->inheritance == b->inheritance &&
	       entry->shared == next->shared;
}

/* The memory object at the end of the entry's chain, if there is one, and the offset in that. */
static const struct object *map_object_bottom(const struct map_entry *entry, uint32_t *offset)
{
	const struct object *object = entry->object;
	uint32_t index = entry->index;

	while (object != NULL && object->shadow != NULL) {
		index += object->shadow_index;
		object = object->shadow;
		pause_each();
	}
	*offset = 0;
	if (object == NULL || object->pager == NULL)
		return NULL;
	*offset = index * PAGE_SIZE;
	return object;
}

/* Where the region ends that begins with this entry, of nobody's memory: what is alike is one. */
static uint32_t map_object_end_of_region(const struct vm_map *map, const struct map_entry *entry)
{
	const struct map_entry *next = map_entry_next(map, entry);
	uint32_t offset;

	while (next != NULL && map_object_are_alike(entry, next)) {
		if (map_object_bottom(next, &offset) != NULL)
			break;
		entry = next;
		next = map_entry_next(map, entry);
		pause_each();
	}
	return entry->end;
}

/* As map_object_end_of_region(), upwards: where it begins. */
static const struct map_entry *map_object_start_of_region(const struct vm_map *map,
							  const struct map_entry *entry)
{
	const struct map_entry *previous = map_entry_previous(map, entry);
	uint32_t offset;

	while (previous != NULL && map_object_are_alike(previous, entry)) {
		if (map_object_bottom(previous, &offset) != NULL)
			break;
		entry = previous;
		previous = map_entry_previous(map, entry);
		pause_each();
	}
	return entry;
}

kern_return_t vm_region(struct vm_map *map, vm_address_t *address, vm_size_t *size,
			vm_prot_t *rights, vm_prot_t *max_rights, vm_inherit_t *inheritance,
			boolean_t *shared, ipc_port_t *name, vm_offset_t *offset)
{
	const struct map_entry *entry;
	const struct object *object;
	uint32_t end;

	if (!map_is_usable(map))
		return KERN_INVALID_ARGUMENT;
	entry = map_entry_from(map, *address);
	if (entry == NULL)
		return KERN_NO_SPACE;
	object = map_object_bottom(entry, offset);
	end = entry->end;
	if (object == NULL) {
		end = map_object_end_of_region(map, entry);
		entry = map_object_start_of_region(map, entry);
	}
	*address = entry->start;
	*size = end - entry->start;
	*rights = (vm_prot_t)entry->attributes.rights;
	*max_rights = (vm_prot_t)entry->attributes.max_rights;
	*inheritance = entry->attributes.inheritance;
	*shared = entry->shared;
	*name = object == NULL ? PORT_NULL : pager_name_right(object);
	return KERN_SUCCESS;
}

/* ---------------- Writing back ---------------- */

/* What a flag of vm_msync() or vm_object_sync() means for pages. */
static void map_object_set_order(struct pager_order *order, bool flush, bool should_return)
{
	order->flush = flush;
	order->should_return = should_return ? MEMORY_OBJECT_RETURN_ALL : MEMORY_OBJECT_RETURN_NONE;
	order->lock = VM_PROT_NO_CHANGE;
}

/* The pages of one object, if it is somebody's.  May block. */
static kern_return_t map_object_sync_object(struct object *object, const struct pager_order *order)
{
	kern_return_t result;

	if (object == NULL || !pager_is_live(object->pager))
		return KERN_SUCCESS;
	if (!pager_takes_order(object->pager, order->should_return))
		return KERN_RESOURCE_SHORTAGE;
	object_reference(object);
	result = pager_lock_pages(object, order);
	object_release(object);
	return result;
}

/* What can be thrown away is a matter of who may write. */
static void map_object_restrict_order(const struct map_entry *entry, struct pager_order *order)
{
	if ((entry->attributes.max_rights & VM_PROT_WRITE) == 0 &&
	    order->should_return == MEMORY_OBJECT_RETURN_NONE)
		order->flush = false;
}

/* Makes the pages that the object has itself inactive, unless they are wired. */
static void map_object_deactivate_pages(struct object *object, uint32_t first, uint32_t end)
{
	if (object == NULL)
		return;
	object_reference(object);
	for (uint32_t index = first; index < end; index++) {
		struct page *page = object_slot(object, index);

		if (slot_is_page(page) && page->queue == PAGE_QUEUE_ACTIVE) {
			pmap_page_is_dirty(page); /* Which is kept in the page from then on. */
			page_deactivate(page);
		}
		pause_each();
	}
	object_release(object);
}

/*
 * The pages are sent to their pagers before this returns; what those make of them is theirs.  Only
 * what is mapped itself counts, not what was copied from it and is nobody's.
 */
static kern_return_t map_object_sync_range(struct vm_map *map, uint32_t start, uint32_t end,
					   vm_sync_t flags)
{
	const vm_sync_t both = VM_SYNC_SYNCHRONOUS | VM_SYNC_ASYNCHRONOUS;
	kern_return_t result = KERN_SUCCESS;
	struct map_entry *entry;

	while (result == KERN_SUCCESS && map->active && start < end) {
		struct pager_order order;
		uint32_t last;

		entry = map_entry_from(map, start);
		if (entry == NULL || entry->start >= end)
			break;
		if (entry->start > start)
			start = entry->start;
		last = entry->end < end ? entry->end : end;
		map_object_set_order(&order, (flags & VM_SYNC_INVALIDATE) != 0,
				     (flags & both) != 0);
		map_object_restrict_order(entry, &order);
		order.first = map_entry_index(entry, start);
		order.end = order.first + (last - start) / PAGE_SIZE;
		start = last;
		if ((flags & VM_SYNC_DEACTIVATE) != 0)
			map_object_deactivate_pages(entry->object, order.first, order.end);
		else
			result = map_object_sync_object(entry->object, &order);
		pause_each();
	}
	return result;
}

kern_return_t vm_msync(struct vm_map *map, vm_address_t address, vm_size_t size, vm_sync_t flags)
{
	const vm_sync_t both = VM_SYNC_SYNCHRONOUS | VM_SYNC_ASYNCHRONOUS;
	uint32_t start, bytes;

	if (!map_is_usable(map) || (flags & both) == both)
		return KERN_INVALID_ARGUMENT;
	if ((flags & VM_SYNC_DEACTIVATE) != 0 && flags != VM_SYNC_DEACTIVATE)
		return KERN_INVALID_ARGUMENT;
	map_clip(address, size, &start, &bytes);
	return map_object_sync_range(map, start, start + bytes, flags);
}

/* Whether the pager has put the pages away the kernel cannot know, so that `should_iosync` is only
 * what else is there: that they have been sent. */
kern_return_t vm_object_sync(ipc_port_t name, vm_offset_t offset, vm_size_t size,
			     boolean_t should_flush, boolean_t should_return,
			     boolean_t should_iosync)
{
	struct pager *pager = pager_of_name(name);
	struct pager_order order;
	kern_return_t result;
	struct object *object;

	(void)should_iosync;
	if (pager == NULL || pager->is_swap)
		return KERN_INVALID_ARGUMENT;
	if (!pager_is_live(pager))
		return KERN_SUCCESS;
	map_object_set_order(&order, should_flush != 0, should_return != 0);
	if (!pager_takes_order(pager, order.should_return))
		return KERN_RESOURCE_SHORTAGE;
	object = pager_hold_object(pager);
	pager_range(object, offset, size, &order.first, &order.end);
	result = pager_lock_pages(object, &order);
	object_release(object);
	return result;
}
