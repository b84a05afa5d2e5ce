/* SPDX-License-Identifier: MIT */
/*
 * The scheduler's tick: TICK_HZ a second on every CPU, from its own local APIC timer.
 *
 * The schedule is absolute, in cycles, and the same for all CPUs, so that late handling never makes
 * it drift and a tick has the same number everywhere.  With jitter= each is delayed by a seeded
 * part of its interval, and also while any task has a virtual timer: a profile by SIGPROF of a
 * program in step with the tick would else be false.  Where the CPUs run in turn that
 * jitter is the same on all.  CPU 0 counts the ticks that timeouts are
 * measured in.
 */
#ifndef THREAD_TICK_H
#define THREAD_TICK_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;

/* Reads jitter= and limit=; once. */
void tick_init(void);

/* Starts this CPU's tick. */
void tick_start(struct cpu *cpu);

/* The interrupt: arms the next one and leaves WORK_TICK.  Ends the run when its time is over. */
void tick_interrupt(struct cpu *cpu);

/* The work: under the kernel lock. */
void tick_work(struct cpu *cpu);

/* Ticks are shared out, as the CPUs run in turn. */
void tick_share_from_now_on(void);

/*
 * Where the CPUs run in turn (thread/holder.h): how many ticks the thread that runs on `cpu` is to
 * be charged, which it has not been yet.  Under the kernel lock.
 */
uint32_t tick_take_charged(struct cpu *cpu);

/*
 * Where the CPUs run in turn: one goes on to user mode and has kept others waiting.  Interrupts are
 * on, and the kernel lock is free.
 */
void tick_give_back_turn(const struct cpu *cpu);

/* One more reason for jitter, or one less.  Under the kernel lock. */
void tick_want_jitter(bool want);

/* The first tick that is at least `ms` milliseconds ahead. */
uint64_t tick_after_ms(uint32_t ms);

#endif
