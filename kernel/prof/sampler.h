/* SPDX-License-Identifier: MIT */
/*
 * The sampling clock and what its interrupt does: capture.
 *
 * Each periodic stream has a slot here: a schedule of absolute due times, made by a seeded
 * generator of its own, that every CPU walks with a cursor of its own.  One timer serves all slots:
 * it is armed for the next due time of any.  When it interrupts a CPU, each slot that is due
 * counts, and if what the CPU ran is the slot's, writes a sample into the CPU's ring.
 *
 * The interrupt may be an NMI: it takes no lock, allocates nothing and touches only its own CPU's
 * ring and cursors, what is constant while the clock runs, and the thread that it interrupted.  The
 * ring has one writer, the interrupt, and one reader at a time, who holds the kernel lock.
 *
 * A sample of user mode has its stack at once.  Reading a ring (sampler_work()) completes those of
 * the kernel by the user's stack, if that is asked for, and hands each to its stream.
 */
#ifndef PROF_SAMPLER_H
#define PROF_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/prof.h>

struct frame;
struct stream;
struct thread;

/* What a slot samples: by ids, since the interrupt follows no pointer that could go stale. */
struct sampler_target {
	enum prof_target kind;
	uint32_t id;  /* Of the task, the thread or the label; unused for the host. */
	uint32_t job; /* Of a job its bit: prof/job.h. */
};

/*
 * One CPU's counts for a slot: struct prof_clock in numbers, and what no ring had room for.  The
 * interrupt counts due times, and what becomes of each: missed, parked, idle, elsewhere, ringed or
 * ring_lost.  The others are sums of these.
 */
struct sampler_counts {
	uint64_t due;
	uint64_t fired;
	uint64_t missed;
	uint64_t parked;
	uint64_t idle;
	uint64_t elsewhere;
	uint64_t taken;
	uint64_t ringed;    /* Of those taken: written into a ring, */
	uint64_t ring_lost; /* or not, as there was no room. */
};

#define SAMPLER_NO_SLOT UINT32_MAX

/*
 * Begins a schedule of `rate` due times a second for `stream`, which its samples go to;
 * SAMPLER_NO_SLOT if all SAMPLE_CLOCKS_MAX are in use.
 * `options`: SAMPLE_FIXED, SAMPLE_STACK, SAMPLE_NMI.  Under the kernel lock, in thread code.
 */
uint32_t sampler_begin(struct stream *stream, struct sampler_target target, uint32_t rate,
		       uint32_t options, uint32_t depth);

/*
 * Ends the slot's schedule: when this returns all its samples have been handed over, and no more
 * will come.  Its counts can be read until sampler_free().
 */
void sampler_end(uint32_t slot);
void sampler_free(uint32_t slot);

/* A consistent copy of one CPU's counts (cpu < cpu_count()). */
void sampler_read(uint32_t slot, uint32_t cpu, struct sampler_counts *counts);

/*
 * Makes the rings and silences the timer; once, when all CPUs run and the boot programs are about
 * to.
 */
void sampler_start(void);

/* Hands over what is in this CPU's ring: part of interrupt_work(), for WORK_SAMPLE. */
void sampler_work(void);

/* As sampler_work(), for all CPUs. */
void sampler_work_all(void);

/*
 * The call stack of a thread in the kernel, from its user mode registers on: at most `depth` return
 * addresses into `frames`; *cut if it goes on.  Does not block or fault.
 */
uint32_t sampler_user_stack(const struct thread *thread, uint32_t *frames, uint32_t depth,
			    bool *cut);

/* The same of the current thread, in a trap of its own. */
uint32_t sampler_own_stack(uint32_t *frames, uint32_t depth);

/* The rate that a stream which asks for `rate` gets, and its mean interval. */
uint32_t sampler_rate(uint32_t rate);
uint32_t sampler_interval_ns(uint32_t rate);

/* Whether the emulator interrupts between blocks only. */
bool sampler_clock_is_block(void);

/* Whether an emulator runs the CPUs in turn, so that all but one are parked: thread/holder.h. */
bool sampler_cpus_in_turn(void);

/* host_sample_control(); a rate of 0 and a seed of 0 leave what there is. */
kern_return_t sampler_control(uint32_t max_rate, uint32_t seed);

/* The interrupt, on every CPU; from nmi() as from interrupt(). */
void sampler_interrupt(const struct frame *frame);

/* Whether an NMI may be the sampling clock's: it is, or ever was, delivered as one. */
bool sampler_uses_nmi(void);

#endif
