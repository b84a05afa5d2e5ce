/* SPDX-License-Identifier: MIT */
/*
 * Null traps on two CPUs at once: what the kernel lock costs when another CPU wants it too.
 *
 * Under the instruction clock the emulator runs one CPU at a time and counts the instructions of
 * both.  A CPU keeps its turn until a timer is due or until it pauses, which these loops do every
 * so often, in user mode.  Where a timer ends the turn the CPU may hold the lock, and then the
 * other waits for it; that is in its samples.  A sample in which the turn itself changed hands
 * holds a whole turn of the other CPU; it is told by its length and left out.
 */
#include "measure.h"

#define CPUS     2
#define TRAPS    500000u
#define TURN     256u  /* Traps between two pauses. */
#define TOO_LONG 1000u /* No trap is, with a clock tick in it and a wait; nearly every turn is. */

/* How many samples had each length; the last is for those that hold a turn of the other CPU. */
static uint32_t lengths[CPUS][TOO_LONG + 1];
static volatile uint32_t started, done; /* CPUs that have. */

static uint8_t stack[16384] __attribute__((aligned(16)));

static void give_turn(void)
{
	__asm__ volatile("pause" ::: "memory");
}

static void take_samples(uint32_t *histogram)
{
	for (uint32_t i = 0; i < TRAPS; i++) {
		uint32_t length = counter();

		null_trap();
		length = counter() - length;
		histogram[length < TOO_LONG ? length : TOO_LONG]++;
		if (i % TURN == 0)
			give_turn();
	}
}

static void await(volatile uint32_t *count)
{
	__atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
	while (*count < CPUS)
		give_turn();
}

static void run_on(uint32_t cpu)
{
	must(assay_thread_bind((int)cpu), "binding to a CPU");
	await(&started);
	take_samples(lengths[cpu]);
	await(&done);
}

static void run_other(void *unused)
{
	(void)unused;
	run_on(1);
}

static void report_cpu(uint32_t cpu)
{
	uint32_t traps = TRAPS - lengths[cpu][TOO_LONG];
	uint32_t below = 0, median = 0, longest = 0;
	uint64_t sum = 0;

	for (uint32_t length = 0; length < TOO_LONG; length++) {
		uint32_t n = lengths[cpu][length];

		sum += (uint64_t)(length - overhead) * n;
		if (below <= traps / 2)
			median = length - overhead;
		if (n > 0)
			longest = length - overhead;
		below += n;
	}
	print("median%u %u\n", cpu, median);
	print("longest%u %u\n", cpu, longest);
	print("traps%u %u\n", cpu, traps);
	print("sum%u %llu\n", cpu, sum);
}

void bench_two_cpus(uint32_t n)
{
	uint32_t id;

	(void)n;
	measure_calibrate();
	must(thread_start(run_other, NULL, stack, sizeof stack, PRIORITY_USUAL, &id), "a thread");
	measure_begin();
	run_on(0);
	measure_end();
	must(assay_thread_join(id, TIMEOUT_NONE), "joining a thread");
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		report_cpu(cpu);
	report_costs(CPUS * TRAPS);
}
