/* SPDX-License-Identifier: MIT */
/*
 * Threads: making them, waiting for them, binding them to CPUs, on one CPU and on several.
 *
 * A loop that waits for another CPU says `pause` now and then: under the instruction clock QEMU
 * changes to the next CPU there, and without it may not do so for long.
 *
 * machine: cpus=1
 * machine: cpus=2
 * machine: cpus=2 seed=1
 * machine: cpus=4 seed=2
 */
#include "check.h"
#include <assay.h>

#define THREADS      8
#define MANY         3000
#define NANOS_PER_MS 1000000u

static uint8_t stacks[THREADS][PAGE_SIZE] __attribute__((aligned(16)));
static uint32_t ids[THREADS];
static volatile uint32_t count;
static volatile bool stop;

static uint64_t now(void)
{
	uint64_t nanos = 0;

	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &nanos);
	return nanos;
}

static uint32_t cpus(void)
{
	struct assay_cpu_info info = {0};

	assay_cpu_info(&info);
	return info.cpus;
}

static uint32_t cpu_now(void)
{
	struct assay_cpu_info info = {0};

	assay_cpu_info(&info);
	return info.cpu;
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

static void relax(void)
{
	for (volatile uint32_t turn = 0; turn < 2000; turn++)
		continue;
	__asm__ volatile("pause" ::: "memory");
}

static void spin_until_stop(void *unused)
{
	(void)unused;
	while (!stop)
		relax();
}

/* ---------------- Making ---------------- */

/* An entry and a stack are not looked at: they are the thread's own business. */
TEST(priority_is_checked)
{
	uint32_t id = 77;

	EXPECT_EQ(assay_thread_create(assay_thread_exit, NULL, 64, &id), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_thread_create(assay_thread_exit, NULL, -1, &id), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_thread_create(assay_thread_exit, NULL, 0x7fffffff, &id),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(id, 77);
	EXPECT_EQ(assay_thread_create(assay_thread_exit, NULL, 0, &id), KERN_SUCCESS);
	EXPECT_EQ(assay_thread_join(id, TIMEOUT_NONE), KERN_SUCCESS);
	EXPECT_EQ(assay_thread_create(assay_thread_exit, NULL, 63, &id), KERN_SUCCESS);
	EXPECT_EQ(assay_thread_join(id, TIMEOUT_NONE), KERN_SUCCESS);
}

/* Ids are never used again, and no thread's memory is lost: the balance sees to that. */
TEST(thousands_come_and_go)
{
	uint32_t last = 0, id = 0;

	for (uint32_t i = 0; i < MANY; i++) {
		REQUIRE(assay_thread_create(assay_thread_exit, NULL, PRIORITY_USUAL, &id) ==
			KERN_SUCCESS);
		if (id <= last)
			check_fail("thread %u comes after %u", id, last);
		last = id;
		if (i % 16 == 0)
			EXPECT_EQ(assay_thread_join(id, TIMEOUT_NONE), KERN_SUCCESS);
	}
	EXPECT_EQ(assay_thread_join(id, TIMEOUT_NONE), KERN_SUCCESS);
}

/* ---------------- Joining ---------------- */

TEST(join_of_nobody)
{
	uint32_t id;

	EXPECT_EQ(assay_thread_join(0, TIMEOUT_NONE), KERN_SUCCESS);
	EXPECT_EQ(assay_thread_join(0xffffffff, 0), KERN_SUCCESS);
	EXPECT_EQ(assay_thread_create(assay_thread_exit, NULL, PRIORITY_USUAL, &id), KERN_SUCCESS);
	EXPECT_EQ(assay_thread_join(id, TIMEOUT_NONE), KERN_SUCCESS);
	EXPECT_EQ(assay_thread_join(id, TIMEOUT_NONE), KERN_SUCCESS);
}

static void join_argument(void *result)
{
	/* No thread waits for itself; its id is what it was started with. */
	while (count == 0)
		swtch_pri(0);
	*(volatile kern_return_t *)result = assay_thread_join(count, TIMEOUT_NONE);
}

TEST(join_of_oneself)
{
	volatile kern_return_t result = 0;

	count = 0;
	REQUIRE(thread_start(join_argument, (void *)&result, stacks[0], sizeof stacks[0],
			     PRIORITY_USUAL, &ids[0]) == KERN_SUCCESS);
	count = ids[0];
	join(1);
	EXPECT_EQ(result, KERN_INVALID_ARGUMENT);
}

TEST(join_times_out)
{
	static const uint32_t limits[] = {0, 1, 10, 55};

	stop = false;
	start(0, spin_until_stop, PRIORITY_USUAL);
	for (unsigned i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		uint64_t before = now();

		EXPECT_EQ(assay_thread_join(ids[0], limits[i]), KERN_TIMEDOUT);
		EXPECT_LE(limits[i] * (uint64_t)NANOS_PER_MS, now() - before);
		/*
		 * On one CPU the other may have a whole quantum before this thread runs again, and
		 * a time is over at a tick.
		 */
		EXPECT_LT(now() - before, (limits[i] + 130) * (uint64_t)NANOS_PER_MS);
	}
	stop = true;
	EXPECT_EQ(assay_thread_join(ids[0], 1000), KERN_SUCCESS);
}

static void join_first(void *unused)
{
	(void)unused;
	if (assay_thread_join(ids[0], TIMEOUT_NONE) == KERN_SUCCESS)
		__atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
}

TEST(many_wait_for_one)
{
	stop = false;
	count = 0;
	start(0, spin_until_stop, PRIORITY_USUAL + 1);
	for (uint32_t i = 1; i < THREADS; i++)
		start(i, join_first, PRIORITY_USUAL);
	thread_switch(0, SWITCH_OPTION_WAIT, 30);
	EXPECT_EQ(count, 0);
	stop = true;
	join(THREADS);
	EXPECT_EQ(count, THREADS - 1);
}

/* ---------------- Binding ---------------- */

TEST(bind_is_checked)
{
	EXPECT_EQ(assay_thread_bind((int)cpus()), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_thread_bind(-2), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_thread_bind(0x7fffffff), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_thread_bind((int)0x80000000), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_thread_bind(CPU_ANY), KERN_SUCCESS);
}

static void expect_here(uint32_t cpu)
{
	EXPECT_EQ(cpu_now(), cpu);
	thread_switch(0, SWITCH_OPTION_WAIT, 1);
	EXPECT_EQ(cpu_now(), cpu);
	swtch_pri(0);
	EXPECT_EQ(cpu_now(), cpu);
	for (volatile uint32_t turn = 0; turn < 3000000; turn++)
		continue;
	EXPECT_EQ(cpu_now(), cpu);
}

TEST(bound_thread_stays)
{
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t cpu = 0; cpu < cpus(); cpu++) {
			EXPECT_EQ(assay_thread_bind((int)cpu), KERN_SUCCESS);
			expect_here(cpu);
		}
	}
	EXPECT_EQ(assay_thread_bind(CPU_ANY), KERN_SUCCESS);
}

static void bound_and_counting(void *number)
{
	assay_thread_bind((int)((uint32_t)number % cpus()));
	for (uint32_t turn = 0; turn < 100; turn++) {
		if (cpu_now() != (uint32_t)number % cpus())
			__atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
		swtch();
	}
}

TEST(bound_threads_among_others)
{
	count = 0;
	for (uint32_t i = 0; i < THREADS; i++)
		start(i, bound_and_counting, PRIORITY_USUAL);
	join(THREADS);
	EXPECT_EQ(count, 0);
}

/* A thread moves to a CPU where a better one spins, and waits there though the others are idle. */
static void move_and_note(void *unused)
{
	(void)unused;
	assay_thread_bind(0);
	count = 1;
}

TEST(bound_thread_waits_for_its_cpu)
{
	count = 0;
	EXPECT_EQ(assay_thread_bind(0), KERN_SUCCESS);
	start(0, move_and_note, PRIORITY_USUAL + 1);
	for (volatile uint32_t turn = 0; turn < 20000000; turn++)
		continue;
	EXPECT_EQ(count, 0);
	join(1);
	EXPECT_EQ(count, 1);
	EXPECT_EQ(assay_thread_bind(CPU_ANY), KERN_SUCCESS);
}

/* ---------------- All at once ---------------- */

static volatile uint32_t arrived;

static void arrive(void *unused)
{
	(void)unused;
	__atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
	while (!stop)
		relax();
}

/* As many spinning threads as CPUs: all run at the same time, without a clock's help for long. */
TEST(every_cpu_takes_a_thread)
{
	uint64_t before = now();

	arrived = 0;
	stop = false;
	for (uint32_t i = 0; i + 1 < cpus(); i++)
		start(i, arrive, PRIORITY_USUAL);
	while (arrived + 1 < cpus())
		relax();
	EXPECT_LT(now() - before, 100 * NANOS_PER_MS);
	stop = true;
	join(cpus() - 1);
}

static void come_and_go(void *unused)
{
	(void)unused;
	for (uint32_t turn = 0; turn < 200; turn++) {
		uint32_t id;

		if (assay_thread_create(assay_thread_exit, NULL, PRIORITY_USUAL - 1, &id) !=
			    KERN_SUCCESS ||
		    (turn % 4 == 0 && assay_thread_join(id, TIMEOUT_NONE) != KERN_SUCCESS))
			check_fail("turn %u fails", turn);
		swtch();
	}
}

TEST(threads_make_threads)
{
	for (uint32_t i = 0; i < THREADS; i++)
		start(i, come_and_go, PRIORITY_USUAL);
	join(THREADS);
}
