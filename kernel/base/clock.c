/* SPDX-License-Identifier: MIT */
/*
 * Clocks (base/clock.h).
 *
 * Owns the calibrated rate and two factors made from it.  Written once at boot, by the boot CPU,
 * then only read: by any CPU, in any context, the sampling interrupt included.  The wall clock can
 * be set later: it is guarded by the kernel lock.
 *
 * A factor is a number with 32 significant bits, whatever its size: multiplier / 2^shift with the
 * highest bit of the multiplier set.  Rounding it changes it by less than one part in 2^31, which
 * is a hundred thousand times better than the crystal that it describes.  Times fit for 584 years.
 */
#include "base/clock.h"

#include "base/assert.h"
#include "base/machine.h"

/* Rates outside are no time stamp counter's: the calibration has failed. */
#define HZ_MIN 1000000ull      /* 1 MHz */
#define HZ_MAX 100000000000ull /* 100 GHz */

#define ADJUST_SHIFT 8 /* An adjustment of the wall clock moves it by 1 in 2^8. */

struct factor {
	uint32_t multiplier;
	uint32_t shift; /* Below 64. */
};

static struct {
	uint64_t hz; /* 0 before clock_init(). */
	uint64_t cycles_at_zero;
	uint64_t wall_at_zero; /* Nanoseconds since 1970. */
	uint64_t adjust_from;  /* When the wall clock's adjustment began, */
	int64_t adjust_by;     /* and how far it will go. */
	struct factor to_ns;
	struct factor to_cycles;
	uint32_t whole, rest; /* Nanoseconds of a cycle, and what is left of one * 2^32. */
} clock;

enum rounding {
	TO_NEAREST,
	UP
};

/* A multiplier that rounding has made 2^32 is 2^31 with one bit less behind the point. */
static struct factor clock_factor_normalise(uint64_t multiplier, uint32_t shift)
{
	if (multiplier >> 32 != 0) {
		multiplier >>= 1;
		shift--;
	}
	assert(multiplier >> 31 == 1 && shift < 64);
	return (struct factor){(uint32_t)multiplier, shift};
}

/*
 * The factor dividend / divisor, by long division one bit at a time: first the bits of the
 * dividend, then zeros behind the point until the quotient has its 32 bits.
 */
static struct factor clock_factor_make(uint64_t dividend, uint64_t divisor, enum rounding rounding)
{
	uint64_t quotient = 0;
	uint64_t remainder = 0;
	uint32_t shift = 0;

	assert(divisor > 0 && divisor < 1ull << 63);
	for (int bit = 63; bit >= 0 || quotient >> 31 == 0; bit--) {
		remainder = remainder << 1 | (bit >= 0 ? dividend >> bit & 1 : 0);
		quotient <<= 1;
		if (remainder >= divisor) {
			remainder -= divisor;
			quotient |= 1;
		}
		shift += bit < 0;
	}
	assert(quotient >> 31 == 1); /* The quotient's whole part fits. */
	if (rounding == UP ? remainder > 0 : remainder >= divisor - remainder)
		quotient++;
	return clock_factor_normalise(quotient, shift);
}

/* The low half of two words, shifted by less than a word: one instruction of the machine's. */
static inline uint32_t clock_shift_words(uint32_t high, uint32_t low, uint32_t shift)
{
	return (uint32_t)(((uint64_t)high << 32 | low) >> (shift & 31));
}

/* value * factor, rounded down: a product of 96 bits, shifted by words and then by bits. */
static uint64_t clock_factor_apply(uint64_t value, struct factor factor)
{
	uint64_t low = (value & UINT32_MAX) * factor.multiplier;
	uint64_t high = (value >> 32) * factor.multiplier + (low >> 32);

	if (factor.shift >= 32)
		return high >> (factor.shift & 31);
	return (uint64_t)clock_shift_words((uint32_t)(high >> 32), (uint32_t)high, factor.shift)
		       << 32 |
	       clock_shift_words((uint32_t)high, (uint32_t)low, factor.shift);
}

/*
 * The way back to cycles is made from the rounded way to nanoseconds, not from the rate: that they
 * fit each other matters more than the last bit.
 */
void clock_init(uint64_t hz, uint64_t cycles_at_zero)
{
	uint64_t cycle; /* How long one is, in nanoseconds * 2^32. */

	assert(hz >= HZ_MIN && hz <= HZ_MAX);
	clock.cycles_at_zero = cycles_at_zero;
	clock.to_ns = clock_factor_make(NS_PER_SECOND, hz, TO_NEAREST);
	clock.to_cycles = clock_factor_make(1ull << clock.to_ns.shift, clock.to_ns.multiplier, UP);
	cycle = ((uint64_t)clock.to_ns.multiplier << 32) >> clock.to_ns.shift;
	clock.whole = (uint32_t)(cycle >> 32);
	clock.rest = (uint32_t)cycle;
	clock.hz = hz;
	clock.wall_at_zero = machine_wall_seconds() * NS_PER_SECOND - clock_now();
}

uint64_t clock_hz(void)
{
	return clock.hz;
}

uint64_t clock_at(uint64_t cycles)
{
	return clock_factor_apply(cycles - clock.cycles_at_zero, clock.to_ns);
}

uint64_t clock_short_ns(uint32_t cycles)
{
	return (((uint64_t)cycles * clock.rest) >> 32) + (uint64_t)cycles * clock.whole;
}

uint64_t clock_now(void)
{
	return clock_at(machine_cycles());
}

/* How much of the adjustment has been made at `now`. */
static int64_t clock_adjusted(uint64_t now)
{
	int64_t done = (int64_t)((now - clock.adjust_from) >> ADJUST_SHIFT);

	if (clock.adjust_by < 0)
		return -done > clock.adjust_by ? -done : clock.adjust_by;
	return done < clock.adjust_by ? done : clock.adjust_by;
}

uint64_t clock_wall(void)
{
	uint64_t now = clock_now();

	return clock.wall_at_zero + now + (uint64_t)clock_adjusted(now);
}

void clock_set_wall(uint64_t ns)
{
	clock.wall_at_zero = ns - clock_now();
	clock.adjust_by = 0;
}

int64_t clock_adjust_wall(int64_t ns)
{
	uint64_t now = clock_now();
	int64_t done = clock_adjusted(now);
	int64_t left = clock.adjust_by - done;

	clock.wall_at_zero += (uint64_t)done;
	clock.adjust_from = now;
	clock.adjust_by = ns;
	return left;
}

uint64_t clock_cycles_to_ns(uint64_t cycles)
{
	assert(clock.hz != 0);
	return clock_factor_apply(cycles, clock.to_ns);
}

/* The factor is rounded up, the product down: at most one cycle is missing. */
uint64_t clock_ns_to_cycles(uint64_t ns)
{
	uint64_t cycles = clock_factor_apply(ns, clock.to_cycles);

	assert(clock.hz != 0);
	return clock_cycles_to_ns(cycles) < ns ? cycles + 1 : cycles;
}
