/* SPDX-License-Identifier: MIT */
/* links: prof/sampler.c prof/sampler_turns.c prof/sampler_slots.c prof/sampler_drain.c
 * links: prof/ring.c */
/* The sampling clock where an emulator runs the CPUs in turn, on a fake machine as sampler.c. */
#include "host/prof/sampler_machine.h"

#define SHOTS (3 * SAMPLER_FOLD)

/* Of each due time one CPU has a sample, the one that had the turn; the others were parked. */
TEST(in_turn_each_due_time_is_one_cpu_s)
{
	uint64_t held[CPUS] = {0};
	uint32_t slot;

	reset(CPUS);
	cpus_in_turn = true;
	slot = begin(0, 1000, SAMPLE_FIXED);
	for (uint32_t i = 0; i < SHOTS; i++) {
		holder = i * i % 7 % CPUS;
		held[holder]++;
		shoot(0);
		if (i % 64 == 0)
			sampler_work_all();
	}
	sampler_end(slot);
	EXPECT_EQ(taken[0].samples, SHOTS);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		EXPECT_EQ(counts_of(slot, cpu).due, SHOTS);
		EXPECT_EQ(counts_of(slot, cpu).fired, held[cpu]);
		EXPECT_EQ(counts_of(slot, cpu).parked, SHOTS - held[cpu]);
		expect_conserved(slot, cpu);
	}
	sampler_free(slot);
	cpus_in_turn = false;
}

/* The interrupt comes when the CPU runs again, at the place where the shot found it. */
TEST(in_turn_a_sample_waits_for_its_cpu)
{
	uint32_t slot;

	reset(2);
	cpus_in_turn = true;
	slot = begin(0, 1000, SAMPLE_FIXED);
	holder = 1;
	for (int i = 0; i < 3; i++) {
		REQUIRE(timer.due != NEVER);
		now = timer.due;
		timer.due = NEVER;
		interrupt(0);
		EXPECT_EQ(counts_of(slot, 0).parked, i + 1);
		EXPECT_EQ(counts_of(slot, 1).due, 0);
	}
	interrupt(1);
	EXPECT_EQ(counts_of(slot, 1).fired, 1);
	EXPECT_EQ(counts_of(slot, 1).missed, 2);
	interrupt(1);
	EXPECT_EQ(counts_of(slot, 1).due, 3);
	now = timer.due;
	interrupt(0);
	sampler_end(slot);
	EXPECT_EQ(counts_of(slot, 0).due, 4);
	EXPECT_EQ(counts_of(slot, 1).due, 4);
	EXPECT_EQ(counts_of(slot, 1).missed, 3);
	sampler_free(slot);
	cpus_in_turn = false;
}

/* A shot that comes while the holder is in the interrupt of the one before finds nobody. */
TEST(in_turn_an_interrupt_is_not_sampled)
{
	uint32_t slot;

	reset(2);
	cpus_in_turn = true;
	slot = begin(0, 1000, SAMPLE_FIXED);
	holder = 0;
	timer.nested = 1;
	shoot(0);
	EXPECT_EQ(counts_of(slot, 0).fired, 1);
	EXPECT_EQ(counts_of(slot, 0).missed, 1);
	EXPECT_EQ(counts_of(slot, 1).parked, 2);
	expect_conserved(slot, 0);
	shoot(0);
	EXPECT_EQ(counts_of(slot, 0).fired, 2);
	EXPECT_EQ(counts_of(slot, 0).missed, 1);
	end(slot);
	cpus_in_turn = false;
}

static bool is_near(double a, double b)
{
	return a - b < 0.005 && b - a < 0.005;
}

/*
 * Of intervals without memory e^-x are longer than x times the mean, for each x.  The bounds are
 * five standard errors and, as the logarithm is a cubic, half a percent.
 */
TEST(in_turn_intervals_have_no_memory)
{
	static const double longer[] = {0.778801, 0.606531, 0.367879, 0.135335, 0.018316};
	static const double than[] = {0.25, 0.5, 1, 2, 4};
	struct schedule schedule = schedule_make(MS, SCHEDULE_MEMORYLESS, schedule_seed(1, 1));
	const uint32_t intervals = 1000000;
	uint32_t counts[5] = {0};
	double sum = 0;

	for (uint32_t i = 0; i < intervals; i++) {
		double interval = (double)schedule_interval(&schedule) / MS;

		sum += interval / intervals;
		for (uint32_t n = 0; n < 5; n++)
			counts[n] += interval > than[n];
	}
	EXPECT(is_near(sum, 1));
	for (uint32_t n = 0; n < 5; n++)
		EXPECT(is_near(counts[n] / (double)intervals, longer[n]));
}

/* A stream there has such intervals: of 200 some 79 are below half of the mean. */
TEST(in_turn_a_shot_may_follow_soon)
{
	uint32_t slot, soon = 0;

	reset(2);
	cpus_in_turn = true;
	slot = begin(0, 1000, 0);
	for (uint32_t i = 0; i < 200; i++) {
		uint64_t before = now;

		shoot(0);
		soon += now - before < MS / 2;
		sampler_work_all();
	}
	EXPECT(soon > 44 && soon < 114); /* Five standard errors. */
	end(slot);
	cpus_in_turn = false;
}

/* Two slots: a shot for the one leaves the other's due times alone. */
TEST(in_turn_slots_are_apart)
{
	uint32_t slow, fast;

	reset(CPUS);
	cpus_in_turn = true;
	holder = 2;
	slow = begin(0, 100, SAMPLE_FIXED);
	fast = begin(1, 1000, SAMPLE_FIXED);
	for (int i = 0; i < 10; i++)
		shoot(0);
	EXPECT_EQ(counts_of(slow, 2).fired, 1);
	EXPECT_EQ(counts_of(fast, 2).fired, 10);
	EXPECT_EQ(counts_of(slow, 3).parked, 1);
	EXPECT_EQ(counts_of(fast, 3).parked, 10);
	end(slow);
	end(fast);
	cpus_in_turn = false;
}
