/* SPDX-License-Identifier: MIT */
/*
 * What a profile costs: programs of known length, alone, and while libprof collects their samples
 * as it does for a program of -pg's and, in monctl, for another one.  What the second takes more,
 * divided by the samples, is all that one costs, from the interrupt up to the table of libprof that
 * keeps each program counter apart.
 */
#include "measure.h"

#include "mach.h"
#include <mach/mach4.h>
#include <prof/collector.h>
#include <servers/gprof.h>

#define PLACES 1000 /* Where one of the programs may be found. */

extern char __executable_start[], etext[];

/* ---------------- The collector ---------------- */

static struct prof_collector *collector;

static void prepare(void)
{
	const struct prof_collector_target target = {
		.task = mach_task_self_cached(),
		.low = (uint32_t)__executable_start,
		.high = (uint32_t)etext,
		.image = __executable_start,
		.image_size = (size_t)(etext - __executable_start),
		.runs_here = true,
	};

	must(prof_collector_make(&target, &collector), "a collector");
	must(prof_collector_run(collector), "its thread");
}

static void begin(uint32_t rate)
{
	const gprof_options_t options = {.rate = rate};
	uint32_t flavors = SAMPLED_PC_PERIODIC;

	must(gprof_mon_options(prof_collector_port(collector), options), "the rate of a profile");
	must(gprof_mon_switch(prof_collector_port(collector), &flavors), "a profile");
}

/* When this returns, all samples are in the table. */
static void end(void)
{
	uint32_t flavors = 0;

	must(gprof_mon_switch(prof_collector_port(collector), &flavors), "the end of a profile");
}

static uint32_t samples_collected(void)
{
	gprof_status_t status;

	must(gprof_mon_status(prof_collector_port(collector), &status), "the counts of a profile");
	if (status.delivered[0] == status.taken[0])
		return status.taken[0];
	print("bench: %u samples were taken, but %u collected\n", status.taken[0],
	      status.delivered[0]);
	assay_exit(3);
}

/* ---------------- The programs ---------------- */

/* A program that is found at many places, nearly every time at another. */
static void compute_widely(uint32_t turns)
{
	__asm__ volatile("1: .rept %c1; incl %%ecx; .endr; decl %0; jnz 1b"
			 : "+r"(turns)
			 : "i"(PLACES)
			 : "ecx");
}

static void trap_often(uint32_t turns)
{
	for (; turns > 0; turns--)
		null_trap();
}

/* ---------------- With and without ---------------- */

static uint64_t length_profiled(workload *run, uint32_t turns, uint32_t rate)
{
	uint64_t before;

	begin(rate);
	before = cycles();
	run(turns);
	end();
	return cycles() - before;
}

/* How many instructions it takes more, for how many samples, and how long it is without. */
static void measure(workload *run, uint32_t turns, uint32_t rate)
{
	uint64_t without = length_of(run, turns), excess;

	excess = length_profiled(run, turns, rate) - without;
	print("excess-%u %u\n", rate, (uint32_t)excess);
	print("samples-%u %u\n", rate, samples_collected());
	print("length-%u %u\n", rate, (uint32_t)(without >> 10));
}

/* The first profile is a short one: the kernel and libprof have what they keep then. */
static void warm_up(workload *run, uint32_t turns)
{
	prepare();
	length_profiled(run, turns, SAMPLE_RATE_MAX);
}

void bench_profile(uint32_t n)
{
	(void)n;
	warm_up(compute, 10000000);
	measure(compute, 1000000000, 100);
	measure(compute, 100000000, 1000);
	measure(compute, 100000000, 10000);
}

void bench_profile_wide(uint32_t n)
{
	(void)n;
	warm_up(compute_widely, 20000000 / PLACES);
	measure(compute_widely, 200000000 / PLACES, 10000);
}

void bench_profile_traps(uint32_t n)
{
	(void)n;
	warm_up(trap_often, 20000);
	measure(trap_often, 2000000, 100);
	measure(trap_often, 2000000, 1000);
	measure(trap_often, 2000000, 10000);
}

/* Samples that the kernel keeps until they are fetched, begun and ended. */
void bench_keep_samples(uint32_t n)
{
	mach_port_t self = mach_task_self();
	int tick, count;

	measure_calibrate();
	MEASURE(n, task_enable_pc_sampling(self, &tick, SAMPLED_PC_PERIODIC);
		task_disable_pc_sampling(self, &count));
	report_samples(n, 1);
}
