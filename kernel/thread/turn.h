/* SPDX-License-Identifier: MIT */
/*
 * Turns: what a thread may run before its equals do, QUANTUM ticks long.
 *
 * They are counted in cycles, so that whoever waits has paid for what it ran, whether or not a tick
 * came meanwhile.  Only ticks end them: what one ends too early or too late is made up for by the
 * next turn.  Guarded by the kernel lock.
 */
#ifndef THREAD_TURN_H
#define THREAD_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/machine.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"

/* In cycles; constant after turn_init(). */
extern uint32_t turn_length;
extern uint32_t turn_new; /* A whole one: a tick ends it, at most half a one early or late. */

/* A tick comes every `tick` cycles. */
void turn_init(uint32_t tick);

/* What is left of the turn that runs on `cpu`; not above 0: the next tick ends it. */
static inline int32_t turn_left(const struct cpu *cpu)
{
	return (int32_t)(cpu->turn_end - (uint32_t)machine_cycles());
}

/*
 * Whether the turn that runs on `cpu` is over for threads of `priority`.  A new one that a better
 * thread has come by is none of theirs: whom it works for would have turn after turn.
 */
static inline bool turn_is_over(const struct cpu *cpu, unsigned priority)
{
	return priority >= cpu->turn_over_from;
}

/* Another one follows on `cpu`, for the same thread. */
static inline void turn_over(struct cpu *cpu)
{
	cpu->turn_end += turn_length;
	cpu->turn_over_from = PRIORITY_BEST;
}

/*
 * `thread`, which is to be queued, has what is left of the turn that runs on `cpu` when it is next
 * chosen.  If that is over and `equals_wait`, it is behind them instead, with a new one.
 */
void turn_keep(const struct cpu *cpu, struct thread *thread, bool equals_wait);

/* As turn_keep(), for a thread that waits: a turn that is over is over. */
void turn_keep_waiting(const struct cpu *cpu, struct thread *thread);

/* Gives `thread`, which is new and does not run yet, half of what is left of the turn on `cpu`. */
void turn_share(struct cpu *cpu, struct thread *thread);

/* `thread` gives its turn to `to` and has, for the next time, what that had. */
static inline void turn_swap(struct thread *thread, struct thread *to)
{
	thread->turn = to->turn;
	to->turn.kind = TURN_WHOLE;
}

/* `thread`, which has not a whole turn, is chosen for `cpu`. */
void turn_resume(struct cpu *cpu, struct thread *thread);

/* As turn_resume(), for any thread. */
static inline void turn_begin(struct cpu *cpu, struct thread *thread)
{
	if (thread->turn.kind != TURN_WHOLE) {
		turn_resume(cpu, thread);
		return;
	}
	cpu->turn_end = (uint32_t)machine_cycles() + turn_new;
	cpu->turn_over_from = PRIORITIES;
}

#endif
