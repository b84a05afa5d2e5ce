/* SPDX-License-Identifier: MIT */
/* What people are told of tasks and threads: their names, and which are servers
 * (<mach/gnumach.defs>). */
#include <mach/mach_types.h>

#include "base/string.h"
#include "boot/bootstrap.h"
#include "mach/gnumach_server.h"
#include "task/task.h"
#include "thread/thread.h"

/* Longer names lose their end. */
kern_return_t task_set_name(task_t task, const_kernel_debug_name_t name)
{
	if (task == NULL)
		return KERN_INVALID_ARGUMENT;
	strlcpy(task->name, name, sizeof task->name);
	return KERN_SUCCESS;
}

kern_return_t thread_set_name(thread_t thread, const_kernel_debug_name_t name)
{
	if (thread == NULL)
		return KERN_INVALID_ARGUMENT;
	strlcpy(thread->name, name, sizeof thread->name);
	return KERN_SUCCESS;
}

/* A thread without a name of its own has its task's. */
kern_return_t thread_get_name(thread_t thread, kernel_debug_name_t name)
{
	if (thread == NULL)
		return KERN_INVALID_ARGUMENT;
	memset(name, 0, KERNEL_DEBUG_NAME_MAX);
	strlcpy(name, thread->name[0] != '\0' ? thread->name : thread->task->name,
		KERNEL_DEBUG_NAME_MAX);
	return KERN_SUCCESS;
}

/*
 * The log says so when an essential task ends by an exception; the machine goes on.  A boot program
 * that is essential is a server.
 */
kern_return_t task_set_essential(task_t task, boolean_t essential)
{
	if (task == NULL)
		return KERN_INVALID_ARGUMENT;
	task->essential = essential != 0;
	if (task->module >= 0 && !task->ending)
		bootstrap_task_serves(task, task->essential);
	return KERN_SUCCESS;
}
