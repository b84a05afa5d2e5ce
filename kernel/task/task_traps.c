/* SPDX-License-Identifier: MIT */
/*
 * Calls to tasks and threads as traps, for callers in a hurry.
 *
 * They take names of the current task.  Where a name is that of no task or thread of this kernel
 * the answer is MACH_SEND_INTERRUPTED, upon which the library sends a message instead.
 */
#include <mach/message.h>

#include "ipc/port.h"
#include "ipc/right.h"
#include "ipc/space.h"
#include "mach/mach_host_server.h"
#include "mach/mach_server.h"
#include "task/named.h"
#include "task/task.h"
#include "task/traps.h"
#include "thread/thread.h"

/* Gives the current task the child, whose reference it takes; without a name the child ends. */
static kern_return_t task_trap_give_child(struct task *child, uint32_t *name)
{
	struct port *port = port_make_send(child->port);
	kern_return_t result;

	result = right_give(current_task()->space, port, MACH_MSG_TYPE_PORT_SEND, name);
	if (result != KERN_SUCCESS) {
		port_release_send(port);
		task_end(child, 0);
	}
	task_release(child);
	return result;
}

TRAP_ABI kern_return_t trap_task_create(uint32_t parent_name, uint32_t inherit,
					user_address_t child_name)
{
	struct task *parent = named_task(parent_name);
	struct task *child;
	uint32_t name = MACH_PORT_NULL;
	kern_return_t result;

	if (parent == NULL)
		return MACH_SEND_INTERRUPTED;
	task_reference(parent);
	/* Before the child is there: it could not be taken back afterwards. */
	if (!copyout(child_name, &name, sizeof name)) {
		task_release(parent);
		return KERN_INVALID_ADDRESS;
	}
	result = task_create(parent, (int)inherit, &child);
	task_release(parent);
	if (result == KERN_SUCCESS)
		result = task_trap_give_child(child, &name);
	if (result == KERN_SUCCESS && !copyout(child_name, &name, sizeof name))
		result = KERN_INVALID_ADDRESS;
	return result;
}

/* Makes the call for the task of this name. */
static kern_return_t task_trap_call(uint32_t name, kern_return_t (*call)(struct task *task))
{
	struct task *task = named_task(name);
	kern_return_t result;

	if (task == NULL)
		return MACH_SEND_INTERRUPTED;
	task_reference(task);
	result = call(task);
	task_release(task);
	return result;
}

TRAP_ABI kern_return_t trap_task_terminate(uint32_t name)
{
	return task_trap_call(name, task_terminate);
}

TRAP_ABI kern_return_t trap_task_suspend(uint32_t name)
{
	return task_trap_call(name, task_suspend);
}

/* A copy of the send right that the current task has by this name, into the caller's hand. */
static kern_return_t task_trap_copy_right(uint32_t name, struct port **port)
{
	struct entry *entry;

	*port = name == MACH_PORT_NULL ? PORT_NULL : PORT_DEAD_NAME;
	if (!MACH_PORT_VALID(name))
		return KERN_SUCCESS;
	entry = space_find(current_task()->space, name);
	if (entry == NULL)
		return KERN_INVALID_NAME;
	if (right_check(entry, MACH_MSG_TYPE_COPY_SEND) != KERN_SUCCESS)
		return KERN_INVALID_RIGHT;
	*port = right_take(entry, MACH_MSG_TYPE_COPY_SEND);
	return KERN_SUCCESS;
}

TRAP_ABI kern_return_t trap_task_set_special_port(uint32_t name, uint32_t which, uint32_t port_name)
{
	struct task *task = named_task(name);
	struct port *port;
	kern_return_t result;

	if (task == NULL)
		return MACH_SEND_INTERRUPTED;
	result = task_trap_copy_right(port_name, &port);
	if (result != KERN_SUCCESS)
		return result;
	task_reference(task);
	result = task_set_special_port(task, (int)which, port);
	task_release(task);
	if (result != KERN_SUCCESS)
		port_release_send(port);
	return result;
}

TRAP_ABI kern_return_t trap_thread_depress_abort(uint32_t name)
{
	struct thread *thread = named_thread(name);

	return thread == NULL ? MACH_SEND_INTERRUPTED : thread_depress_abort(thread);
}
