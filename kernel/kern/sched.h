/* SPDX-License-Identifier: MIT */
/*
 * The scheduler: fixed priorities, turns of QUANTUM ticks within one, any CPU unless bound.
 *
 * A runnable thread is on a run queue, the common one or that of the CPU it is bound to; a running
 * one is on none.  The best runnable thread runs; user mode is preempted, the kernel is not.
 * Guarded by the kernel lock.
 */
#ifndef KERN_SCHED_H
#define KERN_SCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>

struct cpu;
struct thread;

void sched_init(void);

/* Puts a runnable thread on its queue and makes a CPU that should run it look. */
void sched_make_runnable(struct thread *thread);

/*
 * Gives up the CPU: the current thread, in whatever state it is now, stays where it is until it is
 * runnable and chosen again.  May block.
 */
void sched_switch(void);

/* Lets another thread have a turn: one of at least the caller's priority, or any if `depressed`. */
bool sched_yield(bool depressed);

/* The way out of the kernel when another thread should run here. */
void sched_preempt(void);

/* One tick has come on this CPU: ends the quantum when it is used up. */
void sched_tick(struct cpu *cpu);

/* A running thread is to end: makes its CPU look. */
void sched_notice_death(struct thread *thread);

/* Moves the current thread to the CPU it may run on; NULL: any. */
void sched_bind(struct cpu *cpu);

/* Sees to the thread that was switched away from. */
void sched_finish_switch(void);

/* What an idle CPU does, for ever.  Called with the kernel lock, on the idle thread. */
noreturn void sched_idle(void);

#endif
