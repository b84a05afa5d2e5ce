/* SPDX-License-Identifier: MIT */
/*
 * Priorities, policies and processor sets of tasks and threads (<mach/mach_host.defs>).
 *
 * There is one processor set; every thread is in it and stays there.  Guarded by the kernel lock.
 */
#include <mach/mach_types.h>

#include "host/host.h"
#include "mach/mach_host_server.h"
#include "task/task.h"
#include "thread/run_queue.h"
#include "thread/sched.h"
#include "thread/thread.h"
#include "thread/work.h"

static bool priority_is_priority(int priority)
{
	return priority >= PRIORITY_BEST && priority <= PRIORITY_WORST;
}

/* ---------------- Priorities ---------------- */

/*
 * Above the thread's limit nobody gets without the processor set's port.  KERN_FAILURE says that
 * the limit is one that the thread has taken upon itself, KERN_NO_ACCESS that it is its task's.
 */
kern_return_t thread_priority(thread_t thread, int priority, boolean_t set_max)
{
	if (thread == NULL || !priority_is_priority(priority))
		return KERN_INVALID_ARGUMENT;
	if (priority < thread->max_priority)
		return priority < thread->task->max_priority ? KERN_NO_ACCESS : KERN_FAILURE;
	if (set_max)
		thread->max_priority = (uint8_t)priority;
	sched_set_priority(thread, (unsigned)priority);
	return KERN_SUCCESS;
}

static void priority_set_limit(struct thread *thread, int limit)
{
	thread->max_priority = (uint8_t)limit;
	if (thread->priority < limit)
		sched_set_priority(thread, (unsigned)limit);
}

/* Whoever has the port of the set may go beyond the limits of the thread and of its task. */
kern_return_t thread_max_priority(thread_t thread, processor_set_t set, int max_priority)
{
	if (thread == NULL || set == NULL || !priority_is_priority(max_priority))
		return KERN_INVALID_ARGUMENT;
	priority_set_limit(thread, max_priority);
	return KERN_SUCCESS;
}

/* KERN_FAILURE if the limit of some thread does not allow it; the others have it then. */
static kern_return_t priority_change_threads(struct task *task, int priority)
{
	kern_return_t result = KERN_SUCCESS;

	list_for_each_object (struct thread, thread, &task->threads, task_link) {
		if (thread_priority(thread, priority, false) != KERN_SUCCESS)
			result = KERN_FAILURE;
		pause_each();
	}
	return result;
}

kern_return_t task_priority(task_t task, int priority, boolean_t threads_too)
{
	if (task == NULL || !priority_is_priority(priority))
		return KERN_INVALID_ARGUMENT;
	if (priority < task->max_priority)
		return KERN_NO_ACCESS;
	task->priority = (uint8_t)priority;
	return threads_too ? priority_change_threads(task, priority) : KERN_SUCCESS;
}

/* Threads that stand at the old limit move with it; those that have better ones lose them. */
kern_return_t task_max_priority(task_t task, processor_set_t set, int max_priority)
{
	int old;

	if (task == NULL || set == NULL || !priority_is_priority(max_priority))
		return KERN_INVALID_ARGUMENT;
	old = task->max_priority;
	task->max_priority = (uint8_t)max_priority;
	if (task->priority < max_priority)
		task->priority = (uint8_t)max_priority;
	list_for_each_object (struct thread, thread, &task->threads, task_link) {
		if (thread->max_priority == old || thread->max_priority < max_priority)
			priority_set_limit(thread, max_priority);
		pause_each();
	}
	return KERN_SUCCESS;
}

kern_return_t thread_depress_abort(thread_t thread)
{
	if (thread == NULL)
		return KERN_INVALID_ARGUMENT;
	sched_raise_depressed(thread);
	return KERN_SUCCESS;
}

kern_return_t thread_policy(thread_t thread, int policy, int data)
{
	if (thread == NULL || invalid_policy(policy))
		return KERN_INVALID_ARGUMENT;
	if ((sched_policies & (uint32_t)policy) == 0)
		return KERN_FAILURE;
	thread->policy = (uint8_t)policy;
	thread->policy_data = policy == POLICY_FIXEDPRI ? data : 0;
	return KERN_SUCCESS;
}

/* Calls `change` for each thread of each task. */
static void priority_each_thread(void (*change)(struct thread *thread))
{
	list_for_each_object (struct task, task, &all_tasks, link) {
		list_for_each_object (struct thread, thread, &task->threads, task_link) {
			change(thread);
			pause_each();
		}
	}
}

static void priority_forget_policy(struct thread *thread)
{
	if ((sched_policies & thread->policy) == 0) {
		thread->policy = POLICY_TIMESHARE;
		thread->policy_data = 0;
	}
}

void thread_policies_reset(void)
{
	priority_each_thread(priority_forget_policy);
}

/* No thread is ever without its stack; what is left to give is the last pages. */
kern_return_t thread_wire(host_t host, thread_t thread, boolean_t wired)
{
	if (host == NULL || thread != current_thread())
		return KERN_INVALID_ARGUMENT;
	thread->vm_privileged = wired != 0;
	return KERN_SUCCESS;
}

/* ---------------- The processor set ---------------- */

static void priority_obey_set(struct thread *thread)
{
	if (thread->max_priority < sched_max_priority)
		priority_set_limit(thread, sched_max_priority);
}

/* For threads to come; threads that are there keep what they have unless they are to change. */
kern_return_t processor_set_max_priority(processor_set_t set, int max_priority, boolean_t change)
{
	if (set == NULL || !priority_is_priority(max_priority))
		return KERN_INVALID_ARGUMENT;
	sched_max_priority = (uint8_t)max_priority;
	if (change)
		priority_each_thread(priority_obey_set);
	return KERN_SUCCESS;
}

kern_return_t thread_assign(thread_t thread, processor_set_t set)
{
	(void)thread;
	(void)set;
	return KERN_FAILURE;
}

kern_return_t thread_assign_default(thread_t thread)
{
	(void)thread;
	return KERN_FAILURE;
}

kern_return_t thread_get_assignment(thread_t thread, processor_set_t *set)
{
	if (thread == NULL)
		return KERN_INVALID_ARGUMENT;
	*set = &default_set;
	return KERN_SUCCESS;
}

kern_return_t task_assign(task_t task, processor_set_t set, boolean_t assign_threads)
{
	(void)task;
	(void)set;
	(void)assign_threads;
	return KERN_FAILURE;
}

kern_return_t task_assign_default(task_t task, boolean_t assign_threads)
{
	(void)task;
	(void)assign_threads;
	return KERN_FAILURE;
}

kern_return_t task_get_assignment(task_t task, processor_set_t *set)
{
	if (task == NULL)
		return KERN_INVALID_ARGUMENT;
	*set = &default_set;
	return KERN_SUCCESS;
}
