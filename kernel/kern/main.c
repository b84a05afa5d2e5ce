/* SPDX-License-Identifier: MIT */
/* The machine-independent steps of starting: see main.h. */
#include "kern/main.h"

#include "i386/pmap.h"
#include "kern/sched.h"
#include "kern/task.h"
#include "kern/thread.h"
#include "vm/map.h"

void objects_init(void)
{
	pmap_zone_init();
	map_module_init();
	task_module_init();
	thread_module_init();
	sched_init();
}
