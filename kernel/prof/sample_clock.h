/* SPDX-License-Identifier: MIT */
/*
 * The sampling clock: a schedule of absolute due times, walked by every CPU on its own.
 *
 * The schedule is a sequence of due times (in nanoseconds of clock_now()) that a seeded generator
 * makes, each a fixed or a random interval after the one before.  Every CPU keeps a cursor of its
 * own into the same sequence, so CPUs share nothing: at each interrupt it takes all due times that
 * have come, counts the last as fired and those before it as missed.  Nothing is lost in silence:
 * due == fired + missed holds at every moment, each counter being counted at its own place.
 *
 * The interrupt handler may be an NMI.  It touches only `struct sample_cursor` of its own CPU and
 * what is constant while the clock runs; the boot CPU's handler arms the timer again.
 */
#ifndef PROF_SAMPLE_CLOCK_H
#define PROF_SAMPLE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <assay/traps.h>
#include <mach/kern_return.h>

/* What the interrupt found the CPU doing. */
enum sample_place {
	SAMPLE_IDLE,
	SAMPLE_USER,
	SAMPLE_KERNEL,
	SAMPLE_KERNEL_OFF
};

/*
 * One CPU's place in the schedule.  Written only by that CPU's sampling interrupt while the clock
 * runs, and by sample_clock_start() while it does not.  All zero before the first start.
 */
struct sample_cursor {
	uint32_t sequence; /* Odd while the interrupt is inside; see sample_clock.c. */
	uint64_t next_due;
	uint64_t generator; /* State of the interval generator after `next_due` was drawn. */
	struct assay_sample_counts counts;
};

/*
 * Starts the clock anew at `hz` interrupts a second (1 to ASSAY_SAMPLE_HZ_MAX), with `flags`
 * ASSAY_SAMPLE_*; 0 Hz stops it and leaves the counts to be read.  All counts begin at zero.  Under
 * the kernel lock, in thread code.
 */
kern_return_t sample_clock_start(uint32_t hz, uint32_t flags, uint32_t seed);

/*
 * A consistent copy of the counts of one CPU; KERN_INVALID_ARGUMENT if there is no such CPU.  Under
 * the kernel lock, in thread code.
 */
kern_return_t sample_clock_read(uint32_t cpu, struct assay_sample_counts *counts);

/* The interrupt, on every CPU.  May be an NMI. */
void sample_clock_interrupt(enum sample_place place);

/* Whether an NMI may be the sampling clock's: it is, or ever was, delivered as one. */
bool sample_clock_uses_nmi(void);

#endif
