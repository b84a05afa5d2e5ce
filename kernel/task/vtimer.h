/* SPDX-License-Identifier: MIT */
/*
 * Virtual timers: they count the CPU time of a task, in ticks, and tell the thread that used it.
 *
 * Time is what the scheduler's tick charges (sched_tick()), whichever thread of the task it is
 * charged to.  The thread that is charged the last tick of a timer raises the exception itself, at
 * the edge of user mode (THREAD_ASKED_EXPIRED).  Guarded by the kernel lock.
 */
#ifndef TASK_VTIMER_H
#define TASK_VTIMER_H

#include <stdbool.h>
#include <stdint.h>

struct task;
struct thread;

struct vtimer {
	uint32_t left;     /* Ticks until it expires; 0: it does not. */
	uint32_t interval; /* From then to the next; 0: that was all. */
	uint32_t elapsed;  /* Charged since it was set. */
	uint32_t owed;     /* Expiries whose thread ended before it told of them. */
};

/*
 * `thread` has been charged a tick, in the kernel or not.  Need not be called as long as no task
 * has a timer that is set, or owes something: each is a reason of sched_charges_apart.
 */
void vtimer_tick(struct thread *thread, bool in_kernel);

/*
 * The current thread, at the edge of user mode, raises the exceptions of the timers that have
 * expired while it ran.  What could not be sent because it was interrupted is left.  May block.
 */
void vtimer_raise(struct thread *thread);

/* A thread is gone that has not told of all: the next one that is charged a tick does. */
void vtimer_pass_on(const struct thread *thread);

/* The task's timers or its profile have changed: it may be a reason to call vtimer_tick() now. */
void vtimer_note_change(struct task *task);

/* The task has ended. */
void vtimer_forget(struct task *task);

#endif
