/* SPDX-License-Identifier: MIT */
/*
 * For whom the server's threads do what was put off.
 *
 * A thread that has received a request works for its caller, and knows nothing of it: the kernel
 * does.  What is left for later is noted with the number of the task that it is for, and a thread
 * of the server's own that does it in the end says so.  It may because it has the task's port.  A
 * number is all that is kept, as it is no reference: of a task that is gone, nobody is told.
 */
#include "process/process.h"
#include "process/task.h"

uint32_t served_now(void)
{
	return assay_thread_label();
}

bool served_nobody(void)
{
	static uint32_t own; /* The same whoever finds it out. */

	if (own == 0)
		own = task_id(mach_task_self_cached());
	return served_now() == own;
}

static const struct process *served_find(uint32_t whom)
{
	struct list *link;

	assert(ux_lock_held());
	list_for_each (link, &processes) {
		const struct process *process = list_object(link, struct process, link);

		if (process->task_id == whom && process->task != MACH_PORT_NULL)
			return process;
	}
	return NULL;
}

uint32_t served_living(uint32_t whom)
{
	return served_find(whom) != NULL ? whom : 0;
}

/* The kernel refuses a task that has just ended, which is as good as not found. */
void served_begin(uint32_t whom)
{
	const struct process *process = served_find(whom);

	if (process != NULL)
		assay_thread_serve(process->task);
}

void served_end(void)
{
	assay_thread_serve(mach_task_self_cached());
}
