/* SPDX-License-Identifier: MIT */
/*
 * Time: cycles of the time stamp counter, nanoseconds since the kernel started, the wall clock.
 *
 * Conversions multiply by a fixed-point factor that clock_init() derives from the calibrated rate,
 * so that reading the time costs two multiplications and no division.  Read-only after boot.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_SECOND 1000000000u

/*
 * Starts the clocks: `hz` is the rate of the time stamp counter, which read `cycles_at_zero` at
 * zero.
 */
void clock_init(uint64_t hz, uint64_t cycles_at_zero);

uint64_t clock_hz(void);

/* Monotonic nanoseconds since the kernel's first instruction, on any CPU; 0 before clock_init(). */
uint64_t clock_now(void);

/* As clock_now(), for a moment at which machine_cycles() was `cycles`. */
uint64_t clock_at(uint64_t cycles);

/* How many nanoseconds a short time takes, or up to two less: the quicker clock_cycles_to_ns(). */
uint64_t clock_short_ns(uint32_t cycles);

/* Nanoseconds since 1970-01-01 00:00 UTC. */
uint64_t clock_wall(void);

/* Sets the wall clock; an adjustment that was under way is over. */
void clock_set_wall(uint64_t ns);

/*
 * Moves the wall clock by `ns`, little by little: a second in 256, so that it never goes backwards.
 * Returns what was left to do of the last adjustment, which is over.
 */
int64_t clock_adjust_wall(int64_t ns);

/*
 * Nanoseconds are rounded down and cycles up, so that waiting for clock_ns_to_cycles(ns) cycles is
 * never found to have taken less than `ns`.  Against the rate given to clock_init() the first is
 * off by less than one part in 2^32 (8 ms a year), the second by less than three, each plus one
 * unit.
 */
uint64_t clock_cycles_to_ns(uint64_t cycles);
uint64_t clock_ns_to_cycles(uint64_t ns);

#endif
