/* SPDX-License-Identifier: MIT */
/*
 * Translations that change while other CPUs use the address space: no CPU sees the old page once
 * the trap that changed it is over.
 *
 * machine: cpus=2
 * machine: cpus=2 seed=1
 * machine: cpus=2 seed=3
 * machine: cpus=4 seed=4
 */
#include "check.h"
#include <assay.h>

#define CPUS_MOST 4
#define ROUNDS    16
#define RW        (ASSAY_READ | ASSAY_WRITE)

/* Two areas in turn: the readers are in the one while the other changes. */
#define AREA(round) ((volatile uint32_t *)(0x08100000 + ((round) % 2) * 0x20000))
#define PAGES       12u

static uint8_t stacks[CPUS_MOST][2 * PAGE_SIZE] __attribute__((aligned(16)));
static uint32_t ids[CPUS_MOST];
static uint32_t n_cpus;
static volatile uint32_t round_now; /* The round whose area is in place; 0: none yet. */
static volatile uint32_t seen[CPUS_MOST];
static volatile uint32_t stale;
static volatile bool stop;

/* Under the instruction clock QEMU changes to the next CPU here, and else may not for long. */
static void relax(void)
{
	for (volatile uint32_t turn = 0; turn < 500; turn++)
		continue;
	__asm__ volatile("pause" ::: "memory");
}

/* Reads the whole area of each round, and says that it has; what it finds must be the round's. */
static void follow(void *number)
{
	uint32_t cpu = (uint32_t)number;

	assay_thread_bind((int)cpu);
	while (!stop) {
		uint32_t round = round_now;

		if (round == seen[cpu]) {
			relax();
			continue;
		}
		for (uint32_t page = 0; page < PAGES; page++)
			if (AREA(round)[page * PAGE_SIZE / 4] != round * PAGES + page)
				__atomic_fetch_add(&stale, 1, __ATOMIC_SEQ_CST);
		seen[cpu] = round;
	}
}

static void start_followers(void)
{
	struct assay_cpu_info info;

	assay_thread_bind(0);
	assay_cpu_info(&info);
	n_cpus = info.cpus;
	round_now = 0;
	stale = 0;
	stop = false;
	for (uint32_t i = 1; i < n_cpus; i++) {
		seen[i] = 0;
		REQUIRE(thread_start(follow, (void *)i, stacks[i], sizeof stacks[i], PRIORITY_USUAL,
				     &ids[i]) == KERN_SUCCESS);
	}
}

/* Shows the area of this round to all, and waits until all have read it. */
static void publish(uint32_t round)
{
	round_now = round;
	for (uint32_t i = 1; i < n_cpus; i++)
		while (seen[i] != round)
			relax();
}

static void stop_followers(void)
{
	stop = true;
	for (uint32_t i = 1; i < n_cpus; i++)
		EXPECT_EQ(assay_thread_join(ids[i], TIMEOUT_NONE), KERN_SUCCESS);
	assay_thread_bind(CPU_ANY);
	EXPECT_EQ(stale, 0);
}

static void fill(uint32_t round)
{
	for (uint32_t page = 0; page < PAGES; page++)
		AREA(round)[page * PAGE_SIZE / 4] = round * PAGES + page;
}

/* Each time other pages at the same address; those given back hold what must not be seen again. */
TEST(unmapped_and_mapped_again)
{
	start_followers();
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		if (round > 2)
			EXPECT_EQ(assay_memory_unmap((void *)AREA(round), PAGES * PAGE_SIZE),
				  KERN_SUCCESS);
		REQUIRE(assay_memory_map((void *)AREA(round), PAGES * PAGE_SIZE, RW) ==
			KERN_SUCCESS);
		fill(round);
		publish(round);
	}
	stop_followers();
	for (uint32_t round = 0; round < 2; round++)
		assay_memory_unmap((void *)AREA(round), PAGES * PAGE_SIZE);
}

/* Read-only and back while the others read; a write that follows is never lost. */
TEST(protected_back_and_forth)
{
	for (uint32_t round = 0; round < 2; round++)
		REQUIRE(assay_memory_map((void *)AREA(round), PAGES * PAGE_SIZE, RW) ==
			KERN_SUCCESS);
	start_followers();
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		EXPECT_EQ(assay_memory_protect((void *)AREA(round), PAGES * PAGE_SIZE, RW),
			  KERN_SUCCESS);
		fill(round);
		EXPECT_EQ(assay_memory_protect((void *)AREA(round), PAGES * PAGE_SIZE, ASSAY_READ),
			  KERN_SUCCESS);
		publish(round);
	}
	stop_followers();
	for (uint32_t round = 0; round < 2; round++)
		assay_memory_unmap((void *)AREA(round), PAGES * PAGE_SIZE);
}

/* A CPU that runs nothing of the address space is left alone. */
TEST(idle_cpus_are_not_told)
{
	struct assay_cpu_info before, after;

	assay_thread_bind(0);
	thread_switch(0, SWITCH_OPTION_WAIT, 20);
	REQUIRE(assay_memory_map((void *)AREA(0), PAGES * PAGE_SIZE, RW) == KERN_SUCCESS);
	assay_cpu_info(&before);
	EXPECT_EQ(assay_memory_protect((void *)AREA(0), PAGES * PAGE_SIZE, ASSAY_READ),
		  KERN_SUCCESS);
	EXPECT_EQ(assay_memory_unmap((void *)AREA(0), PAGES * PAGE_SIZE), KERN_SUCCESS);
	assay_cpu_info(&after);
	EXPECT_EQ(after.ipis, before.ipis);
	assay_thread_bind(CPU_ANY);
}
