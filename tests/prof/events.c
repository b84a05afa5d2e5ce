/* SPDX-License-Identifier: MIT */
/*
 * Samples of events: as many as the statistics count, each with the instruction that touched the
 * page, in messages whose counts say that none is missing.
 *
 * machine: cpus=1 append="pool=12" arguments="${host-port}"
 * machine: cpus=2 append="pool=12" arguments="${host-port}" seed=1
 */
#include "check.h"
#include "ipc.h"
#include "samples.h"

#define SELF mach_task_self()
#define MANY 32u

static vm_address_t memory;
static struct collected collected;

static volatile uint32_t *word(uint32_t page)
{
	return (volatile uint32_t *)(memory + page * PAGE_SIZE);
}

static void memory_new(uint32_t pages)
{
	memory = 0;
	EXPECT_EQ(vm_allocate(SELF, &memory, pages * PAGE_SIZE, TRUE), KERN_SUCCESS);
}

static void memory_free(uint32_t pages)
{
	EXPECT_EQ(vm_deallocate(SELF, memory, pages * PAGE_SIZE), KERN_SUCCESS);
}

static mach_port_t host_port(void)
{
	return check_number(0);
}

/* One instruction that writes, between two labels. */
__attribute__((noinline)) static void write_word(volatile uint32_t *at, uint32_t value)
{
	__asm__ volatile(".globl write_begins, write_ends\n"
			 "write_begins: movl %1, (%0)\n"
			 "write_ends:" ::"r"(at),
			 "r"(value)
			 : "memory");
}

extern char write_begins[], write_ends[];

static void write_all(uint32_t value)
{
	for (uint32_t n = 0; n < MANY; n++)
		write_word(word(n), value + n);
}

static struct task_events_info events_of_task(void)
{
	static struct task_events_info info;
	mach_msg_type_number_t n = TASK_EVENTS_INFO_COUNT;

	EXPECT_EQ(task_info(SELF, TASK_EVENTS_INFO, (task_info_t)&info, &n), KERN_SUCCESS);
	return info;
}

static struct task_events_info before, after;
static struct vm_statistics host_before, host_after;

static void start(uint32_t flavors, uint32_t flags)
{
	sample_options_t options = {.flags = flags};

	samples_new(&collected);
	events_of_task();
	vm_statistics(SELF, &host_before);
	EXPECT_EQ(task_sample_start(SELF, flavors, 0, options, collected.port), KERN_SUCCESS);
	before = events_of_task();
	vm_statistics(SELF, &host_before);
}

static void stop(void)
{
	vm_statistics(SELF, &host_after);
	after = events_of_task();
	EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_SUCCESS);
	samples_receive_all(&collected);
	EXPECT_EQ(collected.end.reason, PROF_END_STOPPED);
	EXPECT_EQ(prof_u64(collected.stream.lost), 0);
}

static void expect_pcs(uint32_t flavor, uint32_t n)
{
	uint32_t right = 0;

	for (uint32_t i = 0; i < collected.samples; i++)
		right += kept[i].flavor == flavor && kept[i].pc == (uint32_t)write_begins &&
			 kept[i].kernel_pc == 0 && kept[i].flags == 0 &&
			 kept[i].task == task_id_of(SELF) && kept[i].label == task_id_of(SELF);
	EXPECT_EQ(right, n);
}

/* ---------------- Kinds ---------------- */

TEST(zero_fills)
{
	memory_new(MANY);
	start(SAMPLED_PC_VM_ZFILL_FAULTS, 0);
	write_all(1);
	stop();
	EXPECT_EQ(after.zero_fills - before.zero_fills, MANY);
	EXPECT_EQ(collected.samples, MANY);
	expect_pcs(SAMPLED_PC_VM_ZFILL_FAULTS, MANY);
	EXPECT_EQ(collected.begin.flavors, SAMPLED_PC_VM_ZFILL_FAULTS);
	EXPECT_EQ(collected.begin.rate, 0);
	EXPECT_EQ(collected.begin.target, PROF_TARGET_TASK);
	EXPECT_EQ(collected.begin.id, task_id_of(SELF));
	EXPECT_EQ(samples_sum(&collected, due), 0);
	samples_forget(&collected);
	memory_free(MANY);
}

TEST(copies)
{
	mach_port_t child;

	memory_new(MANY);
	write_all(1);
	child = child_new();
	start(SAMPLED_PC_VM_COW_FAULTS, 0);
	write_all(2);
	stop();
	EXPECT_EQ(collected.samples, after.cow_faults - before.cow_faults);
	expect_pcs(SAMPLED_PC_VM_COW_FAULTS, MANY);
	samples_forget(&collected);
	child_end(child);
	memory_free(MANY);
}

/* A copied page is a sample of the copy, and one of a fault of any kind. */
TEST(several_flavors)
{
	memory_new(MANY);
	start(SAMPLED_PC_VM_FAULTS | SAMPLED_PC_VM_FAULTS_ANY, 0);
	write_all(1);
	stop();
	EXPECT_EQ(collected.samples, 2 * MANY);
	expect_pcs(SAMPLED_PC_VM_ZFILL_FAULTS, MANY);
	expect_pcs(SAMPLED_PC_VM_FAULTS_ANY, MANY);
	samples_forget(&collected);
	memory_free(MANY);
}

static uint32_t count_flavor(uint32_t flavor)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < collected.samples; i++)
		n += kept[i].flavor == flavor;
	return n;
}

/* As many of each flavor as the host's statistics count. */
static void expect_statistics(void)
{
#define GREW(field) ((uint32_t)(host_after.field - host_before.field))
	EXPECT_EQ(count_flavor(SAMPLED_PC_VM_ZFILL_FAULTS), GREW(zero_fill_count));
	EXPECT_EQ(count_flavor(SAMPLED_PC_VM_COW_FAULTS), GREW(cow_faults));
	EXPECT_EQ(count_flavor(SAMPLED_PC_VM_REACTIVATION_FAULTS), GREW(reactivations));
	EXPECT_EQ(count_flavor(SAMPLED_PC_VM_PAGEIN_FAULTS), GREW(pageins));
	EXPECT_EQ(count_flavor(SAMPLED_PC_VM_FAULTS_ANY), GREW(faults));
#undef GREW
}

/* New pages, pages that a child shares, and pages that were about to be paged out. */
static mach_port_t make_events(void)
{
	mach_port_t child;

	write_all(1);
	child = child_new();
	write_all(2);
	EXPECT_EQ(vm_msync(SELF, memory, MANY * PAGE_SIZE, VM_SYNC_DEACTIVATE), KERN_SUCCESS);
	write_all(3);
	return child;
}

/* Of the host: this task is all that runs, and the statistics are the host's. */
TEST(of_the_host)
{
	sample_options_t options = {0};
	mach_port_t child;

	if (host_port() == 0)
		SKIP("needs the host's port");
	memory_new(MANY);
	samples_new(&collected);
	vm_statistics(SELF, &host_before);
	EXPECT_EQ(host_sample_start(host_port(), 0, SAMPLED_PC_ALL & ~SAMPLED_PC_PERIODIC, 0,
				    options, collected.port),
		  KERN_SUCCESS);
	vm_statistics(SELF, &host_before);
	child = make_events();
	/* For the first call the kernel copies the page that the numbers are written to. */
	vm_statistics(SELF, &host_after);
	vm_statistics(SELF, &host_after);
	EXPECT_EQ(host_sample_stop(host_port(), collected.port), KERN_SUCCESS);
	samples_receive_all(&collected);
	expect_statistics();
	expect_pcs(SAMPLED_PC_VM_ZFILL_FAULTS, MANY);
	expect_pcs(SAMPLED_PC_VM_COW_FAULTS, MANY);
	expect_pcs(SAMPLED_PC_VM_REACTIVATION_FAULTS, MANY);
	expect_pcs(SAMPLED_PC_VM_FAULTS_ANY, 3 * MANY);
	samples_forget(&collected);
	child_end(child);
	memory_free(MANY);
}

/* ---------------- Who ---------------- */

/* The kernel's touches for the program: in kernel mode, from where it had called. */
TEST(the_kernel_touches)
{
	uint32_t in_kernel = 0;

	memory_new(MANY);
	start(SAMPLED_PC_VM_ZFILL_FAULTS, 0);
	for (uint32_t n = 0; n < MANY; n++)
		EXPECT_EQ(assay_clock_read(ASSAY_CLOCK_TSC_HZ, (uint64_t *)word(n)), KERN_SUCCESS);
	stop();
	EXPECT_EQ(collected.samples, MANY);
	for (uint32_t i = 0; i < collected.samples; i++)
		in_kernel += kept[i].kernel_pc >= 0xc0000000 && kept[i].pc < 0xc0000000 &&
			     kept[i].kernel_pc == kept[0].kernel_pc && kept[i].pc == kept[0].pc;
	EXPECT_EQ(in_kernel, MANY);
	samples_forget(&collected);
	memory_free(MANY);
}

static volatile uint32_t go, done;

static void write_when_told(void *unused)
{
	(void)unused;
	wait_for(&go, 1);
	for (uint32_t n = 0; n < MANY / 2; n++)
		write_word(word(n), n);
	done = 1;
	wait_for(&go, 2);
}

/* A thread's stream has none of another's. */
TEST(of_a_thread)
{
	sample_options_t options = {0};

	memory_new(MANY);
	go = done = 0;
	worker_start(0, write_when_told, NULL);
	samples_new(&collected);
	EXPECT_EQ(thread_sample_start(worker_port(0), SAMPLED_PC_VM_ZFILL_FAULTS, 0, options,
				      collected.port),
		  KERN_SUCCESS);
	go = 1;
	EXPECT(wait_for(&done, 1));
	for (uint32_t n = MANY / 2; n < MANY; n++)
		write_word(word(n), n);
	EXPECT_EQ(thread_sample_stop(worker_port(0), collected.port), KERN_SUCCESS);
	samples_receive_all(&collected);
	expect_pcs(SAMPLED_PC_VM_ZFILL_FAULTS, MANY / 2);
	EXPECT_EQ(collected.begin.target, PROF_TARGET_THREAD);
	EXPECT_EQ(collected.begin.id, kept[0].thread);
	go = 2;
	EXPECT(worker_join(0));
	samples_forget(&collected);
	memory_free(MANY);
}

/* ---------------- Ends ---------------- */

static void write_and_wait(uint32_t pages)
{
	for (uint32_t n = 0; n < pages; n++)
		write_word(word(n), n);
	for (;;)
		thread_switch(0, SWITCH_OPTION_WAIT, 1000);
}

/* The last message has all that was taken, and says that the target has ended. */
static void end_of_target(bool of_thread)
{
	sample_options_t options = {0};
	mach_port_t child, thread;

	memory_new(MANY);
	child = child_new();
	samples_new(&collected);
	if (!of_thread)
		EXPECT_EQ(task_sample_start(child, SAMPLED_PC_VM_ZFILL_FAULTS, 0, options,
					    collected.port),
			  KERN_SUCCESS);
	thread = child_start(child, 0, write_and_wait, MANY);
	if (of_thread) {
		EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
		EXPECT_EQ(thread_sample_start(thread, SAMPLED_PC_VM_ZFILL_FAULTS, 0, options,
					      collected.port),
			  KERN_SUCCESS);
		EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	}
	sleep_ms(100);
	child_end(child);
	samples_receive_all(&collected);
	EXPECT_EQ(collected.end.reason, PROF_END_TARGET);
	if (!of_thread)
		EXPECT_LE(MANY, collected.samples);
	port_destroy(thread);
	samples_forget(&collected);
	memory_free(MANY);
}

TEST(a_task_ends)
{
	end_of_target(false);
}

TEST(a_thread_ends)
{
	end_of_target(true);
}

/* Nothing is being sent when the receiver goes: all is freed all the same (the balance tells). */
TEST(a_receiver_dies)
{
	memory_new(MANY);
	start(SAMPLED_PC_VM_ZFILL_FAULTS, 0);
	samples_forget(&collected);
	write_all(1);
	samples_new(&collected);
	EXPECT_EQ(task_sample(SELF, MACH_PORT_NULL), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_INVALID_ARGUMENT);
	samples_forget(&collected);
	memory_free(MANY);
}

/* ---------------- When ---------------- */

/* What is older than the stream's age is sent though the buffer is far from full. */
TEST(old_samples)
{
	sample_options_t options = {.age_ms = 50};

	memory_new(MANY);
	samples_new(&collected);
	EXPECT_EQ(task_sample_start(SELF, SAMPLED_PC_VM_ZFILL_FAULTS, 0, options, collected.port),
		  KERN_SUCCESS);
	EXPECT(!samples_receive(&collected, 200));
	write_all(1);
	EXPECT(message_none(collected.port));
	EXPECT(samples_receive(&collected, 200));
	EXPECT_EQ(collected.samples, MANY);
	EXPECT(!collected.ended);
	EXPECT(!samples_receive(&collected, 200));
	EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_SUCCESS);
	samples_receive_all(&collected);
	EXPECT_EQ(collected.samples, MANY);
	samples_forget(&collected);
	memory_free(MANY);
}

/* ---------------- Loss ---------------- */

#define CYCLE 256u /* Pages that are touched, and given back, again and again. */

static uint32_t zero_fill(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (i % CYCLE == 0) {
			EXPECT_EQ(vm_deallocate(SELF, memory, CYCLE * PAGE_SIZE), KERN_SUCCESS);
			EXPECT_EQ(vm_allocate(SELF, &memory, CYCLE * PAGE_SIZE, FALSE),
				  KERN_SUCCESS);
		}
		write_word(word(i % CYCLE), i);
	}
	return n;
}

/*
 * A collector that does not receive: the samples that its queue and the buffers have no room for
 * are lost, exactly, and the others come.
 */
TEST(a_collector_that_stopped)
{
	const uint32_t n = 6000;
	struct task_events_info first;

	memory_new(CYCLE);
	start(SAMPLED_PC_VM_ZFILL_FAULTS, 0);
	first = before;
	zero_fill(n);
	after = events_of_task();
	EXPECT_EQ(after.zero_fills - first.zero_fills, n);
	EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_SUCCESS);
	samples_receive_all(&collected);
	EXPECT_EQ(prof_u64(collected.stream.taken), n);
	EXPECT_EQ(prof_u64(collected.stream.lost), n - collected.samples);
	EXPECT_LT(0, prof_u64(collected.stream.lost));
	/* The queue has room for five messages, and there are four buffers. */
	EXPECT_EQ(collected.messages, 9);
	samples_forget(&collected);
	memory_free(CYCLE);
}
