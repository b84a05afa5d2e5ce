/* SPDX-License-Identifier: MIT */
/*
 * A CPU: what it runs, what it has to do, what it counted.
 *
 * Fields under "kernel lock" are written by whoever holds it; the others as they say.
 */
#ifndef THREAD_CPU_STATE_H
#define THREAD_CPU_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "base/cpu.h"
#include "i386/cpu/cpu.h"
#include "prof/sampler_cpu.h"
#include "thread/run_queue.h"

struct thread;

/*
 * What a CPU has to do before it goes on in user mode.  Interrupt handlers and other CPUs set bits,
 * always atomically; the CPU itself clears them.
 */
#define WORK_TICK       0x01u /* The scheduler's tick has come. */
#define WORK_RESCHEDULE 0x02u /* Another thread should run here. */
#define WORK_THREAD     0x04u /* The current thread is to end, to stop or to come out. */
#define WORK_LOCK       0x08u /* Another CPU waits for the kernel lock: hand it over. */
#define WORK_RACE       0x10u /* Seeded handover at every unlock (jitter=); never cleared. */
#define WORK_DEVICE     0x20u /* A device has interrupted. */
#define WORK_SAMPLE     0x40u /* Samples in the ring want the thread as it is, or room. */

/* Work that is the CPU's own, whichever thread runs: interrupt_work() does it. */
#define WORK_INTERRUPT (WORK_TICK | WORK_DEVICE | WORK_SAMPLE)

struct cpu {
	struct cpu *self;      /* So that one load through the segment register finds it. */
	struct thread *thread; /* Runs here; its stack is the one in use. */
	uint32_t work;         /* WORK_* */
	uint32_t number;

	/* kernel lock */
	struct thread *idle_thread;
	struct thread *leaving; /* A dead thread that was switched away from, to be reaped. */
	struct thread *goes_on; /* While samples are read: who is about to get the CPU; or NULL. */
	struct run_queue bound; /* Runnable threads that may run only here. */
	uint32_t turn_end;      /* The first tick after these cycles ends the turn that runs. */
	uint8_t turn_over_from; /* For threads so good or worse it is over: turn_is_over(). */
	bool gives_way;         /* Who woke in its turn waits for the next hand-over here. */
	struct share *payer;    /* Whose turn is used up by what runs here; or NULL: nobody's. */
	uint32_t pays_since;    /* In cycles. */
	uint32_t kernel_tick;   /* The last tick that came in the kernel, by its number. */
	uint32_t switches;

	/* Written by this CPU's tick interrupt. */
	uint32_t ticks;        /* The number of the last tick. */
	uint64_t next_tick;    /* In cycles; the schedule is absolute, so it does not drift. */
	uint32_t jitter_state; /* Generator behind the jitter of the tick. */

	/*
	 * Where the CPUs run in turn, of the ticks that came: those at which it executed and that
	 * are still to be charged, and those at which it was parked.  By whoever shares a tick out.
	 */
	uint32_t charged_ticks;
	uint32_t parked_ticks;

	/* Written by this CPU's thread code. */
	uint32_t race_state; /* Generator behind race(); 0: none. */

	/* Written by this CPU's sampling interrupt. */
	struct sampler_cpu sampler;

	struct machine_cpu machine;
} __attribute__((aligned(CPU_ALIGNMENT)));

extern struct cpu cpus[MAX_CPUS];

/* CPUs 0 to n_cpus - 1 run.  Written under the kernel lock while they start. */
extern uint32_t n_cpus;

static inline void cpu_set_work(struct cpu *cpu, uint32_t bits)
{
	__atomic_or_fetch(&cpu->work, bits, __ATOMIC_SEQ_CST);
}

static inline void cpu_clear_work(struct cpu *cpu, uint32_t bits)
{
	__atomic_and_fetch(&cpu->work, ~bits, __ATOMIC_SEQ_CST);
}

#endif
