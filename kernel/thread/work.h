/* SPDX-License-Identifier: MIT */
/*
 * What interrupts leave behind, and what happens on the way out of the kernel.
 *
 * An interrupt handler acknowledges its device, sets a bit in its CPU's `work` and returns.  The
 * rest is done here, in thread context, under the kernel lock.
 */
#ifndef THREAD_WORK_H
#define THREAD_WORK_H

/* Does this CPU's interrupt work.  Holds the kernel lock; interrupts are on. */
void interrupt_work(void);

/*
 * For WORK_SAMPLE: reads this CPU's ring.  Done too before another thread runs here, for the stack
 * of a thread that goes on elsewhere may have changed when it is looked at.
 */
void sample_work(void);

/*
 * Every loop over pages, entries or rights calls this each 64 turns.  It is never inlined:
 * tools/hot sees by its address how long the kernel goes without it.
 */
__attribute__((noinline)) void kernel_pause(void);

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

/* The same at the end of a trap or a fault: a tick that has come came in kernel mode. */
void trap_return(void);

#endif
