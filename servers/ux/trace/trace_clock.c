/* SPDX-License-Identifier: MIT */
/*
 * The time of day for records.  Guarded by the server's lock.
 *
 * The kernel is asked a few times a second; in between cycles are counted, as it does itself.
 */
#include "trace/trace_clock.h"

#include "core/ux.h"

#define MICROS_PER_SECOND 1000000
#define NANOS_PER_MICRO   1000u
#define HZ_PER_KHZ        1000u
#define MICROS_PER_MILLI  1000ull
#define SPAN_MS           60u /* So long the kernel's answer counts. */

static struct {
	uint64_t cycles;     /* When the kernel was asked, */
	struct timeval time; /* and what it said. */
	uint32_t span;       /* For so many cycles that counts; 0: it never was asked. */
	uint32_t micros;     /* Of a cycle, times 2^32. */
} base;

/* Cycles of a millisecond are so many as fit into a word, whatever the machine's rate. */
static void trace_clock_ask(void)
{
	uint64_t now = 0, khz = 0, micros = MICROS_PER_MILLI << 32;
	uint32_t nanoseconds;

	assay_clock_read(ASSAY_CLOCK_TSC_HZ, &khz);
	divide(&khz, HZ_PER_KHZ);
	base.span = (uint32_t)khz * SPAN_MS;
	divide(&micros, (uint32_t)khz);
	base.micros = (uint32_t)micros;
	base.cycles = cycles();
	assay_clock_read(ASSAY_CLOCK_WALL, &now);
	nanoseconds = divide(&now, NANOS_PER_SECOND);
	base.time = (struct timeval){.tv_sec = (time_t)now,
				     .tv_usec = (suseconds_t)(nanoseconds / NANOS_PER_MICRO)};
}

struct timeval trace_clock_now(void)
{
	uint64_t passed = cycles() - base.cycles;
	struct timeval now;

	if (passed >= base.span) {
		trace_clock_ask();
		return base.time;
	}
	now = base.time;
	now.tv_usec += (suseconds_t)((uint64_t)(uint32_t)passed * base.micros >> 32);
	if (now.tv_usec >= MICROS_PER_SECOND) {
		now.tv_usec -= MICROS_PER_SECOND;
		now.tv_sec++;
	}
	return now;
}
