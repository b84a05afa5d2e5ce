/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a time: never shorter than asked for, and not much longer.
 *
 * machine: cpus=1
 * machine: cpus=1 seed=1
 * machine: cpus=2 seed=2
 */
#include "check.h"
#include <assay.h>

#define THREADS      4
#define NANOS_PER_MS 1000000ull
#define TICK_MS      10

/*
 * A tick until the first that counts, a tick for rounding up, and, with a seed, half a tick by
 * which the last one is late.
 */
#define LATE_MS (2 * TICK_MS + TICK_MS / 2 + 1)

static uint8_t stacks[THREADS][PAGE_SIZE] __attribute__((aligned(16)));
static uint32_t ids[THREADS];

static uint64_t now(void)
{
	uint64_t nanos = 0;

	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &nanos);
	return nanos;
}

/* Sleeps, and says what was wrong with it. */
static void sleep(uint32_t ms)
{
	uint64_t before = now(), slept;

	if (thread_switch(0, SWITCH_OPTION_WAIT, ms) != KERN_SUCCESS)
		check_fail("sleep of %u ms does not succeed", ms);
	slept = now() - before;
	if (slept < ms * NANOS_PER_MS)
		check_fail("sleep of %u ms ends after %llu ns", ms, slept);
	if (slept > (ms + LATE_MS) * NANOS_PER_MS)
		check_fail("sleep of %u ms takes %llu ns", ms, slept);
}

/* Loses some time, so that sleeps begin anywhere between two ticks. */
static void lose(uint32_t turns)
{
	while (turns-- > 0)
		__asm__ volatile("" ::: "memory");
}

TEST(sleeps_are_not_short)
{
	for (uint32_t ms = 0; ms <= 25; ms++) {
		sleep(ms);
		lose(ms * 150000);
	}
}

/* From all places within a tick, and around its ends. */
TEST(sleeps_begin_anywhere)
{
	for (uint32_t turn = 0; turn < 30; turn++) {
		sleep(TICK_MS);
		lose(turn * 260000);
	}
}

static void sleep_often(void *number)
{
	for (uint32_t turn = 0; turn < 40; turn++) {
		sleep((turn * 7 + (uint32_t)number) % 23);
		lose(((uint32_t)number * 40 + turn) % 50 * 9000);
	}
}

TEST(sleeps_on_all_cpus)
{
	for (uint32_t i = 0; i < THREADS; i++)
		REQUIRE(thread_start(sleep_often, (void *)i, stacks[i], sizeof stacks[i],
				     PRIORITY_USUAL - 1, &ids[i]) == KERN_SUCCESS);
	for (uint32_t i = 0; i < THREADS; i++)
		EXPECT_EQ(assay_thread_join(ids[i], TIMEOUT_NONE), KERN_SUCCESS);
}

/* The wheel turns once in 2560 ms. */
TEST(sleeps_longer_than_a_turn_of_the_wheel)
{
	sleep(2550);
	sleep(2560);
	sleep(5130);
}

static volatile uint32_t order[THREADS];
static volatile uint32_t n_ordered;

static void sleep_and_note(void *number)
{
	sleep(((uint32_t)number + 1) * 20);
	order[__atomic_fetch_add(&n_ordered, 1, __ATOMIC_SEQ_CST)] = (uint32_t)number;
}

/* Started last is woken first. */
TEST(sleepers_wake_in_order)
{
	n_ordered = 0;
	for (uint32_t i = THREADS; i-- > 0;)
		REQUIRE(thread_start(sleep_and_note, (void *)i, stacks[i], sizeof stacks[i],
				     PRIORITY_USUAL, &ids[i]) == KERN_SUCCESS);
	for (uint32_t i = 0; i < THREADS; i++)
		EXPECT_EQ(assay_thread_join(ids[i], TIMEOUT_NONE), KERN_SUCCESS);
	for (uint32_t i = 0; i < THREADS; i++)
		EXPECT_EQ(order[i], i);
}
