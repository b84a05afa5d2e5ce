/* SPDX-License-Identifier: MIT */
/*
 * The kernel lock.
 *
 * One lock guards all of the kernel that thread code touches.  It is taken at every entry from user
 * mode (for a trap in i386/entry/entry.S) and by an idle CPU that finds work, kept across a thread
 * switch, and released on the way to user mode and in idle.  A CPU waits for it with interrupts on.
 *
 * The lock itself is one bit, so that taking and releasing it free costs two instructions.  That
 * alone would let a CPU that comes back quickly keep another out for ever.  So CPUs that have to
 * wait stand in a queue (tickets), and the first of them asks all others, by WORK_LOCK, to hand
 * over: whoever then leaves the kernel waits until the first in the queue has the lock.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

extern uint32_t kernel_lock_word; /* Bit 0: held. */

/* Takes the lock; interrupts must be on. */
void kernel_lock(void);

/* The part of kernel_lock() for when it is not free.  Not inlined, as kernel_pause() is not. */
__attribute__((noinline)) void kernel_lock_wait(void);

/* Releases the lock, whoever waits for it; interrupts on or off. */
void kernel_unlock(void);

/*
 * Releases the lock and waits, if another CPU stands in the queue, until it has had it.  As above
 * not inlined.
 */
__attribute__((noinline)) void kernel_unlock_fair(void);

/* Whether the lock is held: for assertions, where the caller must be the one who holds it. */
static inline bool kernel_locked(void)
{
	return (kernel_lock_word & 1) != 0;
}

/*
 * Marks a place where CPUs may race for what an unlock released.  With the kernel argument jitter=N
 * a generator seeded by N lets some of them pass to the other CPU here (`pause`), so that a run
 * under the instruction clock tries another order of events for every seed, and the same for the
 * same seed.
 */
void race(void);

#endif
