/* SPDX-License-Identifier: MIT */
/* Who asks for a page, and who else may: apart from page.c, which knows of no threads. */
#include <stddef.h>

#include <mach/calls.h>

#include "base/owner.h"
#include "task/task.h"
#include "thread/thread.h"
#include "vm/page/page.h"

bool page_caller_is_privileged(void)
{
	return current_thread()->vm_privileged;
}

enum page_class page_caller_class(void)
{
	const struct thread *thread = current_thread();

	if (thread->task == NULL)
		return PAGE_FOR_SYSTEM;
	if (owner_limited(thread->task->owner) != NULL)
		return PAGE_FOR_USER;
	/* Who does later what a user has caused, and answers nobody, must get it done. */
	if (thread->serves == MACH_PORT_NULL)
		return PAGE_FOR_SYSTEM;
	return owner_limited(task_payer()) != NULL ? PAGE_FOR_SERVED : PAGE_FOR_SYSTEM;
}

uint32_t page_caller_label(void)
{
	const struct thread *thread = current_thread();

	return thread != NULL ? thread->label : HOST_CALLS_SYSTEM;
}

bool page_users_are_there(void)
{
	return owner_users_have_tasks();
}
