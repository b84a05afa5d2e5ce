/* SPDX-License-Identifier: MIT */
/*
 * Which task was a process of a perf.data at which time?
 *
 * A process that executes another program goes on as another task (a *turn*).  The file may tell of
 * the new task before, since samples were taken on its behalf, and samples of the old one may still
 * follow behind.
 */
#ifndef GPROF_PERF_TASKS_H
#define GPROF_PERF_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "map.h"

struct perf_turn {
	uint64_t time; /* From then on the process is */
	uint32_t task;
	uint32_t before; /* Index of the process's turn before this one; MAP_NONE. */
	uint32_t number; /* Of turns before it. */
};

struct perf_tasks {
	struct perf_turn *turns;
	size_t n;
	size_t room;
	struct map last;   /* By pid, its last turn, */
	struct map labels; /* and the last task that was said to be its. */
};

/* Tasks of which no label says the id: above all those of the kernel's. */
#define PERF_TASK_OF_PID 0x40000000u

uint32_t perf_tasks_find(const struct perf_tasks *tasks, uint32_t pid, uint64_t time);

/* That task is, or will be, the process. */
void perf_tasks_label(struct perf_tasks *tasks, uint32_t pid, uint32_t task);

/*
 * From that time on the process is the task that was said last.  False if it has been so many that
 * they are no programs that it executed.
 */
bool perf_tasks_turn(struct perf_tasks *tasks, uint32_t pid, uint64_t time);

void perf_tasks_free(struct perf_tasks *tasks);

/* When something was that is no sample, by the rest of its record; PROFILE_NO_TIME. */
uint64_t perf_record_time(const unsigned char *rest, size_t size, uint64_t sample_type);

#endif
