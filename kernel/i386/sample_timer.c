/* SPDX-License-Identifier: MIT */
/*
 * The sampling clock's device: channel 0 of the PIT as a one shot, sent by the I/O APIC to all
 * CPUs.
 *
 * Routing and silencing are under the kernel lock, by prof/sample_clock.c, which also sees to it
 * that only one CPU arms at a time.  Arming may happen in an NMI: it is three stores to ports.
 */
#include "i386/ioapic.h"
#include "i386/pit.h"
#include "i386/vectors.h"
#include "kern/assert.h"
#include "kern/machine.h"

/* Counts of the PIT in a nanosecond, as a fraction of 2^32, rounded up. */
#define COUNTS_PER_NS ((uint32_t)(((uint64_t)PIT_HZ << 32) / 1000000000u) + 1)

/* clock_now() and the PIT differ by what calibrate() leaves in doubt; it aims at 1 in 2^12. */
#define CALIBRATION_SHIFT 12

_Static_assert((uint64_t)MACHINE_SAMPLE_TIMER_MAX_NS / 1000 * PIT_HZ / 1000000 +
			       (0xffff >> CALIBRATION_SHIFT) + 2 <=
		       0xffff,
	       "the furthest shot fits the PIT's 16 bits");

/*
 * The interrupt must not come before its time by clock_now(): one that does is served as nothing
 * and costs a second one.  So the clocks' difference is added, a part of a count is a whole one,
 * and one more goes for the edge of the PIT's own clock that may be just about to pass.
 */
static uint16_t counts_for(uint32_t nanoseconds)
{
	uint32_t safe = nanoseconds + (nanoseconds >> CALIBRATION_SHIFT);

	assert(nanoseconds <= MACHINE_SAMPLE_TIMER_MAX_NS);
	return (uint16_t)((((uint64_t)safe * COUNTS_PER_NS) >> 32) + 2);
}

void machine_sample_timer_route(enum sample_delivery delivery)
{
	if (delivery == SAMPLE_BY_NMI)
		ioapic_route_all_nmi(PIT_IRQ);
	else
		ioapic_route_all(PIT_IRQ, VECTOR_SAMPLE);
}

void machine_sample_timer_arm(uint32_t nanoseconds)
{
	pit_one_shot(counts_for(nanoseconds));
}

/* The mask is what counts: a shot already in flight in the PIT ends there. */
void machine_sample_timer_silence(void)
{
	ioapic_mask(PIT_IRQ);
	pit_halt();
}
