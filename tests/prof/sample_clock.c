/* SPDX-License-Identifier: MIT */
/*
 * The sampling clock, seen through the traps that start and read it: nothing is lost in silence,
 * the rates are right, and it finds the CPU where it is.  What its schedule does in every order of
 * events is tested on the host (host/sample_clock.c).
 *
 * With several CPUs, QEMU runs them in turn under the instruction clock and may keep one from its
 * interrupt for long.  What it is late for is missed, and must be counted; only with one CPU must
 * nothing be missed.
 *
 * machine: cpus=1
 * machine: cpus=1 seed=1
 * machine: cpus=2 seed=2
 */
#include "check.h"
#include <assay.h>
#include <mach.h>

#define NANOS_PER_MS 1000000ull

static uint32_t n_cpus(void)
{
	struct assay_cpu_info info = {0};

	assay_cpu_info(&info);
	return info.cpus;
}

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

/* Uses the CPU, in user mode only, for at least this long. */
static void compute(uint32_t ms)
{
	uint64_t hz = 0, until;

	assay_clock_read(ASSAY_CLOCK_TSC_HZ, &hz);
	divide(&hz, 1000);
	until = cycles() + hz * ms;
	while (cycles() < until)
		for (volatile uint32_t turn = 0; turn < 1000; turn++)
			continue;
}

static struct assay_sample_counts read_counts(uint32_t cpu)
{
	struct assay_sample_counts counts = {0};

	EXPECT_EQ(assay_sample_counts((int)cpu, &counts), KERN_SUCCESS);
	return counts;
}

/* What must hold at every moment. */
static void expect_complete(const struct assay_sample_counts *counts)
{
	EXPECT_EQ(counts->due, counts->fired + counts->missed);
	EXPECT_EQ(counts->fired, counts->idle + counts->user + counts->kernel + counts->kernel_off);
}

static void start(uint32_t hz, uint32_t flags)
{
	EXPECT_EQ(assay_sample_clock(hz, flags), KERN_SUCCESS);
}

static void stop(void)
{
	EXPECT_EQ(assay_sample_clock(0, 0), KERN_SUCCESS);
}

/*
 * Expects that each period of `ns` brought one due time, but for `percent` of them and one at
 * either end.  On several CPUs a CPU may not have looked for a while, so that they are fewer.
 */
static void expect_rate(uint64_t due, uint64_t ns, uint32_t hz, uint32_t percent)
{
	uint64_t periods = ns * hz;
	uint32_t more, fewer;

	divide(&periods, NANOS_PER_SECOND);
	more = (uint32_t)periods * percent / 100 + 1;
	fewer = n_cpus() == 1 ? more : (uint32_t)periods;
	if (due + fewer < periods || due > periods + more)
		check_fail("%llu due times in %llu ns at %u Hz", due, ns, hz);
}

/* ---------------- Arguments ---------------- */

TEST(arguments_are_checked)
{
	struct assay_sample_counts counts;

	EXPECT_EQ(assay_sample_clock(ASSAY_SAMPLE_HZ_MAX + 1, 0), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_sample_clock(0xffffffff, 0), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_sample_clock(100, 4), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_sample_clock(100, 0x80000000), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_sample_clock(0, 4), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_sample_counts((int)n_cpus(), &counts), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_sample_counts(-1, &counts), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_sample_counts((int)0x80000000, &counts), KERN_INVALID_ARGUMENT);
}

/* What is refused does not stop the clock either. */
TEST(refusal_changes_nothing)
{
	uint64_t due;

	start(1000, 0);
	compute(10);
	due = read_counts(0).due;
	EXPECT_EQ(assay_sample_clock(ASSAY_SAMPLE_HZ_MAX + 1, 0), KERN_INVALID_ARGUMENT);
	compute(10);
	EXPECT_LT(due, read_counts(0).due);
	stop();
}

/* ---------------- Rates ---------------- */

/* One CPU does this while the others idle. */
typedef void activity(uint32_t ms);

static void expect_regular_on(uint32_t cpu, uint32_t hz, uint32_t flags, uint64_t ns)
{
	struct assay_sample_counts counts = read_counts(cpu);

	expect_complete(&counts);
	expect_rate(counts.due, ns, hz, flags & ASSAY_SAMPLE_RANDOM ? 10 : 0);
	if (n_cpus() == 1 && counts.missed * 50 > counts.due)
		check_fail("%u Hz: %llu of %llu missed", hz, counts.missed, counts.due);
}

static void expect_regular(activity *act, uint32_t hz, uint32_t flags, uint32_t ms)
{
	for (uint32_t cpu = 0; cpu < n_cpus(); cpu++) {
		uint64_t began;

		assay_thread_bind((int)cpu);
		began = now();
		start(hz, flags);
		act(ms);
		for (uint32_t other = 0; other < n_cpus(); other++)
			expect_regular_on(other, hz, flags, now() - began);
		stop();
	}
	assay_thread_bind(CPU_ANY);
}

TEST(rates_while_idle)
{
	expect_regular(sleep, 1, 0, 3200);
	expect_regular(sleep, 100, 0, 300);
	expect_regular(sleep, 1000, 0, 50);
	expect_regular(sleep, 100, ASSAY_SAMPLE_NMI, 300);
	expect_regular(sleep, 10000, ASSAY_SAMPLE_NMI, 20);
}

TEST(rates_by_interrupt)
{
	expect_regular(compute, 100, 0, 100);
	expect_regular(compute, 1000, 0, 50);
	expect_regular(compute, 10000, 0, 20);
}

TEST(rates_by_nmi)
{
	expect_regular(compute, 100, ASSAY_SAMPLE_NMI, 60);
	expect_regular(compute, 1000, ASSAY_SAMPLE_NMI, 30);
	expect_regular(compute, 10000, ASSAY_SAMPLE_NMI, 20);
}

TEST(rates_at_random)
{
	expect_regular(compute, 1000, ASSAY_SAMPLE_RANDOM, 200);
	expect_regular(compute, 10000, ASSAY_SAMPLE_RANDOM | ASSAY_SAMPLE_NMI, 30);
}

TEST(intervals_stay_in_their_bounds)
{
	struct assay_sample_counts counts;

	start(1000, 0);
	compute(50);
	counts = read_counts(0);
	EXPECT_EQ(counts.interval_min, NANOS_PER_MS);
	EXPECT_EQ(counts.interval_max, NANOS_PER_MS);
	start(10000, ASSAY_SAMPLE_RANDOM);
	compute(50);
	counts = read_counts(0);
	stop();
	EXPECT_LE(NANOS_PER_MS / 20, counts.interval_min);
	EXPECT_LE(counts.interval_max, NANOS_PER_MS * 3 / 20);
	/* Of five hundred, some come near either end. */
	EXPECT_LT(counts.interval_min, NANOS_PER_MS / 16);
	EXPECT_LT(NANOS_PER_MS / 8, counts.interval_max);
}

/* ---------------- Starting and stopping ---------------- */

TEST(stopped_clock_stands)
{
	struct assay_sample_counts before, after;

	start(10000, 0);
	compute(20);
	stop();
	for (uint32_t cpu = 0; cpu < n_cpus(); cpu++) {
		before = read_counts(cpu);
		compute(20);
		after = read_counts(cpu);
		EXPECT_LT(0, before.due);
		EXPECT(memcmp(&before, &after, sizeof before) == 0);
	}
	stop();
}

TEST(restart_begins_anew)
{
	for (uint32_t turn = 0; turn < 20; turn++) {
		uint64_t began = now();

		start(10000, turn % 2 ? ASSAY_SAMPLE_NMI : 0);
		compute(1);
		for (uint32_t cpu = 0; cpu < n_cpus(); cpu++) {
			struct assay_sample_counts counts = read_counts(cpu);

			expect_complete(&counts);
			expect_rate(counts.due, now() - began, 10000, 20);
		}
	}
	stop();
}

/* Started again before anything is due, a thousand times: nothing is due then either. */
TEST(restarts_in_a_row)
{
	for (uint32_t turn = 0; turn < 1000; turn++)
		start(100, ASSAY_SAMPLE_RANDOM);
	EXPECT_LE(read_counts(0).due, 1);
	sleep(100);
	EXPECT_LE(8, read_counts(0).due);
	stop();
}

/* ---------------- Places ---------------- */

/* All of what is found is at least nine tenths of one kind. */
static void expect_mostly(uint64_t part, const struct assay_sample_counts *counts,
			  const char *place)
{
	if (counts->fired < 50 || part * 10 < counts->fired * 9)
		check_fail("%llu of %llu found %s", part, counts->fired, place);
}

TEST(computing_is_found_in_user_mode)
{
	struct assay_sample_counts counts;

	assay_thread_bind(0);
	start(1000, 0);
	compute(100);
	counts = read_counts(0);
	stop();
	assay_thread_bind(CPU_ANY);
	expect_mostly(counts.user, &counts, "in user mode");
}

TEST(sleeping_is_found_idle)
{
	struct assay_sample_counts counts;

	start(1000, 0);
	sleep(200);
	stop();
	for (uint32_t cpu = 0; cpu < n_cpus(); cpu++) {
		counts = read_counts(cpu);
		expect_complete(&counts);
		expect_mostly(counts.idle, &counts, "idle");
	}
}

#define COPY_BYTES 0x100000u

/*
 * Copies a few million words, with interrupts on: where pages do not come to lie on pages, as here,
 * the kernel copies by words.
 */
static void work_in_the_kernel(vm_address_t memory)
{
	for (uint32_t turn = 0; turn < 20; turn++)
		EXPECT_EQ(vm_copy(mach_task_self(), memory, COPY_BYTES, memory + COPY_BYTES + 4),
			  KERN_SUCCESS);
}

TEST(trapping_is_found_in_the_kernel)
{
	struct assay_sample_counts counts;
	vm_address_t memory = 0;

	EXPECT_EQ(vm_allocate(mach_task_self(), &memory, 3 * COPY_BYTES, TRUE), KERN_SUCCESS);
	assay_thread_bind(0);
	start(10000, 0);
	work_in_the_kernel(memory);
	counts = read_counts(0);
	stop();
	assay_thread_bind(CPU_ANY);
	expect_complete(&counts);
	expect_mostly(counts.kernel, &counts, "in the kernel");
	EXPECT_EQ(counts.kernel_off, 0);
	EXPECT_EQ(vm_deallocate(mach_task_self(), memory, 3 * COPY_BYTES), KERN_SUCCESS);
}

/* Traps without end: much of a short trap's time is spent with interrupts off. */
static struct assay_sample_counts count_traps(uint32_t flags)
{
	struct assay_sample_counts counts;
	uint64_t until;

	assay_thread_bind(0);
	start(10000, flags);
	until = now() + 50 * NANOS_PER_MS;
	do {
		for (uint32_t turn = 0; turn < 997; turn++)
			null_trap();
	} while (now() < until);
	counts = read_counts(0);
	stop();
	assay_thread_bind(CPU_ANY);
	expect_complete(&counts);
	return counts;
}

/* Code with interrupts off is seen by the NMI, and never by the interrupt. */
TEST(nmi_finds_what_interrupts_do_not)
{
	struct assay_sample_counts by_interrupt = count_traps(ASSAY_SAMPLE_RANDOM);
	struct assay_sample_counts by_nmi = count_traps(ASSAY_SAMPLE_RANDOM | ASSAY_SAMPLE_NMI);

	EXPECT_EQ(by_interrupt.kernel_off, 0);
	EXPECT_LT(by_nmi.due / 32, by_nmi.kernel_off);
}
