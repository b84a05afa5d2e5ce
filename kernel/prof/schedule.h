/* SPDX-License-Identifier: MIT */
/*
 * The intervals of a sampling schedule, out of a seeded generator.
 *
 * All of it is made for an interrupt that comes ten thousand times a second: no division, no
 * conversion (intervals are in cycles, as what the time stamp counter says), and no difference
 * between fixed and random intervals but in the numbers.
 */
#ifndef PROF_SCHEDULE_H
#define PROF_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* Intervals are `least` cycles, and up to, but not including, `span` longer. */
struct schedule {
	uint64_t least;
	uint32_t span;      /* 0: all are of one length. */
	uint32_t generator; /* Its state behind the interval that was drawn last. */
};

/*
 * All `mean` long, or uniform in [mean/2, 3*mean/2]; around a mean of more than four billion cycles
 * the span is no larger than that, and in the middle.
 */
static inline struct schedule schedule_make(uint64_t mean, bool fixed, uint32_t generator)
{
	uint32_t span = mean < UINT32_MAX ? (uint32_t)mean + 1 : UINT32_MAX;

	if (fixed)
		span = 0;
	return (struct schedule){
		.least = mean - span / 2,
		.span = span,
		.generator = generator,
	};
}

/*
 * A linear congruential generator (Knuth's): two instructions.  Its upper bits are the good ones,
 * and those make the interval.
 */
static inline uint32_t schedule_next(const struct schedule *schedule)
{
	return schedule->generator * 1664525 + 1013904223;
}

/* How much longer than the least an interval is. */
static inline uint32_t schedule_more(const struct schedule *schedule, uint32_t generator)
{
	return (uint32_t)(((uint64_t)generator * schedule->span) >> 32);
}

static inline uint64_t schedule_interval(struct schedule *schedule)
{
	schedule->generator = schedule_next(schedule);
	return schedule->least + schedule_more(schedule, schedule->generator);
}

/*
 * The generator's first state for the schedule `number` of a seed: near numbers and seeds begin far
 * apart (the last steps of MurmurHash3).
 */
static inline uint32_t schedule_seed(uint32_t seed, uint32_t number)
{
	uint32_t x = seed * 0x9e3779b9u + number + 1;

	x = (x ^ x >> 16) * 0x85ebca6bu;
	x = (x ^ x >> 13) * 0xc2b2ae35u;
	return x ^ x >> 16;
}

#endif
