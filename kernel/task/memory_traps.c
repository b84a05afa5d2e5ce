/* SPDX-License-Identifier: MIT */
/*
 * The traps that do what vm_allocate(), vm_deallocate() and vm_map() do, without a message.
 *
 * They only know tasks of this machine: a name that is none is answered with
 * MACH_SEND_INTERRUPTED, upon which Mach's libraries send the message.  Guarded by the kernel lock.
 */
#include <stdbool.h>
#include <stddef.h>

#include <mach/message.h>

#include "ipc/space.h"
#include "mach/mach_server.h"
#include "task/convert.h"
#include "task/task.h"
#include "task/traps.h"
#include "vm/map/map.h"

/* Whether `name`, if the kernel has chosen it, is a send right to the caller's own task. */
static inline bool memory_trap_is_own(uint32_t name)
{
	const struct task *self = current_task();
	const struct entry *entry = space_near_slot(self->space, name);

	return entry != NULL && (entry->type & MACH_PORT_TYPE_SEND) != 0 &&
	       entry->port == self->port;
}

/* The map of the task that `name` is a send right to, with a reference; NULL if it is not one. */
static struct vm_map *memory_trap_map_named(uint32_t name)
{
	struct entry *entry = space_find(current_task()->space, name);

	if (entry == NULL || (entry->type & MACH_PORT_TYPE_SEND) == 0)
		return NULL;
	return convert_port_to_map(entry->port);
}

/* Tells the user where memory is; takes it back if that cannot be told. */
static kern_return_t memory_trap_tell_address(struct vm_map *map, user_address_t place,
					      uint32_t address, uint32_t size)
{
	if ((short_is_user(place) && copyout_word(place, address)) ||
	    copyout(place, &address, sizeof address))
		return KERN_SUCCESS;
	if (map->active)
		vm_deallocate(map, address, size);
	return KERN_INVALID_ADDRESS;
}

/* The caller's own map is there as long as he is, and needs no reference. */
static kern_return_t memory_trap_allocate(struct vm_map *map, user_address_t place, uint32_t size,
					  bool anywhere)
{
	uint32_t address = 0;
	kern_return_t result;

	if (!anywhere && !copyin(&address, place, sizeof address))
		return KERN_INVALID_ADDRESS;
	result = vm_allocate(map, &address, size, anywhere);
	return result == KERN_SUCCESS ? memory_trap_tell_address(map, place, address, size)
				      : result;
}

TRAP_ABI kern_return_t trap_vm_allocate(uint32_t task, user_address_t place, uint32_t size,
					uint32_t anywhere)
{
	kern_return_t result;
	struct vm_map *map;

	if (memory_trap_is_own(task))
		return memory_trap_allocate(current_task()->map, place, size, anywhere != 0);
	map = memory_trap_map_named(task);
	if (map == NULL)
		return MACH_SEND_INTERRUPTED;
	result = memory_trap_allocate(map, place, size, anywhere != 0);
	map_release(map);
	return result;
}

TRAP_ABI kern_return_t trap_vm_deallocate(uint32_t task, uint32_t address, uint32_t size)
{
	kern_return_t result;
	struct vm_map *map;

	if (memory_trap_is_own(task))
		return vm_deallocate(current_task()->map, address, size);
	map = memory_trap_map_named(task);
	if (map == NULL)
		return MACH_SEND_INTERRUPTED;
	result = vm_deallocate(map, address, size);
	map_release(map);
	return result;
}

/* A memory object would be a right to take along: that is left to the message. */
TRAP_ABI kern_return_t trap_vm_map(uint32_t task, user_address_t place, uint32_t size,
				   uint32_t mask, uint32_t anywhere, uint32_t object,
				   uint32_t offset, uint32_t copy, uint32_t rights,
				   uint32_t max_rights, uint32_t inheritance)
{
	struct vm_map *map = object == MACH_PORT_NULL ? memory_trap_map_named(task) : NULL;
	kern_return_t result = KERN_INVALID_ADDRESS;
	uint32_t address;

	if (map == NULL)
		return MACH_SEND_INTERRUPTED;
	if (copyin(&address, place, sizeof address))
		result = vm_map(map, &address, size, mask, anywhere != 0, PORT_NULL, offset,
				copy != 0, (vm_prot_t)rights, (vm_prot_t)max_rights,
				(vm_inherit_t)inheritance);
	if (result == KERN_SUCCESS)
		result = memory_trap_tell_address(map, place, address, size);
	map_release(map);
	return result;
}
