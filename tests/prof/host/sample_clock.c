/* SPDX-License-Identifier: MIT */
/* links: prof/sample_clock.c */
/*
 * The sampling clock (prof/sample_clock.h) with a fake timer and a fake clock.
 *
 * Time passes only here: steps jump to the moment when the timer's shot is due, some time after it,
 * and then give the interrupt to the CPUs in a random order, or not at all to some of them.
 */
#include "prof/sample_clock.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "host/kernel.h"
#include "kern/clock.h"
#include "kern/cpu.h"
#include "kern/machine.h"

#define CPUS   4
#define MS     1000000ull
#define NEVER  UINT64_MAX
#define RANDOM ASSAY_SAMPLE_RANDOM

/* ---------------- The machine ---------------- */

static struct sample_cursor cursors[CPUS];
static uint32_t n_cpus = CPUS;
static __thread uint32_t this_cpu;
static uint64_t now;

static struct {
	uint64_t due; /* NEVER: silent. */
	enum sample_delivery delivery;
	unsigned armed;  /* How often. */
	unsigned nested; /* So many shots more come while the timer is still being programmed. */
} timer = {.due = NEVER};

uint32_t cpu_number(void)
{
	return this_cpu;
}

uint32_t cpu_count(void)
{
	return n_cpus;
}

struct sample_cursor *cpu_sample_cursor(void)
{
	return &cursors[this_cpu];
}

struct sample_cursor *cpu_sample_cursor_of(uint32_t cpu)
{
	return &cursors[cpu];
}

uint64_t clock_now(void)
{
	return __atomic_load_n(&now, __ATOMIC_SEQ_CST);
}

void machine_sample_timer_route(enum sample_delivery delivery)
{
	timer.delivery = delivery;
}

static void interrupt(uint32_t cpu, enum sample_place place)
{
	uint32_t before = this_cpu;

	this_cpu = cpu;
	sample_clock_interrupt(place);
	this_cpu = before;
}

void machine_sample_timer_arm(uint32_t nanoseconds)
{
	EXPECT(nanoseconds > 0 && nanoseconds <= MACHINE_SAMPLE_TIMER_MAX_NS);
	timer.armed++;
	__atomic_store_n(&timer.due, clock_now() + nanoseconds, __ATOMIC_SEQ_CST);
	if (timer.nested > 0) {
		timer.nested--;
		now = timer.due;
		interrupt(0, SAMPLE_KERNEL);
	}
}

void machine_sample_timer_silence(void)
{
	timer.due = NEVER;
}

static void reset(uint32_t cpus)
{
	sample_clock_start(0, 0, 0);
	memset(cursors, 0, sizeof(cursors));
	n_cpus = cpus;
	this_cpu = 0;
	timer.nested = 0;
}

static struct assay_sample_counts counts_of(uint32_t cpu)
{
	struct assay_sample_counts counts = {0};

	EXPECT_EQ(sample_clock_read(cpu, &counts), KERN_SUCCESS);
	return counts;
}

static void expect_conserved(uint32_t cpu)
{
	struct assay_sample_counts c = counts_of(cpu);

	EXPECT_EQ(c.due, c.fired + c.missed);
	EXPECT_EQ(c.fired, c.idle + c.user + c.kernel + c.kernel_off);
}

/* One shot, `late` after it was due, on all CPUs in order. */
static void shoot(uint64_t late)
{
	REQUIRE(timer.due != NEVER);
	now = timer.due + late;
	timer.due = NEVER;
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		interrupt(cpu, SAMPLE_USER);
}

/* ---------------- Starting and stopping ---------------- */

TEST(refuses_what_it_cannot_do)
{
	struct assay_sample_counts counts;

	reset(CPUS);
	EXPECT_EQ(sample_clock_start(ASSAY_SAMPLE_HZ_MAX + 1, 0, 1), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(sample_clock_start(100, 4, 1), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(sample_clock_read(CPUS, &counts), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(timer.due, NEVER);
	EXPECT(!sample_clock_uses_nmi());
}

TEST(does_nothing_when_stopped)
{
	reset(CPUS);
	sample_clock_interrupt(SAMPLE_USER);
	EXPECT_EQ(timer.due, NEVER);
	EXPECT_EQ(counts_of(0).due, 0);
}

TEST(fires_at_its_rate)
{
	uint64_t start;

	reset(CPUS);
	start = now;
	EXPECT_EQ(sample_clock_start(1000, 0, 1), KERN_SUCCESS);
	for (int i = 1; i <= 100; i++) {
		EXPECT_EQ(timer.due, start + (uint64_t)i * MS);
		shoot(0);
	}
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		EXPECT_EQ(counts_of(cpu).due, 100);
		EXPECT_EQ(counts_of(cpu).fired, 100);
		EXPECT_EQ(counts_of(cpu).missed, 0);
		EXPECT_EQ(counts_of(cpu).interval_min, MS);
		EXPECT_EQ(counts_of(cpu).interval_max, MS);
	}
}

TEST(stopping_leaves_the_counts_and_starting_clears_them)
{
	reset(CPUS);
	sample_clock_start(1000, 0, 1);
	shoot(0);
	sample_clock_start(0, 0, 0);
	EXPECT_EQ(timer.due, NEVER);
	interrupt(0, SAMPLE_USER); /* One that was on its way. */
	EXPECT_EQ(timer.due, NEVER);
	EXPECT_EQ(counts_of(0).due, 1);
	sample_clock_start(1000, 0, 1);
	EXPECT_EQ(counts_of(0).due, 0);
	EXPECT_EQ(counts_of(0).interval_max, MS);
}

TEST(a_late_interrupt_of_the_old_schedule_serves_nothing)
{
	reset(CPUS);
	sample_clock_start(1000, 0, 1);
	now = timer.due + 5 * MS;
	sample_clock_start(1000, 0, 1);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		interrupt(cpu, SAMPLE_KERNEL);
		EXPECT_EQ(counts_of(cpu).due, 0);
	}
	EXPECT_EQ(timer.due, now + MS);
}

/* ---------------- Late, early, coalesced ---------------- */

TEST(counts_what_it_missed)
{
	reset(CPUS);
	sample_clock_start(1000, 0, 1);
	shoot(3 * MS + MS / 2);
	EXPECT_EQ(counts_of(0).due, 4);
	EXPECT_EQ(counts_of(0).fired, 1);
	EXPECT_EQ(counts_of(0).missed, 3);
	EXPECT_EQ(timer.due, now + MS / 2);
}

TEST(an_early_interrupt_serves_nothing_and_arms_again)
{
	uint64_t due;

	reset(CPUS);
	sample_clock_start(1000, 0, 1);
	due = timer.due;
	now = due - 1;
	timer.due = NEVER;
	sample_clock_interrupt(SAMPLE_USER);
	EXPECT_EQ(counts_of(0).due, 0);
	EXPECT_EQ(timer.due, due);
}

TEST(a_cpu_that_gets_fewer_interrupts_misses_the_others)
{
	reset(2);
	sample_clock_start(1000, 0, 1);
	for (int i = 0; i < 12; i++) {
		now = timer.due;
		interrupt(0, SAMPLE_USER);
		if (i % 4 == 3)
			interrupt(1, SAMPLE_IDLE);
	}
	EXPECT_EQ(counts_of(0).fired, 12);
	EXPECT_EQ(counts_of(1).due, 12);
	EXPECT_EQ(counts_of(1).fired, 3);
	EXPECT_EQ(counts_of(1).missed, 9);
	EXPECT_EQ(counts_of(1).idle, 3);
}

TEST(long_intervals_are_armed_in_steps)
{
	uint64_t start;
	unsigned steps = 0;

	reset(CPUS);
	start = now;
	sample_clock_start(1, 0, 1);
	while (counts_of(0).fired == 0 && steps < 100) {
		EXPECT(timer.due - now <= MACHINE_SAMPLE_TIMER_MAX_NS);
		shoot(0);
		steps++;
	}
	EXPECT_EQ(now, start + 1000 * MS);
	EXPECT_EQ(steps, 20);
}

/* A debugger held the machine for a minute: no interrupt is long, and nothing is forgotten. */
TEST(a_long_absence_is_made_up_in_pieces)
{
	reset(1);
	sample_clock_start(ASSAY_SAMPLE_HZ_MAX, 0, 1);
	shoot(60000 * MS);
	EXPECT_LT(counts_of(0).due, 10000);
	EXPECT_EQ(counts_of(0).fired, 0);
	for (int i = 0; i < 1000 && counts_of(0).fired == 0; i++) {
		expect_conserved(0);
		shoot(0);
	}
	EXPECT_EQ(counts_of(0).due, 600001);
	EXPECT_EQ(counts_of(0).fired, 1);
}

/* ---------------- The schedule ---------------- */

TEST(random_intervals_keep_their_bounds_and_mean)
{
	const uint64_t mean = 1000 * MS / 997;
	const uint64_t n = 20000;
	uint64_t start;

	reset(1);
	start = now;
	sample_clock_start(997, RANDOM, 5);
	for (uint64_t i = 0; i < n; i++)
		shoot(0);
	EXPECT_EQ(counts_of(0).fired, n);
	EXPECT_LE(mean / 2, counts_of(0).interval_min);
	EXPECT_LE(counts_of(0).interval_max, mean / 2 * 3 + 1);
	/* Uniform: the ends are reached to a part in 500, and the mean to 6 standard errors. */
	EXPECT_LE(counts_of(0).interval_min, mean / 2 + mean / 500);
	EXPECT_LE(mean / 2 * 3 - mean / 500, counts_of(0).interval_max);
	EXPECT_LE((now - start) / n, mean + mean / 80);
	EXPECT_LE(mean - mean / 80, (now - start) / n);
}

TEST(seeds_differ_and_repeat)
{
	uint64_t dues[3];
	const uint32_t seeds[3] = {0, 1, 0};

	for (int i = 0; i < 3; i++) {
		reset(1);
		now = 0;
		sample_clock_start(1000, RANDOM, seeds[i]);
		EXPECT_NE(cursors[0].generator, 0); /* Where it would stay for ever. */
		shoot(0);
		dues[i] = timer.due;
	}
	EXPECT_NE(dues[0], dues[1]);
	EXPECT_EQ(dues[0], dues[2]);
	reset(1);
	EXPECT_EQ(sample_clock_start(1000, RANDOM, UINT32_MAX), KERN_SUCCESS);
	EXPECT_NE(cursors[0].generator, 0);
}

/* Whatever each CPU got: when they have taken as many due times they are at the same place. */
TEST(every_cpu_walks_the_same_schedule)
{
	uint32_t random = 7;

	reset(CPUS);
	sample_clock_start(5000, RANDOM, 3);
	for (int step = 0; step < 20000; step++) {
		unsigned first = host_random_below(&random, CPUS);
		uint64_t late = host_random_below(&random, 10) == 0 ? MS : 0;

		now = timer.due + host_random_below(&random, 2000) + late;
		for (unsigned i = 0; i < CPUS; i++) {
			uint32_t cpu = (first + i) % CPUS;

			if (cpu == 0 || host_random_below(&random, 3) != 0)
				interrupt(cpu, host_random_below(&random, SAMPLE_KERNEL_OFF + 1));
			now += host_random_below(&random, 30);
			expect_conserved(cpu);
		}
	}
	now += MS;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		interrupt(cpu, SAMPLE_KERNEL);
		expect_conserved(cpu);
		EXPECT_EQ(cursors[cpu].next_due, cursors[0].next_due);
		EXPECT_EQ(counts_of(cpu).due, counts_of(0).due);
	}
	EXPECT_LT(0, counts_of(1).missed);
	EXPECT_LT(counts_of(0).missed, counts_of(1).missed);
}

/* ---------------- Interrupts at bad moments ---------------- */

/* On a slow emulator each shot comes while the starter still programs the timer. */
TEST(shots_while_the_timer_is_programmed)
{
	reset(1);
	timer.armed = 0;
	timer.nested = 20;
	sample_clock_start(1000, 0, 1);
	EXPECT_EQ(timer.nested, 0);
	EXPECT_EQ(counts_of(0).fired, 20);
	EXPECT_EQ(timer.armed, 21);
	EXPECT_EQ(timer.due, now + MS);
}

TEST(an_nmi_inside_the_handler_leaves_at_once)
{
	reset(1);
	sample_clock_start(1000, 0, 1);
	now = timer.due;
	cursors[0].sequence++;
	sample_clock_interrupt(SAMPLE_USER);
	EXPECT_EQ(cursors[0].counts.due, 0);
	cursors[0].sequence++;
	sample_clock_interrupt(SAMPLE_USER);
	EXPECT_EQ(cursors[0].counts.due, 1);
}

TEST(an_nmi_may_be_the_clocks_even_after_it_stopped)
{
	reset(1);
	sample_clock_start(1000, ASSAY_SAMPLE_NMI, 1);
	EXPECT_EQ(timer.delivery, SAMPLE_BY_NMI);
	sample_clock_start(0, 0, 0);
	EXPECT(sample_clock_uses_nmi());
	sample_clock_interrupt(SAMPLE_USER);
}

/* ---------------- Other CPUs, for real ---------------- */

#define THREADS 3
#define STARTS  2000

static bool hammering;

static void *hammer(void *cpu)
{
	this_cpu = (uint32_t)(uintptr_t)cpu;
	while (__atomic_load_n(&hammering, __ATOMIC_SEQ_CST)) {
		__atomic_fetch_add(&now, 7000, __ATOMIC_SEQ_CST);
		sample_clock_interrupt(SAMPLE_KERNEL);
	}
	return NULL;
}

/* CPU 0 is one of the hammers: it arms while the starter on CPU 3 silences, resets and arms. */
TEST(starts_and_reads_while_all_cpus_are_interrupted)
{
	pthread_t threads[THREADS];
	uint64_t begin;

	reset(CPUS);
	this_cpu = THREADS;
	hammering = true;
	for (uintptr_t i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, hammer, (void *)i) == 0);
	for (uint32_t i = 0; i < STARTS; i++) {
		begin = clock_now();
		EXPECT_EQ(sample_clock_start(ASSAY_SAMPLE_HZ_MAX, i & RANDOM, i), KERN_SUCCESS);
		if (i % 8 == 0)
			sched_yield();
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			expect_conserved(cpu);
			/* Nothing of the schedule before: it would be more than time allows. */
			EXPECT_LE(counts_of(cpu).due, (clock_now() - begin) / 50000);
		}
	}
	EXPECT_NE(__atomic_load_n(&timer.due, __ATOMIC_SEQ_CST), NEVER);
	sample_clock_start(0, 0, 0);
	for (int i = 0; i < 100; i++)
		sched_yield();
	EXPECT_EQ(timer.due, NEVER);
	__atomic_store_n(&hammering, false, __ATOMIC_SEQ_CST);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}
