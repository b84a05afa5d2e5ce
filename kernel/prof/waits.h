/* SPDX-License-Identifier: MIT */
/*
 * Waits: where a thread stood while it did not run, for what, and how long, for the streams that
 * want to know (SAMPLED_PC_WAIT).
 *
 * A thread whose waits some stream may want is watched: `waits_for` says what it waits for, and
 * `wait_since` since when.  A wait begins when the thread is switched from, and ends when it is
 * switched to; where the reason changes in between, as when it is woken and has to wait for its
 * turn, one ends and the next begins at the same moment.  So a thread that is watched either runs
 * or is in exactly one wait.
 *
 * Nobody else notices: the switch compares one word, as it did before (machine_watch_switches()),
 * and the end of a wait tests two flags at once (`noted`).  Threads of the kernel's own are not
 * watched.  A record is made when its wait ends, of a thread that does not run: its stacks stay as
 * they are meanwhile.  Nothing here allocates, blocks or wakes.  Guarded by the kernel lock.
 */
#ifndef PROF_WAITS_H
#define PROF_WAITS_H

#include <mach/prof.h>

#include "thread/thread.h"

/* Streams that want waits: who makes a thread looks at it. */
extern uint32_t waits_streams;

/* A new thread of a task, which stands still: it may have to be watched. */
void waits_meet(struct thread *thread);

/* A watched thread that does not run waits for something else; 0: it is about to end. */
void waits_change(struct thread *thread, enum prof_wait_reason reason);

/* A CPU goes on in `next`; one of the two may be watched. */
void waits_switched(struct thread *previous, struct thread *next);

/* As waits_change(), of a thread that may be watched. */
static inline void waits_note(struct thread *thread, enum prof_wait_reason reason)
{
	if (thread->watched)
		waits_change(thread, reason);
}

#endif
