/* SPDX-License-Identifier: MIT */
/*
 * The benchmarks that run in the guest: `bench NAME [COUNT]` makes one of them, COUNT operations long.
 *
 * Under the fixed instruction clock one cycle of the time stamp counter is one instruction.  Each
 * benchmark prints `median N` and, per operation in thousandths, what it cost in address space
 * switches, translation flushes and messages between CPUs; tools/bench makes the table.
 */
#include <assay.h>

#define MOST 4000

static uint32_t samples[MOST];
static uint32_t overhead; /* Of reading the counter twice. */

static void sort(uint32_t *values, int n)
{
	for (int gap = n / 2; gap > 0; gap /= 2) {
		for (int i = gap; i < n; i++) {
			uint32_t value = values[i];
			int j = i;

			for (; j >= gap && values[j - gap] > value; j -= gap)
				values[j] = values[j - gap];
			values[j] = value;
		}
	}
}

static uint32_t median(int n)
{
	sort(samples, n);
	return samples[n / 2];
}

static void empty(void)
{
}

/* How often `operation` is done, each time alone between two readings of the counter. */
static void measure(void (*operation)(void), int n)
{
	for (int i = -8; i < n; i++) {
		uint64_t before = cycles();

		operation();
		if (i >= 0)
			samples[i] = (uint32_t)(cycles() - before);
	}
}

static void calibrate(void)
{
	measure(empty, 100);
	overhead = median(100);
}

static void print_rate(const char *name, uint32_t before, uint32_t after, uint32_t operations)
{
	uint64_t rate = (uint64_t)(after - before) * 1000 + operations / 2;

	divide(&rate, operations);
	print("%s %u\n", name, (uint32_t)rate);
}

/* Measures `operation`, which counts as `parts` operations, and prints all there is to say. */
static void report(void (*operation)(void), int n, uint32_t parts)
{
	struct assay_cpu_info before, after;

	assay_cpu_info(&before);
	measure(operation, n);
	assay_cpu_info(&after);
	print("median %u\n", (median(n) - overhead) / parts);
	print_rate("cr3", before.cr3_loads, after.cr3_loads, (uint32_t)n * parts);
	print_rate("flushes", before.tlb_flushes, after.tlb_flushes, (uint32_t)n * parts);
	print_rate("ipis", before.ipis, after.ipis, (uint32_t)n * parts);
}

/* ---------------- The benchmarks ---------------- */

static void trap(void)
{
	null_trap();
}

static void bench_trap(int n)
{
	report(trap, n, 1);
}

static uint8_t stack[16384] __attribute__((aligned(16)));

static void yield_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		swtch_pri(0);
}

static void yield(void)
{
	swtch_pri(0);
}

/* There and back to a thread of the same task that does nothing but yield. */
static void bench_switch(int n)
{
	uint32_t id;

	thread_start(yield_for_ever, NULL, stack, sizeof stack, PRIORITY_USUAL, &id);
	report(yield, n, 1);
}

/* The same, with `bench partner` as the other task, which ends when it is alone. */
static void bench_switch_tasks(int n)
{
	report(yield, n, 1);
}

static void bench_partner(int n)
{
	(void)n;
	thread_switch(0, SWITCH_OPTION_WAIT, 1);
	while (swtch_pri(0))
		continue;
}

/* A loop of three instructions, so that what interrupts take shows in the counter. */
static uint32_t spin(uint32_t turns)
{
	uint64_t before = cycles();

	__asm__ volatile("1: decl %0; jnz 1b" : "+r"(turns));
	return (uint32_t)(cycles() - before);
}

/* What the scheduler's ticks took out of a spin of 2 * 10^8 instructions, per tick. */
static void bench_tick(int n)
{
	const uint32_t turns = 100000000;
	struct assay_cpu_info before, after;
	uint32_t taken;

	(void)n;
	assay_cpu_info(&before);
	taken = spin(turns) - overhead;
	assay_cpu_info(&after);
	print("median %u\n", (taken - 2 * turns) / (after.ticks - before.ticks));
}

static volatile bool stop;
static volatile uint32_t other_traps;

static void trap_until_stopped(void *unused)
{
	(void)unused;
	assay_thread_bind(1);
	while (!stop) {
		null_trap();
		other_traps++;
	}
}

/* Null traps on two CPUs at once: what waiting for the kernel lock adds. */
static void bench_two_cpus(int n)
{
	uint32_t id;

	assay_thread_bind(0);
	thread_start(trap_until_stopped, NULL, stack, sizeof stack, PRIORITY_USUAL, &id);
	while (other_traps == 0)
		thread_switch(0, SWITCH_OPTION_WAIT, 10);
	report(trap, n, 1);
	stop = true;
	assay_thread_join(id, TIMEOUT_NONE);
}

/* A thread's whole life: create, start, end, join. */
static void nothing(void *unused)
{
	(void)unused;
}

static void live(void)
{
	uint32_t id;

	thread_start(nothing, NULL, stack, sizeof stack, PRIORITY_USUAL, &id);
	assay_thread_join(id, TIMEOUT_NONE);
}

static void bench_thread(int n)
{
	report(live, n, 1);
}

static void map_and_unmap(void)
{
	void *place = (void *)0x40000000;

	assay_memory_map(place, PAGE_SIZE, ASSAY_READ | ASSAY_WRITE);
	assay_memory_unmap(place, PAGE_SIZE);
}

static void bench_map(int n)
{
	report(map_and_unmap, n, 1);
}

static void bench_boot(int n)
{
	(void)n;
	print("median 0\n");
}

static const struct {
	const char *name;
	void (*run)(int n);
} benchmarks[] = {
	{"boot", bench_boot},         {"trap", bench_trap},
	{"switch", bench_switch},     {"switch-tasks", bench_switch_tasks},
	{"partner", bench_partner},   {"tick", bench_tick},
	{"two-cpus", bench_two_cpus}, {"thread", bench_thread},
	{"map", bench_map},
};

int main(int argc, char **argv)
{
	int n = argc > 2 ? (int)strtoul(argv[2], NULL, 10) : 1000;

	if (n < 1 || n > MOST) {
		print("bench: the count is 1 to %d\n", MOST);
		return 2;
	}
	calibrate();
	for (size_t i = 0; argc > 1 && i < sizeof benchmarks / sizeof benchmarks[0]; i++) {
		if (strcmp(argv[1], benchmarks[i].name) == 0) {
			benchmarks[i].run(n);
			return 0;
		}
	}
	print("usage: bench NAME [COUNT]; the names are");
	for (size_t i = 0; i < sizeof benchmarks / sizeof benchmarks[0]; i++)
		print(" %s", benchmarks[i].name);
	print("\n");
	return 2;
}
