/* SPDX-License-Identifier: MIT */
/*
 * Shares: turns of owners (base/owner.h), so that no user has more of the CPUs for having more
 * threads (docs/threads.md).
 *
 * A user's threads that may run anywhere wait in groups, those of one priority in one, and the
 * group in the common run queue, as a thread of the system's does by itself.  Within a group
 * threads go round as in any run queue.  A group goes round by its owner's turns, which are counted
 * in cycles, over all CPUs on which threads of the owner run or others on their behalf.  Together
 * the turns of all users that wait are shorter than one of a thread, however many they are.
 *
 * When an owner's turn is over it has another and is in its next round, and each of its groups goes
 * behind all that wait once.  That is seen to when somebody would be chosen out of it, so that the
 * end of a turn costs the same however many groups there are.
 *
 * Guarded by the kernel lock.
 */
#ifndef THREAD_SHARE_H
#define THREAD_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include <assay/list.h>
#include "base/assert.h"
#include "thread/run_queue.h"

struct cpu;
struct thread;

/* The runnable threads of a user and a priority that may run anywhere. */
struct run_group {
	struct run_entry entry; /* In sched_common as long as there are any. */
	struct list threads;
	struct list *woken; /* The last that was added as woken, or `threads`. */
	uint32_t round;     /* The owner's when it last went behind others. */
	bool behind;        /* And nobody was chosen out of it since. */
	bool early;         /* It went before others, because somebody in it woke. */
};

struct share {
	uint32_t used;   /* Of the owner's turn, in cycles. */
	uint32_t round;  /* Turns that it has used up. */
	uint32_t queued; /* Of its groups, those in sched_common. */
	struct run_group groups[PRIORITIES];
};

/* Where a thread goes among its equals. */
enum share_place {
	SHARE_LAST,
	SHARE_YIELD, /* Last, and the group goes behind all others. */
	SHARE_FIRST, /* But behind those that have woken. */
	SHARE_WOKEN, /* The last of these, and in its owner's turn the group goes before others. */
};

/* Runnable threads that may run anywhere, users' in groups. */
extern struct run_queue sched_common;

void share_init(struct share *share);

/* The share's owner is gone: no CPU has it as its payer any more, and no thread waits in it. */
void share_end(const struct share *share);

/* Puts a thread's entry into its group, and takes it out. */
void share_add(struct share *share, struct run_entry *entry, unsigned priority,
	       enum share_place place);
void share_remove(struct share *share, struct run_entry *entry, unsigned priority);

/*
 * `link` is the first of `priority` in sched_common, and a group's: takes the thread out whose turn
 * it is.
 */
struct list *share_take(struct list *link, unsigned priority);

/* ---------------- Who pays ---------------- */

/*
 * From now on `payer` pays for what `cpu` runs, or nobody if that is NULL.  Says whether the turn
 * of who paid until now is over.
 */
bool share_pay(struct cpu *cpu, struct share *payer);

/*
 * A tick has come while `thread` runs on `cpu`: says whether its turn shall end, since that of who
 * pays is over, and another owner's threads wait.
 */
bool share_tick(struct cpu *cpu, const struct thread *thread);

/* Whether the owner's turn is over, so that others come before its threads of `priority`. */
bool share_is_behind(const struct share *share, unsigned priority);

/* Whether a user's `thread`, which is queued, waits for turns of others than who owns `running`. */
bool share_waits(const struct thread *thread, const struct thread *running);

#endif
