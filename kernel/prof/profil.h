/* SPDX-License-Identifier: MIT */
/*
 * profil(): a task's own histogram of program counters, kept in its memory (<mach/profil.h>).
 *
 * A tick that finds a thread in user mode is owed to the task; the thread pays it at the edge of
 * user mode (THREAD_ASKED_EXPIRED), by adding to the bin of the instruction that was interrupted,
 * and waits there for the bin's page.  Guarded by the kernel lock.
 */
#ifndef PROF_PROFIL_H
#define PROF_PROFIL_H

#include <stdbool.h>
#include <stdint.h>

struct task;
struct thread;

void profil_module_init(void);

/* `thread` has been charged a tick that came in user mode. */
void profil_owe(struct thread *thread);

/*
 * The current thread, at the edge of user mode, pays what it owes.  False if it was interrupted: it
 * owes that still.  A bin that cannot be written ends the task's profile.  May block.
 */
bool profil_pay(struct thread *thread);

/* A child with a copy of its parent's memory has the same profile in it.  False: no memory. */
bool profil_inherit(struct task *child, const struct task *parent);

/* The task has no profile any more. */
void profil_forget(struct task *task);

/*
 * The machine's: adds to the 16-bit count at this address of the current task, a user's, which
 * stops at its highest; others may add to it, too.  False if it cannot be written as it is mapped.
 * Does not block.
 */
bool machine_count(uint32_t count, uint32_t more);

#endif
