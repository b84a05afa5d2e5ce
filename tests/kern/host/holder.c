/* SPDX-License-Identifier: MIT */
/* links: thread/holder.c */
/* Who is said to have held the turn at a moment (thread/holder.h), by what the CPUs note. */
#include "thread/holder.h"

#include "base/machine.h"
#include "host/kernel.h"
#include "thread/cpu_state.h"
#include "thread/sched.h"
#include "thread/tick.h"

#define CPUS 4

struct cpu cpus[MAX_CPUS];
uint32_t n_cpus = CPUS;
uint32_t sched_charges_apart;

static uint32_t this_cpu, ticks_shared;
static uint64_t now;
static bool emulator;

uint32_t cpu_number(void)
{
	return this_cpu;
}

uint64_t machine_cycles(void)
{
	return now;
}

bool machine_runs_cpus_in_turn(void)
{
	return emulator;
}

void tick_share_from_now_on(void)
{
	ticks_shared++;
}

/* ---------------- What CPUs do ---------------- */

static void note(uint32_t cpu, uint64_t cycles)
{
	now = cycles;
	this_cpu = cpu;
	holder_note();
}

static void pass(uint32_t cpu, uint64_t cycles)
{
	now = cycles;
	this_cpu = cpu;
	holder_pass();
}

static void halt(uint32_t cpu)
{
	this_cpu = cpu;
	holder_halts();
}

static void wake(uint32_t cpu)
{
	this_cpu = cpu;
	holder_wakes();
}

static void wake_all(void)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		cpus[cpu].work = 0;
		wake(cpu);
	}
}

/* ---------------- Moments ---------------- */

TEST(who_ran_before_the_first_note_behind_it)
{
	note(1, 0xfffffff0);
	holder_watch(HOLDER_AT_SHOT, 0x100000010);
	EXPECT_EQ(holder_take(HOLDER_AT_SHOT), HOLDER_NOBODY);
	note(1, 0x10000000f);
	EXPECT_EQ(holder_take(HOLDER_AT_SHOT), HOLDER_NOBODY);
	note(3, 0x100000010);
	note(2, 0x100000020);
	EXPECT_EQ(holder_take(HOLDER_AT_SHOT), 1);
}

TEST(it_is_told_once)
{
	note(2, 100);
	holder_watch(HOLDER_AT_SHOT, 200);
	note(0, 300);
	EXPECT_EQ(holder_take(HOLDER_AT_SHOT), 2);
	EXPECT_EQ(holder_take(HOLDER_AT_SHOT), HOLDER_NOBODY);
	note(1, 400);
	EXPECT_EQ(holder_take(HOLDER_AT_SHOT), HOLDER_NOBODY);
}

TEST(shots_and_ticks_are_apart)
{
	note(2, 100);
	holder_watch(HOLDER_AT_SHOT, 200);
	holder_watch(HOLDER_AT_TICK, 300);
	note(3, 250);
	note(0, 350);
	EXPECT_EQ(holder_take(HOLDER_AT_TICK), 3);
	EXPECT_EQ(holder_take(HOLDER_AT_SHOT), 2);
}

/* ---------------- Turns ---------------- */

/* The next need not note that it runs: it may have been parked in user mode. */
TEST(a_turn_goes_to_the_next_that_does_not_halt)
{
	wake_all();
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		note(cpu, 100);
		holder_watch(HOLDER_AT_SHOT, 200);
		pass(cpu, 150);
		note(cpu, 250);
		EXPECT_EQ(holder_take(HOLDER_AT_SHOT), (cpu + 1) % CPUS);
	}
	halt(1);
	note(0, 300);
	holder_watch(HOLDER_AT_SHOT, 400);
	pass(0, 350);
	note(0, 450);
	EXPECT_EQ(holder_take(HOLDER_AT_SHOT), 2);
	cpus[1].work = 1; /* Somebody has woken it. */
	note(0, 500);
	holder_watch(HOLDER_AT_SHOT, 600);
	pass(0, 550);
	note(0, 650);
	EXPECT_EQ(holder_take(HOLDER_AT_SHOT), 1);
	wake_all();
}

TEST(the_last_to_halt_keeps_it)
{
	wake_all();
	now = 100;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		halt(cpu);
	holder_watch(HOLDER_AT_TICK, 200);
	note(0, 250);
	EXPECT_EQ(holder_take(HOLDER_AT_TICK), CPUS - 1);
	wake_all();
}

/* Turns up to a shot go round among those that do not halt. */
TEST(who_waited_longest_is_first)
{
	wake_all();
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		this_cpu = cpu;
		holder_give();
	}
	this_cpu = 0;
	EXPECT(holder_next_is_first());
	this_cpu = 1;
	EXPECT(!holder_next_is_first());
	halt(1);
	this_cpu = 1;
	EXPECT(holder_next_is_first());
	wake_all();
}

/* ---------------- The machine ---------------- */

TEST(only_an_emulator_runs_cpus_in_turn)
{
	holder_start();
	EXPECT(!cpus_in_turn);
	emulator = true;
	n_cpus = 1;
	holder_start();
	EXPECT(!cpus_in_turn);
	EXPECT_EQ(ticks_shared + sched_charges_apart, 0);
	n_cpus = CPUS;
	holder_start();
	EXPECT(cpus_in_turn);
	EXPECT_EQ(ticks_shared + sched_charges_apart, 2);
}
