/* SPDX-License-Identifier: MIT */
/*
 * What interrupts leave behind, and what happens on the way out of the kernel.
 *
 * An interrupt handler acknowledges its device, sets a bit in its CPU's `work` and returns.  The rest
 * is done here, in thread context, under the kernel lock.
 */
#ifndef KERN_WORK_H
#define KERN_WORK_H

/* Does this CPU's interrupt work.  Holds the kernel lock; interrupts are on. */
void interrupt_work(void);

/* Every loop over pages, entries or rights calls this each 64 turns. */
void kernel_pause(void);

/*
 * The way out to user mode: called with the kernel lock and interrupts off, returns without the lock,
 * interrupts off, when nothing is left to do.  Does not return to a thread that is to end.
 */
void user_return(void);

#endif
