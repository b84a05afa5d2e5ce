/* SPDX-License-Identifier: MIT */
/*
 * The scheduler on one CPU, where it decides everything: who runs, when, and for how long.
 *
 * machine: cpus=1
 * machine: cpus=1 seed=5
 */
#include "check.h"
#include <assay.h>

#define THREADS 4
#define BETTER  (PRIORITY_USUAL - 1)
#define WORSE   (PRIORITY_USUAL + 1)

#define NANOS_PER_MS 1000000u
#define QUANTUM_MS   100 /* Ten ticks. */

static uint8_t stacks[THREADS][PAGE_SIZE] __attribute__((aligned(16)));
static uint32_t ids[THREADS];

static volatile bool stop;
static volatile uint32_t order[THREADS];
static volatile uint32_t n_ordered;
static volatile uint32_t turns[THREADS];

static uint64_t now(void)
{
	uint64_t nanos = 0;

	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &nanos);
	return nanos;
}

static void sleep(uint32_t ms)
{
	thread_switch(0, SWITCH_OPTION_WAIT, ms);
}

/* Uses the CPU without a trap. */
static void spin(uint32_t ms)
{
	for (volatile uint32_t turn = 0; turn < ms * 200000; turn++)
		continue;
}

static void start(uint32_t number, void (*run)(void *), int priority)
{
	if (thread_start(run, (void *)number, stacks[number], sizeof stacks[number], priority,
			 &ids[number]) != KERN_SUCCESS)
		check_fail("thread %u does not start", number);
}

static void join(uint32_t threads)
{
	for (uint32_t i = 0; i < threads; i++)
		EXPECT_EQ(assay_thread_join(ids[i], TIMEOUT_NONE), KERN_SUCCESS);
}

static void note_order(void *number)
{
	order[n_ordered++] = (uint32_t)number;
}

/* ---------------- Priorities ---------------- */

TEST(better_priority_runs_at_once)
{
	n_ordered = 0;
	start(0, note_order, BETTER);
	EXPECT_EQ(n_ordered, 1);
	join(1);
}

TEST(worse_priority_waits)
{
	n_ordered = 0;
	start(0, note_order, WORSE);
	EXPECT(!swtch());
	spin(3 * QUANTUM_MS / 2);
	EXPECT_EQ(n_ordered, 0);
	EXPECT_EQ(thread_switch(0, SWITCH_OPTION_NONE, 0), KERN_SUCCESS);
	EXPECT_EQ(n_ordered, 0);
	join(1);
	EXPECT_EQ(n_ordered, 1);
}

TEST(priorities_run_in_order)
{
	static const uint32_t expected[THREADS] = {1, 3, 0, 2};

	n_ordered = 0;
	start(0, note_order, 40);
	start(1, note_order, 30);
	start(2, note_order, 63);
	start(3, note_order, 35);
	join(THREADS);
	for (uint32_t i = 0; i < THREADS; i++)
		EXPECT_EQ(order[i], expected[i]);
}

TEST(equals_run_in_turn)
{
	n_ordered = 0;
	for (uint32_t i = 0; i < THREADS; i++)
		start(i, note_order, PRIORITY_USUAL);
	join(THREADS);
	for (uint32_t i = 0; i < THREADS; i++)
		EXPECT_EQ(order[i], i);
}

/* ---------------- Yielding ---------------- */

TEST(yields_when_alone)
{
	EXPECT(!swtch());
	EXPECT(!swtch_pri(0));
	EXPECT(!swtch_pri(0x7fffffff));
	EXPECT_EQ(thread_switch(0, SWITCH_OPTION_NONE, 0), KERN_SUCCESS);
	EXPECT_EQ(thread_switch(12345, SWITCH_OPTION_DEPRESS, 1000), KERN_SUCCESS);
	EXPECT_EQ(thread_switch(0, 3, 0), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_switch(0, -1, 0), KERN_INVALID_ARGUMENT);
}

TEST(yield_to_an_equal)
{
	n_ordered = 0;
	start(0, note_order, PRIORITY_USUAL);
	EXPECT_EQ(n_ordered, 0);
	EXPECT(swtch());
	EXPECT_EQ(n_ordered, 1);
	join(1);
}

static void note_sleep_note(void *number)
{
	note_order(number);
	sleep(10);
	note_order(number);
}

/* A depressed yield lets worse threads run, and is over when its caller runs again. */
TEST(depressed_yield_lasts_one_turn)
{
	n_ordered = 0;
	start(0, note_sleep_note, WORSE);
	EXPECT(swtch_pri(0));
	EXPECT_EQ(n_ordered, 1);
	spin(80); /* The other is awake again, and worse again. */
	EXPECT_EQ(n_ordered, 1);
	EXPECT_EQ(thread_switch(0, SWITCH_OPTION_DEPRESS, 0), KERN_SUCCESS);
	EXPECT_EQ(n_ordered, 2);
	join(1);
}

/* ---------------- Preemption ---------------- */

/* Never traps: only the clock can take the CPU away. */
static void count_turns(void *number)
{
	while (!stop)
		turns[(uint32_t)number]++;
}

TEST(spinning_threads_share)
{
	const uint32_t ms = 2 * THREADS * QUANTUM_MS;
	struct assay_cpu_info before, after;
	uint32_t total = 0;

	stop = false;
	for (uint32_t i = 0; i < THREADS; i++) {
		turns[i] = 0;
		start(i, count_turns, PRIORITY_USUAL);
	}
	assay_cpu_info(&before);
	sleep(ms);
	assay_cpu_info(&after);
	stop = true;
	join(THREADS);
	for (uint32_t i = 0; i < THREADS; i++)
		total += turns[i] / THREADS;
	for (uint32_t i = 0; i < THREADS; i++) {
		EXPECT_LT(total - total / 3, turns[i]);
		EXPECT_LT(turns[i], total + total / 3);
	}
	/* A switch a quantum, and a few for the threads to start and this one to sleep. */
	EXPECT_LE(ms / QUANTUM_MS - 4, after.switches - before.switches);
	EXPECT_LE(after.switches - before.switches, ms / QUANTUM_MS + 8);
}

static volatile uint64_t woken;

static void note_wakeup(void *number)
{
	(void)number;
	sleep(30);
	woken = now();
	stop = true;
}

/* Whoever is better gets the CPU when it wakes, not when the other's quantum is over. */
TEST(better_thread_wakes_into_the_cpu)
{
	uint64_t before = now();

	stop = false;
	start(0, note_wakeup, BETTER);
	while (!stop)
		continue;
	EXPECT_LE(30 * NANOS_PER_MS, woken - before);
	EXPECT_LT(woken - before, 60 * NANOS_PER_MS);
	join(1);
}

/* The thread that spins is better than all others: they wait as long as it does. */
TEST(worse_threads_starve)
{
	stop = false;
	turns[0] = 0;
	start(0, count_turns, WORSE);
	spin(3 * QUANTUM_MS / 2);
	EXPECT_EQ(turns[0], 0);
	sleep(10);
	EXPECT_LT(0, turns[0]);
	stop = true;
	join(1);
}
