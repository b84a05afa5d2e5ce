/* SPDX-License-Identifier: MIT */
/*
 * The clocks as programs see them.
 *
 * machine: cpus=1
 * machine: cpus=2
 * machine: cpus=4 seed=4
 */
#include "check.h"
#include <assay.h>

#define THREADS  4
#define READINGS 2000

#define YEAR_2026 1767225600u /* Seconds since 1970; where the machine's day begins (-rtc base=). */

static uint8_t stacks[THREADS][PAGE_SIZE] __attribute__((aligned(16)));
static uint32_t ids[THREADS];

static uint64_t read_clock(enum assay_clock which)
{
	uint64_t value = 0;

	if (assay_clock_read(which, &value) != KERN_SUCCESS)
		check_fail("clock %d cannot be read", which);
	return value;
}

TEST(clock_number_is_checked)
{
	uint64_t value = 77;

	EXPECT_EQ(assay_clock_read(3, &value), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_clock_read(-1, &value), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(value, 77);
}

TEST(monotonic_never_goes_back)
{
	uint64_t last = read_clock(ASSAY_CLOCK_MONOTONIC);

	for (uint32_t i = 0; i < READINGS; i++) {
		uint64_t now = read_clock(ASSAY_CLOCK_MONOTONIC);

		if (now <= last)
			check_fail("%llu ns after %llu ns", now, last);
		last = now;
	}
}

/* The latest time that any thread has read, under a lock of its own: 64 bits are two stores. */
static volatile uint64_t latest;
static uint32_t lock;

static void compare_with_others(void *number)
{
	struct assay_cpu_info info;

	assay_cpu_info(&info);
	assay_thread_bind((int)((uint32_t)number % info.cpus));
	for (uint32_t i = 0; i < READINGS / THREADS; i++) {
		uint64_t now;

		while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
			swtch_pri(0);
		now = read_clock(ASSAY_CLOCK_MONOTONIC);
		if (now < latest)
			check_fail("%llu ns on CPU %u after %llu ns elsewhere", now,
				   (uint32_t)number % info.cpus, latest);
		latest = now;
		__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
		swtch();
	}
}

TEST(monotonic_agrees_between_cpus)
{
	for (uint32_t i = 0; i < THREADS; i++)
		REQUIRE(thread_start(compare_with_others, (void *)i, stacks[i], sizeof stacks[i],
				     PRIORITY_USUAL, &ids[i]) == KERN_SUCCESS);
	for (uint32_t i = 0; i < THREADS; i++)
		EXPECT_EQ(assay_thread_join(ids[i], TIMEOUT_NONE), KERN_SUCCESS);
}

/* The cycle counter at its rate and the clock agree, within a thousandth. */
TEST(monotonic_runs_at_the_rate)
{
	uint64_t hz = read_clock(ASSAY_CLOCK_TSC_HZ);
	uint64_t ns = read_clock(ASSAY_CLOCK_MONOTONIC);
	uint64_t counted = cycles();

	thread_switch(0, SWITCH_OPTION_WAIT, 1000);
	ns = read_clock(ASSAY_CLOCK_MONOTONIC) - ns;
	counted = cycles() - counted;
	EXPECT_LT(1000000000u, ns);
	EXPECT_LT(ns, 1100000000u);
	/* Both were a little over a second: their ratios to it are the same. */
	ns *= 1000;
	counted *= 1000;
	divide(&ns, NANOS_PER_SECOND);
	EXPECT_LT(hz >> 32, 1);
	divide(&counted, (uint32_t)hz);
	EXPECT_LE(ns - 1, counted);
	EXPECT_LE(counted, ns + 1);
}

TEST(wall_clock_is_that_of_the_machine)
{
	uint64_t seconds = read_clock(ASSAY_CLOCK_WALL);
	uint64_t uptime = read_clock(ASSAY_CLOCK_MONOTONIC);

	divide(&seconds, NANOS_PER_SECOND);
	divide(&uptime, NANOS_PER_SECOND);
	EXPECT_LE(YEAR_2026 + uptime, seconds + 1);
	EXPECT_LE(seconds, YEAR_2026 + uptime + 2);
}

TEST(wall_clock_runs_with_monotonic)
{
	uint64_t wall = read_clock(ASSAY_CLOCK_WALL);
	uint64_t ns = read_clock(ASSAY_CLOCK_MONOTONIC);

	thread_switch(0, SWITCH_OPTION_WAIT, 300);
	wall = read_clock(ASSAY_CLOCK_WALL) - wall;
	ns = read_clock(ASSAY_CLOCK_MONOTONIC) - ns;
	EXPECT_LE(wall, ns + 100000);
	EXPECT_LE(ns, wall + 100000);
}
