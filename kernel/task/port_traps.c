/* SPDX-License-Identifier: MIT */
/*
 * Traps that do what calls of the mach_port interface do, without a message.
 *
 * They act on the task that the first argument names.  If it names no task's own port the answer is
 * MACH_SEND_INTERRUPTED, by which the caller's library knows that it has to send the message: the
 * port may be one that a program serves in a task's place.  Runs under the kernel lock.
 */
#include <mach/message.h>

#include "ipc/port.h"
#include "ipc/right.h"
#include "ipc/space.h"
#include "task/task.h"
#include "task/traps.h"

#include "mach/mach_port_server.h"

/* The names of the task that the caller calls `task`, with a reference; or NULL. */
static struct space *port_trap_space_of(uint32_t task)
{
	struct entry *entry = space_find(current_task()->space, task);
	const struct task *named;

	if (entry == NULL || (entry->type & MACH_PORT_TYPE_SEND) == 0)
		return NULL;
	if (entry->port->kind != OBJECT_TASK)
		return NULL;
	named = entry->port->object;
	return space_reference(named->space);
}

/* The new name goes to the user's `name`; what it denotes goes again if that cannot be written. */
TRAP_ABI kern_return_t trap_mach_port_allocate(uint32_t task, uint32_t right, user_address_t name)
{
	struct space *space = port_trap_space_of(task);
	mach_port_name_t chosen;
	kern_return_t result;

	if (space == NULL)
		return MACH_SEND_INTERRUPTED;
	result = mach_port_allocate(space, right, &chosen);
	if (result == KERN_SUCCESS && !copyout_short(name, &chosen, sizeof chosen)) {
		mach_port_destroy(space, chosen);
		result = KERN_INVALID_ADDRESS;
	}
	space_release(space);
	return result;
}

TRAP_ABI kern_return_t trap_mach_port_deallocate(uint32_t task, uint32_t name)
{
	struct space *space = port_trap_space_of(task);
	kern_return_t result;

	if (space == NULL)
		return MACH_SEND_INTERRUPTED;
	result = mach_port_deallocate(space, name);
	space_release(space);
	return result;
}

/* Takes the caller's right, which is lost if it cannot be given. */
static kern_return_t port_trap_insert_right(struct space *space, uint32_t name, uint32_t right,
					    uint32_t disposition)
{
	mach_msg_type_name_t kind;
	struct entry *entry;
	struct port *port;
	kern_return_t result;

	if (!MACH_MSG_TYPE_PORT_ANY(disposition))
		return KERN_INVALID_VALUE;
	entry = space_find(current_task()->space, right);
	if (entry == NULL)
		return KERN_INVALID_NAME;
	result = right_check(entry, disposition);
	if (result != KERN_SUCCESS)
		return result;
	port = right_take(entry, disposition);
	kind = right_after(disposition);
	result = mach_port_insert_right(space, name, port, kind);
	if (result != KERN_SUCCESS)
		right_release(port, kind);
	return result;
}

TRAP_ABI kern_return_t trap_mach_port_insert_right(uint32_t task, uint32_t name, uint32_t right,
						   uint32_t disposition)
{
	struct space *space = port_trap_space_of(task);
	kern_return_t result;

	if (space == NULL)
		return MACH_SEND_INTERRUPTED;
	result = port_trap_insert_right(space, name, right, disposition);
	space_release(space);
	return result;
}

TRAP_ABI kern_return_t trap_mach_port_allocate_name(uint32_t task, uint32_t right, uint32_t name)
{
	struct space *space = port_trap_space_of(task);
	kern_return_t result;

	if (space == NULL)
		return MACH_SEND_INTERRUPTED;
	result = mach_port_allocate_name(space, right, name);
	space_release(space);
	return result;
}
