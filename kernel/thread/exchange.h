/* SPDX-License-Identifier: MIT */
/*
 * Two threads that change places: the current one waits, and one that waits goes on.
 *
 * In a header, because messages do little else: it is inlined there.  Guarded by the kernel lock.
 */
#ifndef THREAD_EXCHANGE_H
#define THREAD_EXCHANGE_H

#include <stdbool.h>

#include "base/assert.h"
#include "base/machine.h"
#include "thread/cpu_state.h"
#include "thread/sched.h"
#include "thread/thread.h"

/* Whether `to` may run on `cpu` in place of the current thread, with nothing else to be seen to. */
static inline bool is_simple_exchange(const struct cpu *cpu, const struct thread *to)
{
	uint32_t queued = sched_common.occupied[0] | sched_common.occupied[1] |
			  cpu->bound.occupied[0] | cpu->bound.occupied[1];

	return queued == 0 && to->asked == 0 &&
	       (cpu->work & (WORK_RESCHEDULE | WORK_THREAD | WORK_SAMPLE)) == 0 &&
	       (to->bound == NULL || to->bound == cpu);
}

/*
 * As thread_wait_handoff(), for the current thread `thread` and for a `to` that waits without a
 * time limit; quicker in the usual case that nobody else wants to run.  Who waits has run, so that
 * its priority is its own.  May block.
 */
static inline __attribute__((always_inline)) enum wait_result
sched_exchange(struct thread *thread, struct wait_queue *queue, enum wait_kind kind,
	       struct thread *to)
{
	struct cpu *cpu = cpu_self();

	assert(to->state == THREAD_WAITING);
	if (!is_simple_exchange(cpu, to))
		return thread_wait_handoff(queue, kind, to);
	list_remove(&to->wait_link);
	to->wait_result = WAIT_WOKEN;
	to->state = THREAD_RUNNING;
	to->cpu = cpu;
	thread->state = THREAD_WAITING;
	thread->wait_kind = (uint8_t)kind;
	list_add_last(&queue->waiters, &thread->wait_link);
	cpu->switches++;
	machine_switch(cpu, thread, to);
	if (cpu_self()->leaving != NULL || thread->asked != 0)
		sched_finish_switch();
	return thread->wait_result;
}

/* As sched_exchange(), for any `to`. */
static inline enum wait_result thread_exchange(struct wait_queue *queue, enum wait_kind kind,
					       struct thread *to)
{
	if (thread_waits_forever(to))
		return sched_exchange(current_thread(), queue, kind, to);
	return thread_wait_handoff(queue, kind, to);
}

#endif
