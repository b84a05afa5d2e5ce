/* SPDX-License-Identifier: MIT */
/* links: base/clock.c */
/* Clocks (base/clock.h): the fixed-point conversions against exact ones with 128 bits. */
#include "base/clock.h"

#include "base/machine.h"
#include "host/kernel.h"

#define STEPS 20000
#define YEAR  (365ull * 24 * 3600 * NS_PER_SECOND)

typedef unsigned __int128 wide;

static uint64_t cycles;
static uint64_t wall_seconds;

uint64_t machine_cycles(void)
{
	return cycles;
}

uint64_t machine_wall_seconds(void)
{
	return wall_seconds;
}

/*
 * Slow, fast, powers of two, QEMU's, and what a calibration makes of it; and two whose way back to
 * cycles divides with a remainder of one, the least that has to be rounded up.
 */
static const uint64_t rates[] = {1000000,    33333333,   999999999,  1000000000,  1000000007,
				 1 << 30,    2394454321, 4294967295, 4294967296,  5100000001,
				 7999999999, 8000000000, 1ull << 33, 99999999999, 100000000000,
				 3765165350, 8498962733};

TEST(clock_is_zero_before_it_is_set)
{
	cycles = 123456789;
	EXPECT_EQ(clock_now(), 0);
	EXPECT_EQ(clock_hz(), 0);
	EXPECT_PANIC(clock_ns_to_cycles(1));
	EXPECT_PANIC(clock_cycles_to_ns(1));
}

TEST(clock_refuses_impossible_rates)
{
	EXPECT_PANIC(clock_init(0, 0));
	EXPECT_PANIC(clock_init(999999, 0));
	EXPECT_PANIC(clock_init(100000000001, 0));
}

TEST(clock_starts_at_zero)
{
	cycles = 5000000000;
	wall_seconds = 1767225600;
	clock_init(1000000000, 2000000000);
	EXPECT_EQ(clock_hz(), 1000000000);
	EXPECT_EQ(clock_now(), 3000000000);
	EXPECT_EQ(clock_wall(), 1767225600000000000);
	cycles += 1000;
	EXPECT_EQ(clock_now(), 3000001000);
	EXPECT_EQ(clock_wall(), 1767225600000001000);
}

TEST(clock_whole_rates_are_exact)
{
	clock_init(1000000000, 0);
	EXPECT_EQ(clock_cycles_to_ns(YEAR), YEAR);
	EXPECT_EQ(clock_ns_to_cycles(YEAR), YEAR);
	clock_init(2000000000, 0);
	EXPECT_EQ(clock_cycles_to_ns(2 * YEAR + 1), YEAR);
	EXPECT_EQ(clock_ns_to_cycles(0), 0);
}

/* Up to a hundred years, with every order of magnitude as likely as another. */
static uint64_t random_ns(uint32_t *seed)
{
	uint64_t ns = host_random_below(seed, UINT32_MAX);

	ns = ns << 32 | host_random_below(seed, UINT32_MAX);
	return (ns >> host_random_below(seed, 64)) % (100 * YEAR);
}

/* `part` units in 2^32, and one unit. */
static bool is_near(uint64_t found, uint64_t exact, unsigned part)
{
	uint64_t away = found > exact ? found - exact : exact - found;

	return away <= (uint64_t)((wide)exact * part >> 32) + 1;
}

static void check_rate(uint64_t hz, uint32_t *seed)
{
	uint64_t ns = random_ns(seed);
	wide in_cycles = (wide)ns * hz;
	uint64_t exact = (uint64_t)((in_cycles + NS_PER_SECOND - 1) / NS_PER_SECOND);

	if (in_cycles / NS_PER_SECOND > UINT64_MAX / 2)
		return;
	EXPECT(is_near(clock_ns_to_cycles(ns), exact, 3));
	EXPECT(is_near(clock_cycles_to_ns(exact), (uint64_t)((wide)exact * NS_PER_SECOND / hz), 1));
	EXPECT_LE(ns, clock_cycles_to_ns(clock_ns_to_cycles(ns)));
}

TEST(clock_conversions_keep_their_bounds)
{
	uint32_t seed = 8;

	for (unsigned i = 0; i < COUNT_OF(rates); i++) {
		clock_init(rates[i], 0);
		for (unsigned step = 0; step < STEPS; step++)
			check_rate(rates[i], &seed);
	}
}

TEST(clock_random_rates_keep_their_bounds)
{
	uint32_t seed = 9;

	for (unsigned step = 0; step < STEPS; step++) {
		uint64_t hz = 1000000 + host_random_below(&seed, UINT32_MAX) * 23ull;

		clock_init(hz, 0);
		for (unsigned i = 0; i < 8; i++)
			check_rate(hz, &seed);
	}
}

TEST(clock_is_monotonic)
{
	uint64_t last = 0;

	clock_init(3333333333, 0);
	for (cycles = (1ull << 40) - 5000; cycles < (1ull << 40) + 5000; cycles++) {
		EXPECT_LE(last, clock_now());
		last = clock_now();
	}
}
