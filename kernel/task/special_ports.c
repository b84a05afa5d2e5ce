/* SPDX-License-Identifier: MIT */
/*
 * The rights that a task or a thread is known by, or has from its parent (<mach/mach.defs>).
 *
 * Each is a send right in the kernel's hand, PORT_NULL or PORT_DEAD_NAME.  A getter leaves a copy
 * to its caller, a setter takes the caller's right if it succeeds.  Guarded by the kernel lock.
 */
#include <mach/mach_types.h>

#include "ipc/port.h"
#include "mach/mach_server.h"
#include "task/task.h"
#include "thread/thread.h"
#include "vm/page/kernel_memory.h"

/* Where the task keeps the port; NULL if there is no such port. */
static struct port **task_port(struct task *task, int which)
{
	switch (which) {
	case TASK_KERNEL_PORT:
		return &task->self_port;
	case TASK_EXCEPTION_PORT:
		return &task->exception_port;
	case TASK_BOOTSTRAP_PORT:
		return &task->bootstrap_port;
	default:
		return NULL;
	}
}

static struct port **special_port_thread_port(struct thread *thread, int which)
{
	switch (which) {
	case THREAD_KERNEL_PORT:
		return &thread->self_port;
	case THREAD_EXCEPTION_PORT:
		return &thread->exception_port;
	default:
		return NULL;
	}
}

/* The new right is in its place before the old one goes: that may tell somebody. */
static kern_return_t special_port_replace(struct port **place, struct port *port)
{
	struct port *old = *place;

	*place = port;
	port_release_send(old);
	return KERN_SUCCESS;
}

kern_return_t task_get_special_port(task_t task, int which, ipc_port_t *port)
{
	struct port **place = task == NULL ? NULL : task_port(task, which);

	if (place == NULL)
		return KERN_INVALID_ARGUMENT;
	if (task->ending)
		return KERN_FAILURE;
	*port = port_copy_send(*place);
	return KERN_SUCCESS;
}

kern_return_t task_set_special_port(task_t task, int which, ipc_port_t port)
{
	struct port **place = task == NULL ? NULL : task_port(task, which);

	if (place == NULL)
		return KERN_INVALID_ARGUMENT;
	return task->ending ? KERN_FAILURE : special_port_replace(place, port);
}

kern_return_t thread_get_special_port(thread_t thread, int which, ipc_port_t *port)
{
	struct port **place = thread == NULL ? NULL : special_port_thread_port(thread, which);

	if (place == NULL)
		return KERN_INVALID_ARGUMENT;
	if (thread_is_dying(thread))
		return KERN_FAILURE;
	*port = port_copy_send(*place);
	return KERN_SUCCESS;
}

kern_return_t thread_set_special_port(thread_t thread, int which, ipc_port_t port)
{
	struct port **place = thread == NULL ? NULL : special_port_thread_port(thread, which);

	if (place == NULL)
		return KERN_INVALID_ARGUMENT;
	return thread_is_dying(thread) ? KERN_FAILURE : special_port_replace(place, port);
}

/* ---------------- Registered ports ---------------- */

/* Takes the rights and their array, on success. */
kern_return_t mach_ports_register(task_t task, mach_port_array_t array,
				  mach_msg_type_number_t count)
{
	struct port **ports = (struct port **)array;

	if (task == NULL || task->ending || count > TASK_REGISTERED_PORTS)
		return KERN_INVALID_ARGUMENT;
	for (unsigned n = 0; n < TASK_REGISTERED_PORTS; n++)
		special_port_replace(&task->registered[n], n < count ? ports[n] : PORT_NULL);
	if (count > 0)
		kernel_memory_free(ports, count * (uint32_t)sizeof *ports);
	return KERN_SUCCESS;
}

/* Leaves copies of all of them, those that are not there too. */
kern_return_t mach_ports_lookup(task_t task, mach_port_array_t *array,
				mach_msg_type_number_t *count)
{
	struct port **ports;

	if (task == NULL || task->ending)
		return KERN_INVALID_ARGUMENT;
	ports = kernel_memory_alloc(TASK_REGISTERED_PORTS * sizeof *ports);
	if (ports == NULL)
		return KERN_RESOURCE_SHORTAGE;
	for (unsigned n = 0; n < TASK_REGISTERED_PORTS; n++)
		ports[n] = port_copy_send(task->registered[n]);
	*array = (mach_port_array_t)ports;
	*count = TASK_REGISTERED_PORTS;
	return KERN_SUCCESS;
}
