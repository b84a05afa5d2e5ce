/* SPDX-License-Identifier: MIT */
/*
 * Calls to tasks: making, ending, suspending them, and their threads (<mach/mach.defs>).
 *
 * The stub's reference keeps the task's structure while a routine waits.  Guarded by the kernel
 * lock.
 */
#include <mach/mach_types.h>

#include "base/assert.h"
#include "ipc/port.h"
#include "mach/mach_server.h"
#include "prof/calls.h"
#include "prof/profil.h"
#include "task/task.h"
#include "task/task_notify.h"
#include "thread/thread.h"
#include "thread/work.h"
#include "vm/map/map.h"
#include "vm/page/kernel_memory.h"

/* The memory that a new task begins with.  May block, and the parent may have ended then. */
static kern_return_t task_make_map(struct task *parent, bool inherit, struct vm_map **map)
{
	struct vm_map *source;
	kern_return_t result;

	if (!inherit) {
		*map = map_create(parent->map->payer);
		return *map != NULL ? KERN_SUCCESS : KERN_RESOURCE_SHORTAGE;
	}
	source = map_reference(parent->map);
	result = map_inherit(source, map);
	map_release(source);
	return result;
}

/* A task that has ended makes none: there would be nobody with whom the child ended. */
static bool task_may_make(const struct task *parent)
{
	return !parent->ending && !current_task()->ending;
}

kern_return_t task_create(task_t parent, boolean_t inherit_memory, task_t *child)
{
	struct task *task = NULL;
	struct vm_map *map;
	kern_return_t result;

	if (parent == NULL || parent->ending)
		return KERN_INVALID_ARGUMENT;
	result = task_make_map(parent, inherit_memory, &map);
	if (result != KERN_SUCCESS)
		return result;
	if (task_may_make(parent))
		task = task_new(parent, parent->name, map, -1);
	if (task == NULL) {
		map_destroy(map);
		return task_may_make(parent) ? KERN_RESOURCE_SHORTAGE : KERN_INVALID_ARGUMENT;
	}
	if (inherit_memory && !profil_inherit(task, parent)) {
		task_end(task, 0);
		return KERN_RESOURCE_SHORTAGE;
	}
	calls_follow_child(task, parent);
	task_notify_new(task, parent);
	*child = task_reference(task);
	return KERN_SUCCESS;
}

/* Others' tasks are over when this returns, unless the caller has to go itself first. */
kern_return_t task_terminate(task_t task)
{
	if (task == NULL)
		return KERN_INVALID_ARGUMENT;
	task_end(task, 0);
	if (task == current_task())
		return KERN_SUCCESS;
	while (task->n_threads > 0)
		if (thread_wait(&task->thread_gone, WAIT_FOREVER, WAIT_THREAD) == WAIT_INTERRUPTED)
			break;
	return KERN_SUCCESS;
}

/* ---------------- Suspending ---------------- */

static void task_update_threads(struct task *task)
{
	list_for_each_object (struct thread, thread, &task->threads, task_link) {
		thread_update_stop(thread);
		pause_each();
	}
}

/* A thread of the task, but for the caller, that has not stopped yet; NULL if there is none. */
static struct thread *task_thread_in_motion(struct task *task)
{
	list_for_each_object (struct thread, thread, &task->threads, task_link) {
		if (thread != current_thread() && !thread_stands_still(thread))
			return thread;
		pause_each();
	}
	return NULL;
}

/* Waits until all threads of the task have stopped, or somebody resumes it. */
static kern_return_t task_await_stop(struct task *task)
{
	struct thread *thread;
	kern_return_t result = KERN_SUCCESS;

	while (result == KERN_SUCCESS && task->suspend_count > 0 &&
	       (thread = task_thread_in_motion(task)) != NULL) {
		thread_reference(thread);
		result = thread_await_stop(thread);
		thread_release(thread);
	}
	return result;
}

static void task_resume_once(struct task *task)
{
	task->suspend_count--;
	if (task->suspend_count == 0)
		task_update_threads(task);
}

kern_return_t task_suspend(task_t task)
{
	kern_return_t result;

	if (task == NULL || task->ending)
		return KERN_INVALID_ARGUMENT;
	task->suspend_count++;
	if (task->suspend_count == 1)
		task_update_threads(task);
	result = task_await_stop(task);
	if (result != KERN_SUCCESS && task->suspend_count > 0)
		task_resume_once(task);
	return result;
}

kern_return_t task_resume(task_t task)
{
	if (task == NULL || task->ending)
		return KERN_INVALID_ARGUMENT;
	if (task->suspend_count == 0)
		return KERN_FAILURE;
	task_resume_once(task);
	return KERN_SUCCESS;
}

/* ---------------- Its threads ---------------- */

/* Leaves an array of send rights, one for each thread that has a port. */
kern_return_t task_threads(task_t task, thread_array_t *threads, mach_msg_type_number_t *count)
{
	struct port **ports = NULL;
	uint32_t n = 0;

	if (task == NULL || task->ending)
		return KERN_INVALID_ARGUMENT;
	if (task->n_threads > KERNEL_MEMORY_MAX / sizeof *ports)
		return KERN_RESOURCE_SHORTAGE;
	if (task->n_threads > 0) {
		ports = kernel_memory_alloc(task->n_threads * sizeof *ports);
		if (ports == NULL)
			return KERN_RESOURCE_SHORTAGE;
	}
	list_for_each_object (struct thread, thread, &task->threads, task_link) {
		ports[n++] = thread->port == NULL ? PORT_NULL : port_make_send(thread->port);
		pause_each();
	}
	assert(n == task->n_threads);
	*threads = (thread_array_t)ports;
	*count = n;
	return KERN_SUCCESS;
}
