/* SPDX-License-Identifier: MIT */
/*
 * The interval timers of processes: setitimer().
 *
 * The real one is a deadline, for which a thread of the server's waits.  The other two are the
 * kernel's, which counts what a task's threads use; see exception.c for what it tells.
 */
#ifndef UX_TIMER_H
#define UX_TIMER_H

#include <sys/time.h>

#include <assay/list.h>
#include "core/ux.h"

struct process_timers {
	struct list link;  /* In the list of real timers that run, by deadline. */
	uint64_t deadline; /* Of the real timer, in nanoseconds; 0: it does not run. */
	uint64_t interval; /* Nanoseconds; 0: once. */
	struct itimerval
		virtual_timers[ITIMERS]; /* As set, or as they were when the task was left. */
};

void timers_init(struct process_timers *timers);

/* A process that ends. */
void timers_end(struct process *process);

/* exec: called with the old task, which is about to end, and then with the new one. */
void timers_leave_task(struct process *process);
void timers_new_task(struct process *process);

/* The thread that waits for real timers. */
bool timers_start(void);

#endif
