/* SPDX-License-Identifier: MIT */
/*
 * The intervals of a sampling schedule, out of a seeded generator.
 *
 * All of it is made for an interrupt that comes ten thousand times a second: no division, no
 * conversion (intervals are in cycles, as what the time stamp counter says), and no difference
 * between fixed and uniform intervals but in the numbers.
 *
 * Where the clock itself has effects that follow it at a distance, as where it hands the turn from
 * CPU to CPU, uniform intervals would never find what follows within half of the mean.  Memoryless
 * ones find all in proportion, whatever they bring about: the next is as likely at each instant.
 */
#ifndef PROF_SCHEDULE_H
#define PROF_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum schedule_kind {
	SCHEDULE_FIXED,
	SCHEDULE_UNIFORM,   /* Between half and one and a half of the mean. */
	SCHEDULE_MEMORYLESS /* Exponential: since when it has not come says nothing of the next. */
};

/* Intervals are `least` cycles, and up to, but not including, `span` longer; or memoryless. */
struct schedule {
	uint64_t least;
	uint32_t span;      /* 0: all are of one length. */
	uint32_t generator; /* Its state behind the interval that was drawn last. */
	uint64_t half_life; /* Of memoryless ones, half are longer than this; 0: of the others. */
};

#define SCHEDULE_LN2 0xb17217f8u /* In 32 bits behind the point. */

/*
 * Uniform ones of a mean of more than four billion cycles have a span no larger than that, and in
 * the middle.
 */
static inline struct schedule schedule_make(uint64_t mean, enum schedule_kind kind,
					    uint32_t generator)
{
	uint32_t span = mean < UINT32_MAX ? (uint32_t)mean + 1 : UINT32_MAX;
	struct schedule schedule = {.least = mean, .generator = generator};

	if (kind == SCHEDULE_UNIFORM) {
		schedule.least = mean - span / 2;
		schedule.span = span;
	} else if (kind == SCHEDULE_MEMORYLESS) {
		schedule.half_life = (mean >> 16) * (SCHEDULE_LN2 >> 16) +
				     ((mean & UINT16_MAX) * SCHEDULE_LN2 >> 32);
	}
	return schedule;
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

/*
 * The logarithm of 1 + f to the base 2, with 32 bits behind the point: a cubic that is right at
 * both ends and in the mean, and whose slope is within three percent of the logarithm's.
 */
static inline uint32_t schedule_log2(uint32_t f)
{
	uint32_t bow = (uint32_t)((uint64_t)f * ~f >> 32);
	uint32_t slant = 0x66666666u - (uint32_t)((uint64_t)f * 0x1cc23060u >> 32);

	return f + (uint32_t)((uint64_t)bow * slant >> 32);
}

/*
 * The logarithm of what the generator drew, which is uniform, has no memory.  In half-lives it is
 * the zeros before the first one, and what the bits behind that one leave of one more.
 */
static inline uint64_t schedule_memoryless(const struct schedule *schedule)
{
	uint32_t drawn = schedule->generator | 1;
	uint32_t zeros = (uint32_t)__builtin_clz(drawn);
	uint64_t half_lives = ((uint64_t)(zeros + 1) << 32) - schedule_log2(drawn << zeros << 1);

	return (schedule->half_life * (half_lives >> 12) >> 20) + 1;
}

static inline uint64_t schedule_interval(struct schedule *schedule)
{
	schedule->generator = schedule_next(schedule);
	if (schedule->half_life != 0)
		return schedule_memoryless(schedule);
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
