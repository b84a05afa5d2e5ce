/* SPDX-License-Identifier: MIT */
/*
 * The sampling clock's device: channel 0 of the PIT as a one shot, sent by the I/O APIC to all
 * CPUs.
 *
 * Routing and silencing are under the kernel lock (prof/sampler_slots.c); prof/sampler.c sees to it
 * that one CPU at a time arms.  Arming may happen in an NMI: it is two stores to ports.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "base/divide.h"
#include "base/machine.h"
#include "i386/cpu/vectors.h"
#include "i386/devices/ioapic.h"
#include "i386/devices/pit.h"

/* Counts of the PIT in a cycle, as a fraction of 2^32, rounded up; made before the first shot. */
static uint32_t counts_per_cycle;

/* The other way round, rounded down; a fraction of 2^CYCLES_SHIFT, as a count is many cycles. */
#define CYCLES_SHIFT 16

static uint32_t cycles_per_count;

/*
 * The cycles' clock and the PIT differ by what calibrate() leaves in doubt; it aims at 1 in 2^12.
 */
#define CALIBRATION_SHIFT 12

_Static_assert((uint64_t)MACHINE_SAMPLE_TIMER_MAX_NS / 1000 * PIT_HZ / 1000000 +
			       (UINT16_MAX >> CALIBRATION_SHIFT) + 2 <=
		       UINT16_MAX,
	       "the furthest shot fits the PIT's 16 bits");

/*
 * The interrupt must not come before its time: one that does is served as nothing and costs a
 * second one.  So the clocks' difference is part of the ratio, a part of a count is a whole one,
 * and one more goes for the edge of the PIT's own clock that may be just about to pass.
 */
static void sample_timer_find_ratio(void)
{
	uint64_t ratio = divide((uint64_t)PIT_HZ << 32, clock_hz());

	assert(ratio < UINT32_MAX / 2);
	counts_per_cycle = (uint32_t)(ratio + (ratio >> CALIBRATION_SHIFT) + 1);
	ratio = divide(clock_hz() << CYCLES_SHIFT, PIT_HZ);
	assert(ratio < UINT32_MAX);
	cycles_per_count = (uint32_t)(ratio - (ratio >> CALIBRATION_SHIFT));
}

void machine_sample_timer_route(enum sample_delivery delivery)
{
	if (counts_per_cycle == 0)
		sample_timer_find_ratio();
	if (delivery == SAMPLE_BY_NMI)
		ioapic_route_all_nmi(PIT_IRQ);
	else
		ioapic_route_all(PIT_IRQ, VECTOR_SAMPLE);
}

/* The counts that pass until a shot, with what one that has begun lacks. */
static inline uint32_t sample_timer_counts_for(uint32_t cycles)
{
	return (uint32_t)(((uint64_t)cycles * counts_per_cycle) >> 32) + 2;
}

void machine_sample_timer_arm(uint32_t cycles)
{
	pit_one_shot(sample_timer_counts_for(cycles));
}

uint32_t machine_sample_timer_begin(uint32_t cycles)
{
	return pit_one_shot_begin(sample_timer_counts_for(cycles));
}

void machine_sample_timer_end(uint32_t rest)
{
	pit_one_shot_end(rest);
}

/*
 * As many counts, by a ratio that is as much too small as the other one is too large.  An emulator
 * that runs CPUs in turn counts from the store on, and has no edge to wait for.
 */
uint32_t machine_sample_timer_least(uint32_t cycles)
{
	return (uint32_t)(((uint64_t)sample_timer_counts_for(cycles) * cycles_per_count) >>
			  CYCLES_SHIFT);
}

/* The mask is what counts: a shot already in flight in the PIT ends there. */
void machine_sample_timer_silence(void)
{
	ioapic_mask(PIT_IRQ);
	pit_halt();
}

/* ---------------- What the emulator's clock is ---------------- */

#define LEAF_HYPERVISOR 0x40000000u
#define NAME_OF_TCG     0x54474354u /* "TCGT": QEMU's own translator. */

static bool sample_timer_is_translated(void)
{
	uint32_t leaf = LEAF_HYPERVISOR, name, ecx, edx;

	__asm__ volatile("cpuid" : "+a"(leaf), "=b"(name), "=c"(ecx), "=d"(edx) : "2"(0));
	return name == NAME_OF_TCG;
}

/* What so many instructions that do nothing take, and reading the counter. */
#define CYCLES_OF(instructions)                                                \
	({                                                                     \
		uint32_t before = (uint32_t)machine_cycles();                  \
		__asm__ volatile(".rept %c0; nop; .endr" ::"i"(instructions)); \
		(uint32_t) machine_cycles() - before;                          \
	})

#define NOPS  48
#define TRIES 8

/* Whether each instruction takes one cycle, or two, four, eight...: the emulator chooses that. */
static bool sample_timer_is_counted(uint32_t cycles)
{
	uint32_t each = cycles / NOPS;

	return cycles % NOPS == 0 && each != 0 && (each & (each - 1)) == 0;
}

/* An interrupt in between may spoil a try, and a clock that does not count be right by chance. */
static bool sample_timer_counts_instructions(void)
{
	unsigned in_a_row = 0;

	for (int i = 0; i < TRIES && in_a_row < 2; i++)
		in_a_row = sample_timer_is_counted(CYCLES_OF(16 + NOPS) - CYCLES_OF(16))
				   ? in_a_row + 1
				   : 0;
	return in_a_row == 2;
}

bool machine_clock_is_block(void)
{
	return sample_timer_is_translated() && !sample_timer_counts_instructions();
}

bool machine_runs_cpus_in_turn(void)
{
	return sample_timer_is_translated() && sample_timer_counts_instructions();
}
