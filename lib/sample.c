/* SPDX-License-Identifier: MIT */
/*
 * Sampling by the names that Mach's libraries had for it: the port of the caller, which the last
 * argument was for, is not needed.
 */
#include "mach.h"

kern_return_t mach_sample_task(mach_port_t task, mach_port_t reply, mach_port_t caller)
{
	(void)caller;
	return task_sample(task, reply);
}

kern_return_t mach_sample_thread(mach_port_t thread, mach_port_t reply, mach_port_t caller)
{
	(void)caller;
	return thread_sample(thread, reply);
}
