/* SPDX-License-Identifier: MIT */
/*
 * The calls of Mach's interface that ask for memory, give it back, and change it.
 *
 * All are called by the server stubs of defs/mach, with a map that the stub holds a reference to,
 * NULL if the caller named no task; it may be that of a task that has ended.  Sizes and addresses
 * are the caller's, and so any: they are rounded outwards to whole pages as Mach does.  A copy (the
 * address in place of out-of-line memory) is taken on success only.  Guarded by the kernel lock.
 */
#include "vm/map_routines.h"

#include <stddef.h>

#include "i386/memory.h"
#include "ipc/port.h"
#include "kern/assert.h"
#include "mach/gnumach_server.h"
#include "mach/mach_server.h"
#include "vm/copy.h"
#include "vm/map.h"
#include "vm/page.h"

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
static kern_return_t exact_place(uint32_t address, uint32_t size, uint32_t mask, uint32_t *start)
{
	*start = page_trunc(address);
	if (*start < USER_START || *start > USER_END || size > USER_END - *start)
		return KERN_INVALID_ADDRESS;
	return (*start & mask) == 0 ? KERN_SUCCESS : KERN_NO_SPACE;
}

/* Maps zeroed pages at `*address` or anywhere; `size` is not 0. */
static kern_return_t allocate(struct vm_map *map, vm_address_t *address, vm_size_t size,
			      vm_address_t mask, boolean_t anywhere,
			      const struct map_attributes *attributes)
{
	uint32_t bytes = page_round(size);
	kern_return_t result;
	uint32_t start;

	if (bytes == 0 || bytes > USER_END - USER_START)
		return KERN_NO_SPACE;
	if (anywhere)
		result = map_find_space(map, bytes, mask, &start);
	else
		result = exact_place(*address, bytes, mask, &start);
	if (result == KERN_SUCCESS)
		result = map_allocate_as(map, start, bytes, attributes);
	if (result == KERN_SUCCESS)
		*address = start;
	return result;
}

kern_return_t vm_allocate(struct vm_map *map, vm_address_t *address, vm_size_t size,
			  boolean_t anywhere)
{
	static const struct map_attributes attributes = {VM_PROT_DEFAULT, VM_PROT_ALL,
							 VM_INHERIT_DEFAULT};

	if (!map_is_usable(map))
		return KERN_INVALID_ARGUMENT;
	if (size == 0) {
		*address = 0;
		return KERN_SUCCESS;
	}
	return allocate(map, address, size, 0, anywhere, &attributes);
}

kern_return_t vm_deallocate(struct vm_map *map, vm_address_t address, vm_size_t size)
{
	uint32_t start, bytes;

	if (!map_is_usable(map))
		return KERN_INVALID_ARGUMENT;
	map_clip(address, size, &start, &bytes);
	return size == 0 ? KERN_SUCCESS : map_deallocate(map, start, bytes);
}

/* There are no memory objects yet: only memory of nobody's, zeroed, can be mapped. */
kern_return_t vm_map(struct vm_map *map, vm_address_t *address, vm_size_t size, vm_address_t mask,
		     boolean_t anywhere, ipc_port_t object, vm_offset_t offset, boolean_t copy,
		     vm_prot_t rights, vm_prot_t max_rights, vm_inherit_t inheritance)
{
	struct map_attributes attributes;

	(void)offset;
	(void)copy;
	if (!map_is_usable(map) || size == 0 || port_is_valid(object))
		return KERN_INVALID_ARGUMENT;
	if (((rights | max_rights) & ~VM_PROT_ALL) != 0)
		return KERN_INVALID_ARGUMENT;
	if (inheritance < VM_INHERIT_SHARE || inheritance > VM_INHERIT_NONE)
		return KERN_INVALID_ARGUMENT;
	rights &= max_rights;
	attributes = (struct map_attributes){
		.rights = rights == 0 ? 0 : (uint32_t)rights | VM_PROT_READ,
		.max_rights = (uint32_t)max_rights,
		.inheritance = inheritance,
	};
	return allocate(map, address, size, mask, anywhere, &attributes);
}

/* One page only: more than one in a row is what the allocator of pages cannot look for. */
kern_return_t vm_allocate_contiguous(host_t host, struct vm_map *map, vm_address_t *address,
				     rpc_phys_addr_t *physical, vm_size_t size,
				     rpc_phys_addr_t least, rpc_phys_addr_t end,
				     rpc_phys_addr_t alignment)
{
	static const struct map_attributes attributes = {VM_PROT_DEFAULT, VM_PROT_ALL,
							 VM_INHERIT_DEFAULT};
	kern_return_t result;
	uint32_t place;

	if (host == NULL)
		return KERN_INVALID_HOST;
	if (!map_is_usable(map))
		return KERN_INVALID_TASK;
	if (size == 0 || (alignment & (alignment - 1)) != 0)
		return KERN_INVALID_ARGUMENT;
	if (size > PAGE_SIZE || alignment > PAGE_SIZE)
		return KERN_RESOURCE_SHORTAGE;
	result = allocate(map, address, size, 0, true, &attributes);
	if (result != KERN_SUCCESS)
		return result;
	result = map_physical(map, *address, &place);
	assert(result == KERN_SUCCESS); /* Nobody else has the page yet. */
	*physical = place;
	if (*physical >= least && *physical + PAGE_SIZE <= end)
		return KERN_SUCCESS;
	map_deallocate(map, *address, PAGE_SIZE);
	return KERN_RESOURCE_SHORTAGE;
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
		result = map_own(map, address, size);
	if (result != KERN_SUCCESS)
		return result;
	copy_write_to(copy, map, address);
	copy_destroy(copy);
	return KERN_SUCCESS;
}

/* By way of pages of the kernel's, so that ranges may overlap as they like. */
static kern_return_t copy_by_way(struct vm_map *map, uint32_t from, uint32_t size, uint32_t to)
{
	struct copy *copy;
	kern_return_t result = copy_take(map, from, size, &copy);

	if (result != KERN_SUCCESS)
		return result;
	copy_write_to(copy, map, to);
	copy_destroy(copy);
	return KERN_SUCCESS;
}

kern_return_t vm_copy(struct vm_map *map, vm_address_t from, vm_size_t size, vm_address_t to)
{
	kern_return_t result;

	if (!map_is_usable(map))
		return KERN_INVALID_ARGUMENT;
	if (size == 0)
		return KERN_SUCCESS;
	result = map_check(map, from, size, VM_PROT_READ);
	if (result == KERN_SUCCESS)
		result = map_check(map, to, size, VM_PROT_WRITE);
	if (result != KERN_SUCCESS || from == to)
		return result;
	result = map_own(map, to, size);
	if (result != KERN_SUCCESS)
		return result;
	if (to > from && to - from < size)
		return copy_by_way(map, from, size, to);
	map_copy(map, from, size, to);
	return KERN_SUCCESS;
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

kern_return_t vm_region(struct vm_map *map, vm_address_t *address, vm_size_t *size,
			vm_prot_t *rights, vm_prot_t *max_rights, vm_inherit_t *inheritance,
			boolean_t *shared, ipc_port_t *object, vm_offset_t *offset)
{
	struct map_region region;

	if (!map_is_usable(map))
		return KERN_INVALID_ARGUMENT;
	if (!map_find_region(map, *address, &region))
		return KERN_NO_SPACE;
	*address = region.start;
	*size = region.size;
	*rights = (vm_prot_t)region.attributes.rights;
	*max_rights = (vm_prot_t)region.attributes.max_rights;
	*inheritance = region.attributes.inheritance;
	*shared = region.shared;
	*object = PORT_NULL;
	*offset = 0;
	return KERN_SUCCESS;
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
