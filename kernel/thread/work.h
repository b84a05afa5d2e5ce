/* SPDX-License-Identifier: MIT */
/*
 * What interrupts leave behind, and what happens on the way out of the kernel.
 *
 * An interrupt handler acknowledges its device, sets a bit in its CPU's `work` and returns.  The
 * rest is done here, in thread context, under the kernel lock.
 */
#ifndef THREAD_WORK_H
#define THREAD_WORK_H

#include <stdint.h>

/* Does this CPU's interrupt work.  Holds the kernel lock; interrupts are on. */
void interrupt_work(void);

/*
 * For WORK_SAMPLE: reads this CPU's ring.  Done too before another thread runs here, for the stack
 * of a thread that goes on elsewhere may have changed when it is looked at.
 */
void sample_work(void);

/*
 * Does interrupts' work, if there is any, in the midst of something long; pause_each() calls it.
 * It is never inlined: tools/hot sees by its address how long the kernel goes without it.
 */
__attribute__((noinline)) void kernel_pause(void);

/* Turns between two pauses, and as how many a turn counts that clears or copies a page. */
#define PAUSE_TURNS      64
#define PAUSE_PAGE_TURNS 4

/* Turns of any loops until the next pause, at least one: guarded by the kernel lock. */
extern uint32_t pause_turns_left;

/*
 * A turn of a loop over pages, entries or rights is over: each PAUSE_TURNS of them, of whichever
 * loops, are followed by a pause.  What interrupts' work looks at is whole at every call.
 */
static inline void pause_each(void)
{
	if (--pause_turns_left == 0)
		kernel_pause();
}

/* As pause_each(), behind a turn that clears or copies a page. */
static inline void pause_each_page(void)
{
	if (pause_turns_left <= PAUSE_PAGE_TURNS)
		kernel_pause();
	else
		pause_turns_left -= PAUSE_PAGE_TURNS;
}

/*
 * For loops that interrupts' work itself, or what it may not find half changed, goes through: turn
 * number `turn` is over.  There is a pause in them only if they are long.
 */
static inline void pause_if_long(uint32_t turn)
{
	if (turn % PAUSE_TURNS == 0)
		kernel_pause();
}

/*
 * What may take as long as a user likes calls this now and then: other CPUs get the kernel lock,
 * and this one another thread if one should run.  May block.
 */
void kernel_rest(void);

/*
 * The way out to user mode: called with the kernel lock and interrupts on, returns without the lock
 * and with interrupts off when nothing is left to do.  Does not return to a thread that is to end.
 */
void user_return(void);

/* As user_return(), at the end of a trap or a fault: a tick that has come came in kernel mode. */
void trap_return(void);

#endif
