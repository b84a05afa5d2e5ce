/* SPDX-License-Identifier: MIT */
/* Ports to objects and back: see convert.h.  Guarded by the kernel lock. */
#include "task/convert.h"

#include "base/assert.h"
#include "host/host.h"

/* What `port` stands for, if that is of `kind`, as no dead port is; NULL otherwise. */
static inline void *convert_object_of(const struct port *port, enum object_kind kind)
{
	if (!port_is_valid(port) || port->kind != kind)
		return NULL;
	assert(port->magic == PORT_MAGIC);
	return port->object;
}

/* ---------------- From ports ---------------- */

task_t convert_port_to_task(ipc_port_t port)
{
	struct task *task = convert_object_of(port, OBJECT_TASK);

	return task == NULL ? NULL : task_reference(task);
}

thread_t convert_port_to_thread(ipc_port_t port)
{
	struct thread *thread = convert_object_of(port, OBJECT_THREAD);

	return thread == NULL ? NULL : thread_reference(thread);
}

vm_map_t convert_port_to_map(ipc_port_t port)
{
	struct task *task = convert_object_of(port, OBJECT_TASK);

	return task == NULL ? NULL : map_reference(task->map);
}

ipc_space_t convert_port_to_space(ipc_port_t port)
{
	struct task *task = convert_object_of(port, OBJECT_TASK);

	return task == NULL ? NULL : space_reference(task->space);
}

host_t convert_port_to_host(ipc_port_t port)
{
	struct host *found = convert_object_of(port, OBJECT_HOST);

	return found != NULL ? found : convert_object_of(port, OBJECT_HOST_PRIV);
}

host_t convert_port_to_host_priv(ipc_port_t port)
{
	return convert_object_of(port, OBJECT_HOST_PRIV);
}

processor_t convert_port_to_processor(ipc_port_t port)
{
	return convert_object_of(port, OBJECT_PROCESSOR);
}

processor_set_t convert_port_to_pset(ipc_port_t port)
{
	return convert_object_of(port, OBJECT_PSET);
}

processor_set_t convert_port_to_pset_name(ipc_port_t port)
{
	struct processor_set *set = convert_object_of(port, OBJECT_PSET_NAME);

	return set != NULL ? set : convert_object_of(port, OBJECT_PSET);
}

/* ---------------- To ports: the caller gets a send right ---------------- */

/* The port is NULL when its object has ended. */
static struct port *convert_send_right(struct port *port)
{
	return port == NULL ? PORT_NULL : port_make_send(port);
}

/* Takes the caller's reference to the task. */
ipc_port_t convert_task_to_port(task_t task)
{
	struct port *port = convert_send_right(task->port);

	task_release(task);
	return port;
}

/* Takes the caller's reference to the thread. */
ipc_port_t convert_thread_to_port(thread_t thread)
{
	struct port *port = convert_send_right(thread->port);

	thread_release(thread);
	return port;
}

ipc_port_t convert_host_to_port(host_t object)
{
	return convert_send_right(object->port);
}

ipc_port_t convert_processor_to_port(processor_t processor)
{
	return convert_send_right(processor->port);
}

ipc_port_t convert_pset_to_port(processor_set_t set)
{
	return convert_send_right(set->port);
}

ipc_port_t convert_pset_name_to_port(processor_set_t set)
{
	return convert_send_right(set->name_port);
}
