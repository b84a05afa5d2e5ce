/* SPDX-License-Identifier: MIT */
/* Makes so many tasks, one after the other, that fail at once (tests/ux/test_told.py). */
#include <mach.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define PATIENCE 1000

/* Without memory its first instruction is an exception.  Whether it has ended by that. */
static bool make_task(void)
{
	static const struct timespec a_moment = {0, 1000000};
	mach_port_t task, thread;
	mach_port_type_t type = 0;

	if (task_create(mach_task_self(), false, &task) != KERN_SUCCESS ||
	    thread_create(task, &thread) != KERN_SUCCESS || thread_resume(thread) != KERN_SUCCESS)
		return false;
	for (int n = 0; n < PATIENCE && type != MACH_PORT_TYPE_DEAD_NAME; n++) {
		nanosleep(&a_moment, NULL);
		mach_port_type(mach_task_self(), task, &type);
	}
	return type == MACH_PORT_TYPE_DEAD_NAME;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;

	for (int n = 0; n < count; n++) {
		if (!make_task())
			return 1;
	}
	return 0;
}
