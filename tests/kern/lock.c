/* SPDX-License-Identifier: MIT */
/*
 * The kernel lock with several CPUs in the kernel all the time: nobody is left out.
 *
 * machine: cpus=2
 * machine: cpus=4 when=nightly
 * machine: cpus=2 seed=1
 * machine: cpus=2 seed=2 when=nightly
 * machine: cpus=4 seed=5
 */
#include "check.h"
#include <assay.h>

#define CPUS_MOST  4
#define LONG_TRAPS 20000
#define TRAPS      1500

static uint8_t stacks[CPUS_MOST][2 * PAGE_SIZE] __attribute__((aligned(16)));
static uint32_t ids[CPUS_MOST];
static volatile uint32_t traps[CPUS_MOST];
static volatile uint32_t arrived;
static volatile bool stop;
static uint32_t n_cpus;

/* Under the instruction clock QEMU changes to the next CPU here, and else may not for long. */
static void relax(void)
{
	for (volatile uint32_t turn = 0; turn < 500; turn++)
		continue;
	__asm__ volatile("pause" ::: "memory");
}

static void trap_on(void *number)
{
	uint32_t cpu = (uint32_t)number;

	assay_thread_bind((int)cpu);
	__atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
	while (arrived < n_cpus)
		relax();
	while (!stop) {
		null_trap();
		if (traps[cpu]++ % 64 == 0)
			relax();
		if (cpu == 0 && traps[cpu] >= TRAPS)
			stop = true;
	}
}

/* A thread bound to each CPU, this one's among them; all are better than this thread. */
static void run_on_all(void (*run)(void *))
{
	struct assay_cpu_info info;

	assay_cpu_info(&info);
	n_cpus = info.cpus;
	arrived = 0;
	stop = false;
	for (uint32_t i = 0; i < n_cpus; i++) {
		traps[i] = 0;
		REQUIRE(thread_start(run, (void *)i, stacks[i], sizeof stacks[i],
				     PRIORITY_USUAL - 1, &ids[i]) == KERN_SUCCESS);
	}
	for (uint32_t i = 0; i < n_cpus; i++)
		EXPECT_EQ(assay_thread_join(ids[i], TIMEOUT_NONE), KERN_SUCCESS);
}

/* The first CPU makes its traps; the others have made about as many. */
TEST(null_traps_get_on_everywhere)
{
	run_on_all(trap_on);
	for (uint32_t i = 1; i < n_cpus; i++) {
		EXPECT_LT(TRAPS / 2, traps[i]);
		EXPECT_LT(traps[i], TRAPS * 2);
	}
}

#define AREA  ((void *)0x08100000)
#define PAGES 600u

static volatile uint32_t before[CPUS_MOST];

/* Whether every other CPU has made so many traps since the counting began. */
static bool others_made(uint32_t least)
{
	for (uint32_t i = 1; i < n_cpus; i++)
		if (traps[i] - before[i] < least)
			return false;
	return true;
}

/*
 * The first CPU is in the kernel nearly all the time, looking for the entry that is not there, and
 * comes back to it at once; whoever waits must get in between.  Until the next tick QEMU may let it
 * run alone: that is less than half of its traps.
 */
static void long_traps(void *number)
{
	uint32_t cpu = (uint32_t)number;

	assay_thread_bind((int)cpu);
	while (cpu != 0 && !stop) {
		null_trap();
		traps[cpu]++;
	}
	while (cpu == 0 && traps[0] < LONG_TRAPS) {
		assay_memory_protect(AREA, (PAGES + 1) * PAGE_SIZE, ASSAY_READ);
		if (traps[0] == 0 && !others_made(1))
			continue;
		if (traps[0]++ == 0)
			memcpy((void *)before, (void *)traps, sizeof before);
	}
	stop = true;
}

/* Every second page may be written to, so that each is an entry of the map by itself. */
static void make_entries(void)
{
	REQUIRE(assay_memory_map(AREA, PAGES * PAGE_SIZE, ASSAY_READ) == KERN_SUCCESS);
	for (uint32_t page = 0; page < PAGES; page += 2)
		assay_memory_protect((char *)AREA + page * PAGE_SIZE, PAGE_SIZE,
				     ASSAY_READ | ASSAY_WRITE);
}

TEST(long_traps_let_others_in)
{
	memset((void *)before, 0, sizeof before);
	make_entries();
	run_on_all(long_traps);
	EXPECT(others_made(LONG_TRAPS / 4));
	EXPECT_EQ(assay_memory_unmap(AREA, PAGES * PAGE_SIZE), KERN_SUCCESS);
}

/* Traps of every length, and some that give up the CPU, from all sides. */
static void mixed_traps(void *number)
{
	uint8_t *area = (uint8_t *)0x08200000 - ((uint32_t)number + 1) * 4 * PAGE_SIZE;
	struct machine_count counts[4];
	uint32_t n;

	assay_thread_bind((int)(uint32_t)number);
	for (uint32_t turn = 0; turn < 60; turn++) {
		if (assay_memory_map(area, 4 * PAGE_SIZE, ASSAY_READ | ASSAY_WRITE) != KERN_SUCCESS)
			check_fail("turn %u: no memory", turn);
		area[turn % (4 * PAGE_SIZE)] = (uint8_t)turn;
		assay_memory_protect(area, PAGE_SIZE, ASSAY_READ);
		assay_counts(counts, 4, &n);
		swtch_pri(0);
		if (turn % 16 == 0)
			thread_switch(0, SWITCH_OPTION_WAIT, 1);
		if (assay_memory_unmap(area, 4 * PAGE_SIZE) != KERN_SUCCESS)
			check_fail("turn %u: not unmapped", turn);
	}
}

TEST(all_kinds_of_traps_at_once)
{
	run_on_all(mixed_traps);
}
