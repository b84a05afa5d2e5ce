/* SPDX-License-Identifier: MIT */
/*
 * The scheduler: fixed priorities, turns of QUANTUM ticks within one, any CPU unless bound.
 *
 * A runnable thread is on a run queue, the common one, users' by their owner's share, or that of
 * the CPU it is bound to; a running one is on none.  The best runnable thread runs; user mode is
 * preempted, the kernel is not.  Guarded by the kernel lock.
 */
#ifndef THREAD_SCHED_H
#define THREAD_SCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include <mach/boolean.h>

#include "thread/run_queue.h"
#include "thread/share.h"
#include "thread/thread.h"

struct cpu;

/* POLICY_* that threads may have. */
extern uint32_t sched_policies;

/* The best priority that the processor set has for new threads. */
extern uint8_t sched_max_priority;

void sched_init(void);

/* Puts a runnable thread on its queue and makes a CPU that should run it look. */
void sched_make_runnable(struct thread *thread);

/*
 * Gives up the CPU: the current thread, in whatever state it is now, stays where it is until it is
 * runnable and chosen again.  May block.
 */
void sched_switch(void);

/* As sched_switch(), for one that waits or stands still: it keeps the rest of its turn. */
void sched_wait(void);

/*
 * Lets others have a turn: the current thread is the last of `priority`, its own or a worse one,
 * until it runs again.  Says whether they had one, in a whole word, as traps give it.  May block.
 */
boolean_t sched_yield(unsigned priority);

/* On the way out of the kernel, when another thread should run here.  May block. */
void sched_preempt(void);

/*
 * One tick has come on this CPU: charges the thread that runs, and ends the turn when it is used
 * up.
 */
void sched_tick(struct cpu *cpu);

/*
 * Reasons why a tick is not simply charged to the thread that it finds: each task with a virtual
 * timer is one, and that the CPUs run in turn another.  Kernel lock.
 */
extern uint32_t sched_charges_apart;

/*
 * `thread`, the current one, has just begun to wait, and the wait of `to`, a waiting thread, is
 * over: `to` runs here at once, for the rest of the current thread's turn, if it may and nothing
 * better waits.  Returns when the current thread runs again.  May block.
 */
void sched_handoff(struct thread *thread, struct thread *to);

/*
 * As sched_yield() or, with `waiting`, as sched_wait(), but `to` runs next whatever its priority,
 * if it is runnable and may run here.  Returns false, having done nothing, if it is not.
 */
bool sched_yield_to(struct thread *to, unsigned priority);
bool sched_switch_to(struct thread *to);

/* A running thread is asked something: makes its CPU look. */
void sched_notice(struct thread *thread);

/* Takes a runnable thread off its queue; the caller changes its state. */
void sched_remove(struct thread *thread);

/*
 * Turns of `thread` are its owner's from now on; of one that is better than programs are they stay
 * those of who ran before, for whom it is likely to work.
 */
void sched_set_owner(struct thread *thread, struct owner *owner);

/* Gives a thread another priority, with what follows from it. */
void sched_set_priority(struct thread *thread, unsigned priority);

/* Ends the turn of worse priority that a thread has after a depressed yield. */
void sched_raise_depressed(struct thread *thread);

/* Moves the current thread to the CPU it may run on; NULL: any.  May block. */
void sched_bind(struct cpu *cpu);

/* Sees to the thread that was switched away from. */
void sched_finish_switch(void);

/* What an idle CPU does, for ever.  Called with the kernel lock, on the idle thread. */
noreturn void sched_idle(void);

#endif
