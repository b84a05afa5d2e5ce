/* SPDX-License-Identifier: MIT */
/*
 * Where the name server is: a process of root's that has said so (servers/snames).  Guarded by the
 * server's lock.
 */
#include <ux/bsd_server.h>

#include "process/process.h"
#include "process/thread.h"

static mach_port_t port; /* Or null, or a name that is dead by now. */
static mach_port_t next; /* Its receive right ends when there is another; null: nobody waits. */

/* Takes one more right to it; false, and it is forgotten, if it is dead. */
static bool name_server_take_right(void)
{
	mach_port_t self = mach_task_self_cached();

	if (port == MACH_PORT_NULL)
		return false;
	if (mach_port_mod_refs(self, port, MACH_PORT_RIGHT_SEND, 1) == KERN_SUCCESS)
		return true;
	syscall_mach_port_deallocate(self, port);
	port = MACH_PORT_NULL;
	return false;
}

/* The kernel tells all who wait: nobody has to be remembered for that. */
static void name_server_tell_next(void)
{
	if (next != MACH_PORT_NULL)
		mach_port_mod_refs(mach_task_self_cached(), next, MACH_PORT_RIGHT_RECEIVE, -1);
	next = MACH_PORT_NULL;
}

/* The right that came with the request is given back in any case (serve.c). */
kern_return_t ux_set_name_server(caller_t caller, mach_port_t new_port)
{
	mach_port_t self = mach_task_self_cached();

	if (!is_root(caller->process))
		return EPERM;
	if (name_server_take_right()) {
		syscall_mach_port_deallocate(self, port);
		return EBUSY;
	}
	if (mach_port_mod_refs(self, new_port, MACH_PORT_RIGHT_SEND, 1) != KERN_SUCCESS)
		return EINVAL;
	port = new_port;
	name_server_tell_next();
	return 0;
}

kern_return_t ux_name_server(caller_t caller, mach_port_t *result)
{
	(void)caller;
	if (!name_server_take_right())
		return ENOENT;
	*result = port;
	return 0;
}

/* What is sent there waits for nobody: so the queue has no room. */
static bool name_server_make_next(void)
{
	mach_port_t self = mach_task_self_cached();

	if (next != MACH_PORT_NULL)
		return true;
	if (syscall_mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &next) == KERN_SUCCESS &&
	    mach_port_set_qlimit(self, next, 0) == KERN_SUCCESS)
		return true;
	name_server_tell_next();
	return false;
}

kern_return_t ux_name_server_next(caller_t caller, mach_port_t *result)
{
	(void)caller;
	if (!name_server_make_next() ||
	    syscall_mach_port_insert_right(mach_task_self_cached(), next, next,
					   MACH_MSG_TYPE_MAKE_SEND) != KERN_SUCCESS)
		return ENOMEM;
	*result = next;
	return 0;
}

/* A label says for whom something is done; a port by which somebody calls, who it is. */
kern_return_t ux_port_owner(caller_t caller, mach_port_t call_port, int *pid, unsigned *uid)
{
	const struct thread *thread = thread_of_call_port(call_port);

	(void)caller;
	if (thread == NULL || thread->is_ending)
		return ESRCH;
	*pid = thread->process->pid;
	*uid = thread->process->credentials.uid;
	return 0;
}
