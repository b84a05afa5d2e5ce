/* SPDX-License-Identifier: MIT */
/*
 * The sampling clock, seen through streams: its rates are right, nothing is lost in silence, it
 * finds the CPU where it is, and each sample's stack names the caller.  What its schedule does in
 * every order of events is tested on the host (host/sampler.c).
 *
 * machine: cpus=1 arguments="${host-port}"
 * machine: cpus=1 arguments="${host-port}" seed=1 when=nightly
 * machine: cpus=2 arguments="${host-port}" seed=2
 * machine: cpus=2 arguments="${host-port}" when=nightly
 */
#include "check.h"
#include "ipc.h"
#include "samples.h"

#define SELF         mach_task_self()
#define NANOS_PER_MS 1000000ull
#define LONG_AGE     60000u /* Milliseconds: nothing is sent before the end. */

static struct collected collected;

static mach_port_t host_port(void)
{
	return check_number(0);
}

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

static uint32_t delivery; /* SAMPLE_NMI or not: of streams that begin. */

static void use_nmi(bool nmi)
{
	delivery = nmi ? SAMPLE_NMI : 0;
}

/* A stream of all that runs, whose messages wait for the end. */
static void start(uint32_t hz, uint32_t flags, uint32_t depth)
{
	sample_options_t options = {.flags = flags | delivery, .age_ms = LONG_AGE, .depth = depth};

	samples_new(&collected);
	EXPECT_EQ(mach_port_set_qlimit(SELF, collected.port, MACH_PORT_QLIMIT_MAX), KERN_SUCCESS);
	EXPECT_EQ(
		host_sample_start(host_port(), 0, SAMPLED_PC_PERIODIC, hz, options, collected.port),
		KERN_SUCCESS);
}

/* All messages are received, and checked, here. */
static void stop(void)
{
	EXPECT_EQ(host_sample_stop(host_port(), collected.port), KERN_SUCCESS);
	samples_receive_all(&collected);
	EXPECT_EQ(prof_u64(collected.stream.lost), 0);
}

/* ---------------- Rates ---------------- */

/* One CPU does this while the others idle. */
typedef void activity(uint32_t ms);

/*
 * The variance of the number of due times in so many periods.  Uniform intervals have a twelfth of
 * the mean's square.  Those of CPUs that an emulator runs in turn are memoryless and have all of
 * it, and if short they come during the interrupt before.
 */
static uint32_t variance_of(uint32_t periods, uint32_t flags)
{
	if ((flags & SAMPLE_FIXED) != 0)
		return 0;
	return n_cpus() > 1 ? periods : periods / 12;
}

/*
 * Each period of `ns` brought one due time, but for five standard errors and one at either end; and
 * each CPU had nearly all its interrupts in time.
 */
static void expect_regular_on(uint32_t cpu, uint32_t hz, uint32_t flags, uint64_t ns)
{
	uint32_t due = (uint32_t)prof_u64(collected.clocks[cpu].due);
	uint32_t missed = (uint32_t)prof_u64(collected.clocks[cpu].missed);
	uint64_t time = ns * hz;
	uint32_t most_missed = due / (n_cpus() > 1 && (flags & SAMPLE_FIXED) == 0 ? 20 : 50);
	uint32_t ends = 1 + (n_cpus() > 1);
	uint32_t periods, off;

	divide(&time, NANOS_PER_SECOND);
	periods = (uint32_t)time;
	off = due > periods ? due - periods : periods - due;
	if (off > ends && (off - ends) * (off - ends) > 25 * variance_of(periods, flags))
		check_fail("CPU %u: %u due times in %llu ns at %u Hz", cpu, due, ns, hz);
	if (missed > most_missed)
		check_fail("CPU %u, %u Hz: %u of %u missed", cpu, hz, missed, due);
}

static void expect_regular(activity *act, uint32_t hz, uint32_t flags, uint32_t ms)
{
	for (uint32_t cpu = 0; cpu < n_cpus(); cpu++) {
		uint64_t began;

		assay_thread_bind((int)cpu);
		began = now();
		start(hz, flags, 0);
		act(ms);
		began = now() - began;
		stop();
		for (uint32_t other = 0; other < n_cpus(); other++)
			expect_regular_on(other, hz, flags, began);
		samples_forget(&collected);
	}
	assay_thread_bind(CPU_ANY);
}

TEST(rates_while_idle)
{
	expect_regular(sleep, 1, SAMPLE_FIXED, 3200);
	expect_regular(sleep, 1000, SAMPLE_FIXED, 50);
	use_nmi(true);
	expect_regular(sleep, 100, SAMPLE_FIXED, 300);
	use_nmi(false);
}

TEST(rates_by_interrupt)
{
	expect_regular(compute, 97, SAMPLE_FIXED, 100);
	expect_regular(compute, 1000, SAMPLE_FIXED, 50);
	expect_regular(compute, 10000, SAMPLE_FIXED, 20);
	expect_regular(compute, 1000, 0, 200);
}

TEST(rates_by_nmi)
{
	use_nmi(true);
	expect_regular(compute, 1000, SAMPLE_FIXED, 30);
	expect_regular(compute, 10000, SAMPLE_FIXED, 20);
	expect_regular(compute, 10000, 0, 30);
	use_nmi(false);
}

/* ---------------- Several CPUs at work ---------------- */

static uint64_t worked_until;

static void work(void *cpu)
{
	assay_thread_bind((int)cpu);
	while (now() < worked_until)
		compute(1);
}

static uint8_t worker_stacks[8][4096] __attribute__((aligned(16)));

/* An emulator that runs CPUs in turn gives each its interrupts, and time to work. */
static void expect_all_served(uint32_t hz, uint32_t ms)
{
	uint32_t n = n_cpus();
	uint32_t workers[sizeof worker_stacks / sizeof worker_stacks[0]];

	start(hz, 0, 0);
	worked_until = now() + ms * NANOS_PER_MS;
	for (uint32_t cpu = 0; cpu < n; cpu++)
		EXPECT_EQ(thread_start(work, (void *)cpu, worker_stacks[cpu],
				       sizeof worker_stacks[cpu], PRIORITY_USUAL, &workers[cpu]),
			  KERN_SUCCESS);
	for (uint32_t cpu = 0; cpu < n; cpu++)
		EXPECT_EQ(assay_thread_join(workers[cpu], TIMEOUT_NONE), KERN_SUCCESS);
	stop();
	for (uint32_t cpu = 0; cpu < n; cpu++) {
		uint64_t fired = prof_u64(collected.clocks[cpu].fired);

		EXPECT_LE(prof_u64(collected.clocks[cpu].missed) * 20, fired);
		EXPECT_LT(hz * ms / 4000, prof_u64(collected.clocks[cpu].taken));
	}
	samples_forget(&collected);
}

TEST(all_cpus_are_served_while_all_work)
{
	expect_all_served(10000, 40);
	expect_all_served(100, 1000); /* Beside the tick, which comes as often. */
}

/* ---------------- Places ---------------- */

/* At least nine tenths of what is found is of one kind. */
static void expect_mostly(uint64_t part, uint64_t all, const char *place)
{
	if (all < 50 || part * 10 < all * 9)
		check_fail("%llu of %llu found %s", part, all, place);
}

static uint32_t count_in_kernel(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < collected.samples && i < SAMPLES_KEPT; i++)
		n += kept[i].kernel_pc != 0;
	return n;
}

static uint32_t count_flagged(uint32_t flag)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < collected.samples && i < SAMPLES_KEPT; i++)
		n += (kept[i].flags & flag) != 0;
	return n;
}

TEST(computing_is_found_in_user_mode)
{
	start(1000, 0, 0);
	compute(100);
	stop();
	expect_mostly(collected.samples - count_in_kernel(), collected.samples, "in user mode");
	samples_forget(&collected);
}

TEST(sleeping_is_found_idle)
{
	start(1000, 0, 0);
	sleep(200);
	stop();
	expect_mostly(samples_sum(&collected, idle), samples_sum(&collected, fired), "idle");
	samples_forget(&collected);
}

#define COPY_BYTES 0x20000u
#define COPY_PLACE 0x08180000u /* Near the program, where there is a page table. */

/*
 * Copies some million words, with interrupts on: where pages do not come to lie on pages, as here,
 * the kernel copies by words.  Who copies is the one who asked.
 */
TEST(copying_is_found_in_the_kernel)
{
	vm_address_t memory = COPY_PLACE;
	uint32_t with_frames = 0;

	EXPECT_EQ(vm_allocate(SELF, &memory, 3 * COPY_BYTES, FALSE), KERN_SUCCESS);
	start(10000, SAMPLE_STACK, 4);
	for (uint32_t turn = 0; turn < 160; turn++)
		EXPECT_EQ(vm_copy(SELF, memory, COPY_BYTES, memory + COPY_BYTES + 4), KERN_SUCCESS);
	stop();
	expect_mostly(count_in_kernel(), collected.samples, "in the kernel");
	EXPECT_EQ(count_flagged(PROF_INTERRUPTS_OFF), 0);
	for (uint32_t i = 0; i < collected.samples && i < SAMPLES_KEPT; i++) {
		if (kept[i].kernel_pc == 0)
			continue;
		EXPECT_NE(kept[i].pc, 0);
		EXPECT_LT(0, kept[i].user_frames);
		with_frames += kept[i].kernel_frames > 0;
	}
	/* The ways in and out have none. */
	expect_mostly(with_frames, collected.samples, "with frames");
	samples_forget(&collected);
	EXPECT_EQ(vm_deallocate(SELF, memory, 3 * COPY_BYTES), KERN_SUCCESS);
}

/* ---------------- Traps, and code with interrupts off ---------------- */

extern const char null_trap_begins[], null_trap_ends[];

/* The call gate, with its code before and behind between two labels. */
__attribute__((noinline)) static void trap_often(uint32_t times)
{
	__asm__ volatile(".globl null_trap_begins, null_trap_ends\n"
			 "null_trap_begins:\n"
			 "1: movl $0, %%eax\n"
			 "lcall $7, $0\n"
			 "decl %0\n"
			 "jnz 1b\n"
			 "null_trap_ends:"
			 : "+r"(times)
			 :
			 : "eax", "memory");
}

/* Wherever in a trap's way in or out a sample is taken, the user's PC is that of the loop. */
static void expect_trap_pcs(void)
{
	uint32_t outside = 0;

	for (uint32_t i = 0; i < collected.samples && i < SAMPLES_KEPT; i++)
		outside +=
			kept[i].task == kept[0].task && (kept[i].pc < (uint32_t)null_trap_begins ||
							 kept[i].pc >= (uint32_t)null_trap_ends);
	/* The calls that start and stop, and their pages. */
	EXPECT_LE(outside, 4);
}

static uint32_t count_traps(void)
{
	uint32_t off;

	start(10000, 0, 0);
	trap_often(600000);
	stop();
	EXPECT_LT(150, collected.samples);
	expect_trap_pcs();
	off = count_flagged(PROF_INTERRUPTS_OFF);
	samples_forget(&collected);
	return off;
}

/* Code with interrupts off is seen by the NMI, and never by the interrupt. */
TEST(nmi_finds_what_interrupts_do_not)
{
	EXPECT_EQ(count_traps(), 0);
	use_nmi(true);
	EXPECT_LT(10, count_traps());
	use_nmi(false);
}

/* ---------------- Stacks ---------------- */

extern const char callee_begins[], callee_ends[], callee_returns[];

/* A function whose every instruction is as likely as any other, and where it is called. */
__attribute__((noinline)) static void call_often(uint32_t times)
{
	__asm__ volatile(".globl callee_begins, callee_ends, callee_returns\n"
			 "jmp 2f\n"
			 ".balign 16\n"
			 "callee_begins:\n"
			 "pushl %%ebp\n"
			 "movl %%esp, %%ebp\n"
			 "nop\n"
			 "leave\n"
			 "ret\n"
			 "3: pushl %%ebp\n"
			 "xorl %%eax, %%eax\n"
			 "movl %%esp, %%ebp\n"
			 "nop\n"
			 "popl %%ebp\n"
			 "ret\n"
			 "callee_ends:\n"
			 "2: call callee_begins\n"
			 "callee_returns:\n"
			 "call 3b\n"
			 "4: decl %0\n"
			 "jnz 2b\n"
			 : "+r"(times)
			 :
			 : "eax", "memory");
}

static void sample_calls(void)
{
	start(10000, SAMPLE_STACK, 0);
	call_often(2000000);
	stop();
	samples_expect_callers(&collected, callee_begins, callee_ends, callee_returns,
			       callee_returns + 5, 100);
	EXPECT_EQ(count_flagged(PROF_STACK_CUT), 0);
	samples_forget(&collected);
}

TEST(a_prologue_names_its_caller)
{
	sample_calls();
	use_nmi(true);
	sample_calls();
	use_nmi(false);
}

static volatile uint32_t sink;

__attribute__((noinline)) static void recurse(uint32_t depth)
{
	if (depth > 0)
		recurse(depth - 1);
	else
		compute(20);
	sink++;
}

/* So deep and no deeper, and it is said that there is more. */
TEST(stacks_have_the_depth_that_was_asked_for)
{
	start(10000, SAMPLE_STACK, 16);
	recurse(30);
	stop();
	for (uint32_t i = 0; i < collected.samples && i < SAMPLES_KEPT; i++)
		EXPECT_LE(kept[i].user_frames, 16);
	/* A thread of the kernel may wait for the other CPU meanwhile. */
	expect_mostly(count_flagged(PROF_STACK_CUT), collected.samples - count_in_kernel(), "cut");
	samples_forget(&collected);
}

/* A frame pointer that leads nowhere, into the kernel or around in a circle ends the stack. */
TEST(bad_frame_pointers_end_a_stack)
{
	static uint32_t circle[2];
	uint32_t bad[] = {1, 0x1000, 0xbffffffc, 0xc0100000, 0xfffffffc, (uint32_t)circle};

	circle[0] = (uint32_t)circle;
	circle[1] = (uint32_t)circle;
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		start(10000, SAMPLE_STACK, 64);
		__asm__ volatile("pushl %%ebp\n"
				 "movl %0, %%ebp\n"
				 "movl $2000000, %%eax\n"
				 "1: decl %%eax\n"
				 "jnz 1b\n"
				 "popl %%ebp\n" ::"r"(bad[i])
				 : "eax", "memory");
		stop();
		EXPECT_LT(10, count_flagged(PROF_STACK_CUT));
		samples_forget(&collected);
	}
}

/* ---------------- Streams that come and go ---------------- */

/* While others begin and end, by interrupt and by NMI, a stream's schedule goes on. */
TEST(streams_do_not_disturb_each_other)
{
	sample_options_t options = {.age_ms = LONG_AGE};
	uint64_t began = now();

	start(1000, SAMPLE_FIXED, 0);
	for (uint32_t turn = 0; turn < 60; turn++) {
		struct collected other;

		use_nmi((turn & 1) != 0);
		samples_new(&other);
		EXPECT_EQ(task_sample_start(SELF, SAMPLED_PC_PERIODIC, 10000, options, other.port),
			  KERN_SUCCESS);
		compute(1);
		EXPECT_EQ(task_sample_stop(SELF, other.port), KERN_SUCCESS);
		samples_receive_all(&other);
		samples_forget(&other);
	}
	use_nmi(false);
	began = now() - began;
	stop();
	for (uint32_t cpu = 0; cpu < n_cpus(); cpu++)
		expect_regular_on(cpu, 1000, 0, began);
	samples_forget(&collected);
}
