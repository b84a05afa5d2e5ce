/* SPDX-License-Identifier: MIT */
/*
 * The benchmarks that run in the guest: `bench NAME [COUNT]` makes one of them, COUNT samples long.
 *
 * tools/bench runs them and makes the table; docs/tools/bench.md says what each of them is.
 */
#include "measure.h"

#define USUAL_COUNT 1000

/* The machine as it boots with a program: where the kernel began and ended says it all. */
static void bench_nothing(uint32_t n)
{
	(void)n;
}

/* What a screen has to scroll for: each of these lines is one character long. */
#define LINES 2000

static void bench_lines(uint32_t n)
{
	static char text[LINES + 1];

	(void)n;
	memset(text, '\n', LINES);
	must(mach_print(text), "printing");
}

static const struct {
	const char *name;
	void (*run)(uint32_t n);
} benchmarks[] = {
	{"nothing", bench_nothing},
	{"trap", bench_trap},
	{"two-cpus", bench_two_cpus},
	{"switch", bench_switch},
	{"switch-tasks", bench_switch_tasks},
	{"partner", bench_partner},
	{"tick", bench_tick},
	{"sample", bench_sample},
	{"sample-stack", bench_sample_stack},
	{"profile", bench_profile},
	{"profile-wide", bench_profile_wide},
	{"profile-traps", bench_profile_traps},
	{"thread", bench_thread},
	{"map", bench_map},
	{"zero-fill", bench_zero_fill},
	{"allocate", bench_allocate},
	{"allocate-touch", bench_allocate_touch},
	{"protect", bench_protect},
	{"keep-samples", bench_keep_samples},
	{"cow-first", bench_cow_first},
	{"cow-last", bench_cow_last},
	{"forks", bench_forks},
	{"exception", bench_exception},
	{"pager", bench_pager},
	{"task-self", bench_task_self},
	{"port-type", bench_port_type},
	{"call", bench_call},
	{"call-task", bench_call_task},
	{"call-memory", bench_call_memory},
	{"thread-life", bench_thread_life},
	{"task-life", bench_task_life},
	/* Not to be measured, but to make work for the kernel. */
	{"crowd", bench_crowd},
	{"bulk", bench_bulk},
	{"lines", bench_lines},
};

#define BENCHMARKS (sizeof benchmarks / sizeof benchmarks[0])

static int usage(void)
{
	print("usage: bench NAME [COUNT]\nCOUNT is 1 to %d, and NAME one of", SAMPLES_MAX);
	for (size_t i = 0; i < BENCHMARKS; i++)
		print(" %s", benchmarks[i].name);
	print("\n");
	return 2;
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : USUAL_COUNT;

	if (argc < 2 || n < 1 || n > SAMPLES_MAX)
		return usage();
	for (size_t i = 0; i < BENCHMARKS; i++) {
		if (strcmp(argv[1], benchmarks[i].name) == 0) {
			benchmarks[i].run(n);
			return 0;
		}
	}
	return usage();
}
