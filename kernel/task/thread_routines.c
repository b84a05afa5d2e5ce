/* SPDX-License-Identifier: MIT */
/*
 * Calls to threads: making, ending, suspending and aborting them (<mach/mach.defs>).
 *
 * The stub's reference keeps the thread's structure while a routine waits.  Guarded by the kernel
 * lock.
 */
#include <mach/mach_types.h>

#include "ipc/space.h"
#include "mach/gnumach_server.h"
#include "mach/mach_port_server.h"
#include "mach/mach_server.h"
#include "task/task.h"
#include "thread/sched.h"
#include "thread/thread.h"
#include "thread/turn.h"

kern_return_t thread_create(task_t task, thread_t *child)
{
	struct thread *thread;

	if (task == NULL || task->ending)
		return KERN_INVALID_ARGUMENT;
	thread = thread_create_user(task, 0, 0, task_first_priority(task));
	if (thread == NULL)
		return KERN_RESOURCE_SHORTAGE;
	turn_share(cpu_self(), thread);
	thread->suspend_count = 1;
	thread_update_stop(thread);
	*child = thread_reference(thread);
	return KERN_SUCCESS;
}

/* Waits until `thread`, which is to end, is gone, or the caller has to go itself. */
static void thread_await_end(struct thread *thread)
{
	while (thread->state != THREAD_DEAD)
		if (thread_wait(&thread->stop_waiters, WAIT_FOREVER, WAIT_THREAD) ==
		    WAIT_INTERRUPTED)
			return;
}

kern_return_t thread_terminate(thread_t thread)
{
	if (thread == NULL)
		return KERN_INVALID_ARGUMENT;
	thread_kill(thread);
	if (thread != current_thread())
		thread_await_end(thread);
	return KERN_SUCCESS;
}

/* What goes before the thread ends may be missing: nobody is there any more to be told. */
kern_return_t thread_terminate_release(thread_t thread, task_t task, mach_port_name_t thread_name,
				       mach_port_name_t reply_port, vm_address_t address,
				       vm_size_t size)
{
	if (thread == NULL || task == NULL || task->ending)
		return KERN_INVALID_ARGUMENT;
	mach_port_deallocate(task->space, thread_name);
	if (reply_port != MACH_PORT_NULL)
		mach_port_destroy(task->space, reply_port);
	if (address != 0 || size != 0)
		vm_deallocate(task->map, address, size);
	return thread_terminate(thread);
}

/* ---------------- Suspending ---------------- */

kern_return_t thread_suspend(thread_t thread)
{
	kern_return_t result = KERN_SUCCESS;

	if (thread == NULL || thread_is_dying(thread))
		return KERN_INVALID_ARGUMENT;
	thread->suspend_count++;
	thread_update_stop(thread);
	if (thread != current_thread())
		result = thread_await_stop(thread);
	if (result != KERN_SUCCESS && thread->suspend_count > 0) {
		thread->suspend_count--;
		thread_update_stop(thread);
	}
	return result;
}

kern_return_t thread_resume(thread_t thread)
{
	if (thread == NULL || thread_is_dying(thread))
		return KERN_INVALID_ARGUMENT;
	if (thread->suspend_count == 0)
		return KERN_FAILURE;
	thread->suspend_count--;
	thread_update_stop(thread);
	return KERN_SUCCESS;
}

/* Whether a suspended thread has still to come to the edge of user mode, or to its end. */
static bool thread_is_on_its_way(const struct thread *thread)
{
	return (thread->asked & THREAD_ASKED_STOP) != 0 && thread->state != THREAD_DEAD &&
	       !(thread->state == THREAD_STOPPED && thread->at_edge);
}

/* A suspended thread stands at the edge of user mode when this returns: its state can be set. */
kern_return_t thread_abort(thread_t thread)
{
	if (thread == NULL || thread == current_thread() || thread_is_dying(thread))
		return KERN_INVALID_ARGUMENT;
	sched_raise_depressed(thread);
	thread_interrupt(thread);
	while (thread_is_on_its_way(thread))
		if (thread_wait(&thread->stop_waiters, WAIT_FOREVER, WAIT_THREAD) ==
		    WAIT_INTERRUPTED)
			return KERN_ABORTED;
	return KERN_SUCCESS;
}
