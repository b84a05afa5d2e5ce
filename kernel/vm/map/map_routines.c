/* SPDX-License-Identifier: MIT */
/*
 * The calls of Mach's interface that ask for memory, give it back, and change it; those that have
 * to do with memory objects are in map_object_routines.c.
 *
 * All are called by the server stubs of defs/mach, with a map that the stub holds a reference to,
 * NULL if the caller named no task; it may be that of a task that has ended.  Sizes and addresses
 * are the caller's, and so any: they are rounded outwards to whole pages as Mach does.  A copy (the
 * address in place of out-of-line memory) is taken on success only.  Guarded by the kernel lock.
 */
#include "vm/map/map_routines.h"

#include <stddef.h>

#include "i386/cpu/memory.h"
#include "mach/gnumach_server.h"
#include "mach/mach_server.h"
#include "thread/work.h"
#include "vm/map/copy.h"
#include "vm/map/map.h"
#include "vm/object/object.h"
#include "vm/page/page.h"
#include "vm/page/page_queue.h"

bool map_is_usable(const struct vm_map *map)
{
	return map != NULL && map->active;
}

void map_clip(uint32_t address, uint32_t size, uint32_t *start, uint32_t *bytes)
{
	uint32_t end = address + size;

	*start = USER_START;
	*bytes = 0;
	if (end < address)
		return;
	end = page_round(end < USER_END ? end : USER_END);
	if (page_trunc(address) > USER_START)
		*start = page_trunc(address);
	if (end > *start)
		*bytes = end - *start;
	else
		*start = USER_START;
}

/* ---------------- Getting memory and giving it back ---------------- */

/* Where the caller wants it: the range as whole pages, which must be all the user's. */
static kern_return_t map_routine_exact_place(uint32_t address, uint32_t size, uint32_t mask,
					     uint32_t *start)
{
	*start = page_trunc(address);
	if (*start < USER_START || *start > USER_END || size > USER_END - *start)
		return KERN_INVALID_ADDRESS;
	return (*start & mask) == 0 ? KERN_SUCCESS : KERN_NO_SPACE;
}

kern_return_t map_place(struct vm_map *map, uint32_t *address, uint32_t size, uint32_t mask,
			bool anywhere, const struct map_attributes *attributes,
			const struct map_content *content)
{
	uint32_t bytes = page_round(size);
	kern_return_t result;
	uint32_t start;

	if (bytes == 0 || bytes > USER_END - USER_START)
		return KERN_NO_SPACE;
	if (anywhere)
		return map_enter_anywhere(map, address, bytes, mask, attributes, content);
	result = map_routine_exact_place(*address, bytes, mask, &start);
	if (result == KERN_SUCCESS)
		result = map_enter(map, start, bytes, attributes, content);
	if (result == KERN_SUCCESS)
		*address = start;
	return result;
}

/* What new memory is like. */
static const struct map_attributes new_memory = {VM_PROT_DEFAULT, VM_PROT_ALL, VM_INHERIT_DEFAULT};

kern_return_t vm_allocate(struct vm_map *map, vm_address_t *address, vm_size_t size,
			  boolean_t anywhere)
{
	if (!map_is_usable(map))
		return KERN_INVALID_ARGUMENT;
	if (size == 0) {
		*address = 0;
		return KERN_SUCCESS;
	}
	return map_place(map, address, size, 0, anywhere, &new_memory, NULL);
}

kern_return_t vm_deallocate(struct vm_map *map, vm_address_t address, vm_size_t size)
{
	uint32_t start, bytes;

	if (!map_is_usable(map))
		return KERN_INVALID_ARGUMENT;
	map_clip(address, size, &start, &bytes);
	return size == 0 ? KERN_SUCCESS : map_deallocate(map, start, bytes);
}

/* ---------------- Pages in a row ---------------- */

/* Takes back one wiring of each of the object's first pages. */
static void map_routine_unwire_object(struct object *object, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		page_unwire(object_slot(object, i));
		pause_each();
	}
}

/*
 * Puts cleared pages into the object, wired so that they stay there.  False when there is no memory
 * for the object's slots: what is in the object is not wired, and the others are freed.
 */
static bool map_routine_fill(struct object *object, struct page *first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		page_clear(page_data(&first[i]));
		if (!object_insert(object, i, &first[i])) {
			for (uint32_t rest = i; rest < n; rest++)
				page_free(&first[rest]);
			map_routine_unwire_object(object, i);
			return false;
		}
		page_wire(&first[i]);
		pause_each_page();
	}
	return true;
}

/* Memory of `n` pages in a row, wired, with a reference for the caller; NULL if there is none. */
static struct object *map_routine_make_row(const struct vm_map *map, uint32_t n, uint32_t alignment,
					   uint64_t least, uint64_t end)
{
	struct object *object = object_create_for(map->payer, n);
	struct page *first;

	if (object == NULL)
		return NULL;
	first = page_alloc_run(PAGE_USER, n, alignment, least, end);
	if (first != NULL && map_routine_fill(object, first, n))
		return object;
	object_release(object);
	return NULL;
}

/*
 * Maps the object and wires it there: the map has a reference of its own then.  The object's pages
 * are wired already, so its entry counts as shared: if it is unmapped before this is done, the
 * pages are not freed with it but with the object.
 */
static kern_return_t map_row(struct vm_map *map, struct object *object, uint32_t bytes,
			     vm_address_t *address)
{
	struct map_content content = {.object = object_reference(object), .shared = true};
	kern_return_t result = map_place(map, address, bytes, 0, true, &new_memory, &content);

	if (result != KERN_SUCCESS) {
		object_release(object);
		return result;
	}
	result = map_wire(map, *address, bytes, true);
	if (result != KERN_SUCCESS && map->active)
		map_deallocate(map, *address, bytes);
	return result;
}

/*
 * `least` and `end` are where in physical memory the pages may be.  They do not wait for memory:
 * that some is made does not mean that it is in a row.
 */
kern_return_t vm_allocate_contiguous(host_t host, struct vm_map *map, vm_address_t *address,
				     rpc_phys_addr_t *physical, vm_size_t size,
				     rpc_phys_addr_t least, rpc_phys_addr_t end,
				     rpc_phys_addr_t alignment)
{
	uint32_t n = size / PAGE_SIZE + (size % PAGE_SIZE != 0);
	struct object *object;
	kern_return_t result;

	if (host == NULL)
		return KERN_INVALID_HOST;
	if (!map_is_usable(map))
		return KERN_INVALID_TASK;
	if (n == 0 || (alignment & (alignment - 1)) != 0)
		return KERN_INVALID_ARGUMENT;
	if (alignment > DIRECT_MAP_SIZE || n > DIRECT_MAP_SIZE / PAGE_SIZE)
		return KERN_RESOURCE_SHORTAGE;
	object = map_routine_make_row(map, n, (uint32_t)alignment, least, end);
	if (object == NULL)
		return KERN_RESOURCE_SHORTAGE;
	*physical = page_physical(object_slot(object, 0));
	result = map_row(map, object, n * PAGE_SIZE, address);
	map_routine_unwire_object(object, n);
	object_release(object);
	return result;
}

/* ---------------- Reading and writing another task's ---------------- */

kern_return_t vm_read(struct vm_map *map, vm_address_t address, vm_size_t size, pointer_t *data,
		      mach_msg_type_number_t *data_size)
{
	struct copy *copy = NULL;
	kern_return_t result = KERN_SUCCESS;

	if (!map_is_usable(map))
		return KERN_INVALID_ARGUMENT;
	if (size > 0)
		result = copy_take(map, address, size, &copy);
	if (result == KERN_SUCCESS) {
		*data = (pointer_t)copy;
		*data_size = size;
	}
	return result;
}

kern_return_t vm_write(struct vm_map *map, vm_address_t address, pointer_t data,
		       mach_msg_type_number_t size)
{
	struct copy *copy = (struct copy *)data;
	kern_return_t result;

	if (!map_is_usable(map))
		return KERN_INVALID_ARGUMENT;
	if (copy == NULL)
		return KERN_SUCCESS;
	if (copy->size != size)
		return KERN_INVALID_ARGUMENT;
	result = map_check(map, address, size, VM_PROT_WRITE);
	if (result == KERN_SUCCESS)
		result = copy_write_to(copy, map, address);
	if (result == KERN_SUCCESS)
		copy_destroy(copy);
	return result;
}

/* By way of a copy, so that ranges may overlap as they like; of many pages it copies none. */
kern_return_t vm_copy(struct vm_map *map, vm_address_t from, vm_size_t size, vm_address_t to)
{
	kern_return_t result;
	struct copy *copy;

	if (!map_is_usable(map))
		return KERN_INVALID_ARGUMENT;
	if (size == 0)
		return KERN_SUCCESS;
	result = map_check(map, from, size, VM_PROT_READ);
	if (result == KERN_SUCCESS)
		result = map_check(map, to, size, VM_PROT_WRITE);
	if (result != KERN_SUCCESS || from == to)
		return result;
	result = copy_take(map, from, size, &copy);
	if (result != KERN_SUCCESS)
		return result;
	result = copy_write_to(copy, map, to);
	copy_destroy(copy);
	return result;
}

/* ---------------- Attributes ---------------- */

kern_return_t vm_protect(struct vm_map *map, vm_address_t address, vm_size_t size,
			 boolean_t maximum, vm_prot_t rights)
{
	uint32_t start, bytes;

	if (!map_is_usable(map) || (rights & ~(VM_PROT_ALL | VM_PROT_NOTIFY)) != 0)
		return KERN_INVALID_ARGUMENT;
	map_clip(address, size, &start, &bytes);
	if (size == 0)
		return KERN_SUCCESS;
	return map_set_rights(map, start, bytes, maximum, (uint32_t)rights & VM_PROT_ALL);
}

kern_return_t vm_inherit(struct vm_map *map, vm_address_t address, vm_size_t size,
			 vm_inherit_t inheritance)
{
	uint32_t start, bytes;

	if (!map_is_usable(map))
		return KERN_INVALID_ARGUMENT;
	if (inheritance < VM_INHERIT_SHARE || inheritance > VM_INHERIT_NONE)
		return KERN_INVALID_ARGUMENT;
	map_clip(address, size, &start, &bytes);
	if (size == 0)
		return KERN_SUCCESS;
	return map_set_inheritance(map, start, bytes, inheritance);
}

/* Caches are the processor's own business on this machine, as on GNU Mach's i386. */
kern_return_t vm_machine_attribute(struct vm_map *map, vm_address_t address, vm_size_t size,
				   vm_machine_attribute_t attribute,
				   vm_machine_attribute_val_t *value)
{
	(void)attribute;
	(void)value;
	if (!map_is_usable(map))
		return KERN_INVALID_ARGUMENT;
	if (address < USER_START || address > USER_END || size > USER_END - address)
		return KERN_INVALID_ADDRESS;
	return KERN_INVALID_ARGUMENT;
}
