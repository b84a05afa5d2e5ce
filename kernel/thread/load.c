/* SPDX-License-Identifier: MIT */
/* Averages of the load: see load.h.  Guarded by the kernel lock. */
#include "thread/load.h"

#include <mach/host_info.h>
#include <mach/processor_info.h>

#include "base/timer.h"
#include "task/task.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"
#include "thread/tick.h"

#define AVERAGES 3

/* What is left of a value after a second, of LOAD_SCALE: e to the -1/5, -1/30, -1/60. */
static const int decay[AVERAGES] = {819, 967, 983};

static struct host_load_info load;
static struct timer timer;

/* Threads of users that run or could run. */
static int load_count_busy(void)
{
	int busy = 0;

	list_for_each_object (struct task, task, &all_tasks, link) {
		list_for_each_object (struct thread, thread, &task->threads, task_link) {
			busy += thread->state == THREAD_RUNNING || thread->state == THREAD_RUNNABLE;
		}
	}
	return busy;
}

static void load_average(int *value, int now, int kept)
{
	*value = (*value * kept + now * (LOAD_SCALE - kept)) / LOAD_SCALE;
}

/* A Mach factor is how much of the machine a new thread would get. */
static void load_look(struct timer *self)
{
	int cpus_there = (int)n_cpus;
	int busy = load_count_busy();
	int factor = busy > cpus_there ? cpus_there * LOAD_SCALE / (busy + 1)
				       : (cpus_there - busy) * LOAD_SCALE;

	for (unsigned n = 0; n < AVERAGES; n++) {
		load_average(&load.avenrun[n], busy * LOAD_SCALE, decay[n]);
		load_average(&load.mach_factor[n], factor, decay[n]);
	}
	timer_set(self, tick_after_ms(1000));
}

void load_init(void)
{
	timer_init(&timer, load_look);
	timer_set(&timer, tick_after_ms(1000));
}

void load_read(struct host_load_info *info)
{
	*info = load;
}
