/* SPDX-License-Identifier: MIT */
/*
 * Measuring the time stamp counter and the local APIC's timer against the PIT.
 *
 * The PIT counts slowly, so a reading is good only at the moment when its count changes.  Such an
 * *edge* lies between the reading before and the reading after, and how far those are apart is the
 * doubt about it.  Where reading is cheap (an instruction clock, real hardware) half a millisecond
 * is enough; where each reading leaves a virtual machine the window doubles until the doubt is a
 * small enough part of it.  A measurement that another guest or host process cut in half is done
 * again.
 */
#include "i386/boot/calibrate.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/divide.h"
#include "base/machine.h"
#include "i386/cpu/cpu.h"
#include "i386/cpu/lapic.h"
#include "i386/devices/pit.h"

#define WINDOW_FIRST 600   /* Counts: 0.5 ms. */
#define WINDOW_LAST  38400 /* 32 ms; the PIT's 16 bits are enough for 55. */

#define DOUBT_WANTED  12 /* A window is long enough that leaves 1 in 2^12 in doubt, */
#define DOUBT_ALLOWED 8  /* and the longest one is of no use that leaves more than 1 in 2^8. */

#define EDGES    4     /* The best of so many is taken. */
#define PATIENCE 65536 /* Readings without a change before the PIT counts as broken: over 50 ms. */
#define ATTEMPTS 1000  /* A loaded host takes the CPU away again and again, but not always. */

#define TSC_HZ_MIN   20000000ull
#define TSC_HZ_MAX   20000000000ull
#define LAPIC_HZ_MIN 1000000ull
#define LAPIC_HZ_MAX 20000000000ull

#define CPUID_HYPERVISOR      0x80000000u /* CPUID.1:ECX */
#define LEAF_HYPERVISOR       0x40000000u
#define LEAF_HYPERVISOR_CLOCK 0x40000010u
#define LEAF_CRYSTAL          0x15u

/* A change of the PIT's count, to `count`: it came between two readings of the TSC. */
struct edge {
	uint64_t after;
	uint64_t before;
	uint16_t count;
};

struct measurement {
	struct edge start;
	struct edge end;
	uint64_t last_reading;
	uint64_t longest_gap; /* Between two readings in a row. */
	uint64_t lapic_start; /* TSC just after the timer was started. */
	uint64_t lapic_doubt;
	uint64_t lapic_cycles;
	uint32_t lapic_counts;
};

uint64_t machine_cycles(void)
{
	return __builtin_ia32_rdtsc();
}

static uint64_t calibrate_edge_doubt(const struct edge *edge)
{
	return edge->before - edge->after;
}

static uint64_t calibrate_edge_time(const struct edge *edge)
{
	return edge->after + calibrate_edge_doubt(edge) / 2;
}

/* Reads the PIT between two readings of the TSC, and watches for a CPU that was taken away. */
static struct edge calibrate_read_pit(struct measurement *m)
{
	struct edge reading;

	reading.after = machine_cycles();
	pit_ruler_latch();
	reading.before = machine_cycles();
	reading.count = pit_ruler_latched();
	if (m->last_reading != 0 && reading.before - m->last_reading > m->longest_gap)
		m->longest_gap = reading.before - m->last_reading;
	m->last_reading = reading.before;
	return reading;
}

/* The count changed after the last reading that had another and before the first that has it. */
static bool calibrate_find_edge(struct measurement *m, struct edge *edge)
{
	struct edge last = calibrate_read_pit(m);

	for (unsigned turn = 0; turn < PATIENCE; turn++) {
		struct edge next = calibrate_read_pit(m);

		if (next.count != last.count) {
			*edge = (struct edge){last.after, next.before, next.count};
			return true;
		}
		last = next;
	}
	return false;
}

static bool calibrate_find_sharp_edge(struct measurement *m, struct edge *best)
{
	struct edge edge;

	if (!calibrate_find_edge(m, best))
		return false;
	for (unsigned i = 1; i < EDGES; i++) {
		if (!calibrate_find_edge(m, &edge))
			return false;
		if (calibrate_edge_doubt(&edge) < calibrate_edge_doubt(best))
			*best = edge;
	}
	return true;
}

static void calibrate_wait_until_passed(struct measurement *m, uint16_t counts)
{
	while ((uint16_t)(m->start.count - calibrate_read_pit(m).count) < counts)
		continue;
}

static uint64_t calibrate_window_cycles(const struct measurement *m)
{
	return calibrate_edge_time(&m->end) - calibrate_edge_time(&m->start);
}

static uint16_t calibrate_window_counts(const struct measurement *m)
{
	return (uint16_t)(m->start.count - m->end.count);
}

static uint64_t calibrate_window_doubt(const struct measurement *m)
{
	return calibrate_edge_doubt(&m->start) + calibrate_edge_doubt(&m->end);
}

static bool calibrate_doubt_is_below(const struct measurement *m, unsigned shift)
{
	return calibrate_window_doubt(m) << shift <= calibrate_window_cycles(m);
}

/*
 * The TSC is read within the timer's interval, so its part is a little too short and the timer's
 * rate a little too high: what is armed by it comes late by that little, and not early.
 */
static void calibrate_lapic_start(struct measurement *m)
{
	uint64_t before = machine_cycles();

	lapic_calibration_begin();
	m->lapic_start = machine_cycles();
	m->lapic_doubt = m->lapic_start - before;
}

static void calibrate_lapic_finish(struct measurement *m)
{
	uint64_t now = machine_cycles();

	m->lapic_counts = lapic_calibration_counts();
	m->lapic_doubt += machine_cycles() - now;
	m->lapic_cycles = now - m->lapic_start;
}

/* One window, as long as it takes; false if the PIT stands still. */
static bool calibrate_measure(struct measurement *m)
{
	*m = (struct measurement){0};
	pit_ruler_start();
	if (!calibrate_find_sharp_edge(m, &m->start))
		return false;
	calibrate_lapic_start(m);
	for (uint16_t counts = WINDOW_FIRST; counts <= WINDOW_LAST; counts *= 2) {
		calibrate_wait_until_passed(m, counts);
		if (!calibrate_find_sharp_edge(m, &m->end))
			return false;
		if (calibrate_doubt_is_below(m, DOUBT_WANTED))
			break;
	}
	calibrate_lapic_finish(m);
	return true;
}

/*
 * Whether a measurement can be believed.  The PIT's 16 bits go round in 55 ms; a CPU that was away
 * for longer does not see it.  Its gap would then be longer than all the rest of the window.
 */
static bool calibrate_is_sound(const struct measurement *m)
{
	return m->longest_gap * 2 < calibrate_window_cycles(m) &&
	       calibrate_doubt_is_below(m, DOUBT_ALLOWED) &&
	       m->lapic_doubt << DOUBT_ALLOWED <= m->lapic_cycles;
}

/* The leaf that hypervisors agree on, after VMware: the guest's TSC rate in kHz. */
static uint64_t calibrate_hypervisor_hz(void)
{
	if ((cpuid(1).ecx & CPUID_HYPERVISOR) == 0 ||
	    cpuid(LEAF_HYPERVISOR).eax < LEAF_HYPERVISOR_CLOCK)
		return 0;
	return cpuid(LEAF_HYPERVISOR_CLOCK).eax * 1000ull;
}

/*
 * The crystal's rate times its ratio to the TSC.  Leaf 0x16 is not asked: it rounds to whole MHz,
 * and a measurement is better than that.
 */
static uint64_t calibrate_crystal_hz(void)
{
	struct cpuid r;

	if (cpuid(0).eax < LEAF_CRYSTAL)
		return 0;
	r = cpuid(LEAF_CRYSTAL);
	if (r.eax == 0 || r.ebx == 0 || r.ecx == 0)
		return 0;
	return divide((uint64_t)r.ecx * r.ebx, r.eax);
}

/* A stated rate is exact, unless it is the rate of something else. */
static bool calibrate_is_close(uint64_t stated, uint64_t measured)
{
	uint64_t apart = stated > measured ? stated - measured : measured - stated;

	return apart < measured >> (DOUBT_ALLOWED - 1);
}

static void calibrate_choose_tsc_rate(struct calibration *result)
{
	uint64_t hypervisor = calibrate_hypervisor_hz();
	uint64_t crystal = calibrate_crystal_hz();

	result->source = "the PIT";
	if (calibrate_is_close(hypervisor, result->tsc_hz)) {
		result->tsc_hz = hypervisor;
		result->source = "the hypervisor";
	} else if (calibrate_is_close(crystal, result->tsc_hz)) {
		result->tsc_hz = crystal;
		result->source = "CPUID";
	}
}

static const char *calibrate_judge(const struct calibration *result)
{
	if (result->tsc_hz < TSC_HZ_MIN || result->tsc_hz > TSC_HZ_MAX)
		return "the time stamp counter's rate makes no sense";
	if (result->lapic_hz < LAPIC_HZ_MIN || result->lapic_hz > LAPIC_HZ_MAX)
		return "the local APIC timer's rate makes no sense";
	return NULL;
}

static void calibrate_compute(const struct measurement *m, struct calibration *result)
{
	result->tsc_hz = divide(calibrate_window_cycles(m) * PIT_HZ, calibrate_window_counts(m));
	result->doubt =
		(uint32_t)divide(calibrate_window_doubt(m) * 1000000, calibrate_window_cycles(m));
	/* Rates up to 2^35 and windows up to 2^31 cycles: by kHz it fits 64 bits. */
	result->lapic_hz =
		divide((uint64_t)m->lapic_counts * divide(result->tsc_hz, 1000), m->lapic_cycles) *
		1000;
}

const char *calibrate(struct calibration *result)
{
	struct measurement m;

	for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
		if (!calibrate_measure(&m))
			return "the interval timer (PIT) does not count";
		if (calibrate_window_cycles(&m) == 0)
			return "the time stamp counter does not count";
		if (calibrate_is_sound(&m)) {
			lapic_calibration_end(m.lapic_counts, m.lapic_cycles);
			calibrate_compute(&m, result);
			calibrate_choose_tsc_rate(result);
			return calibrate_judge(result);
		}
	}
	return "the time stamp counter cannot be measured: the CPU is taken away too often";
}
