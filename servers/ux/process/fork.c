/* SPDX-License-Identifier: MIT */
/*
 * fork: a process like the caller's, whose task has a copy of its memory.  Guarded by the server's
 * lock.
 *
 * The copy is made by the kernel, page by page as they are written to.  Names of ports are not
 * copied: the child's only right is its bootstrap port, by which it calls the server.
 */
#include <ux/bsd_server.h>

#include "process/process.h"
#include "process/task.h"
#include "process/thread.h"

/*
 * A task with the memory of the caller's.  The kernel may have to ask a pager what is to be copied,
 * which may be anybody's, so this unlocks.  The caller's structure, and with it the name of its
 * task, are there as long as the call is.
 */
static int fork_copy_task(const struct process *child, const struct thread *caller,
			  mach_port_t *task)
{
	mach_port_t parent = caller->process->task;
	int error;

	ux_unlock();
	error = task_new(parent, true, task);
	ux_lock();
	if (error == 0 && (caller->is_ending || child->is_exiting)) {
		task_end(*task);
		error = EINTR;
	}
	return error;
}

/* Gives the child a task, and a thread that is not running yet; 0 or an errno.  Unlocks. */
static int fork_make_alive(struct process *child, const struct thread *caller, uint32_t entry,
			   uint32_t stack, struct thread **first)
{
	mach_port_t task;
	int error = fork_copy_task(child, caller, &task);

	if (error != 0)
		return error;
	process_change_task(child, task);
	*first = thread_new_in(child, task, entry, stack);
	if (*first == NULL)
		return EAGAIN;
	(*first)->signals.mask = caller->signals.mask;
	(*first)->signals.stack = caller->signals.stack;
	thread_enter(*first);
	if (!thread_give_bootstrap(*first, task) || !exceptions_catch(child))
		return ENOMEM;
	return 0;
}

/* What fails is taken back, as if nothing had been. */
kern_return_t ux_fork(caller_t caller, unsigned entry, unsigned stack, int *pid)
{
	struct process *child;
	struct thread *first;
	int error = process_new(caller->process, &child);

	if (error != 0)
		return error;
	child->calls = 1; /* This one, as it were: so the child stays, should all be ended. */
	error = fork_make_alive(child, caller, entry, stack, &first);
	if (error == 0 && thread_resume(first->kernel) != KERN_SUCCESS)
		error = ENOMEM;
	if (error != 0) {
		process_abandon(child);
		return error;
	}
	assert(!child->is_exiting);
	child->calls = 0;
	caller->process->task_children++;
	*pid = child->pid;
	return 0;
}
