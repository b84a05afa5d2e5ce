/* SPDX-License-Identifier: MIT */
/*
 * The calls of Mach 3.0 (<mach/pc_sample.h>), which programs written for it use, and that what was
 * wrong with them there is not here.  The faults' numbers, D1 to D8, are those of
 * docs/sampling.md.
 *
 * machine: cpus=1 append="pool=12"
 * machine: cpus=2 append="pool=12" seed=1
 */
#include <mach/pc_sample.h>

#include "check.h"
#include "ipc.h"
#include "samples.h"

#define SELF  mach_task_self()
#define STALE 0xdeadbeefu
#define CYCLE 64u

static sampled_pc_t samples[MAX_PC_SAMPLES + 1];
static mach_msg_type_number_t n_samples;
static vm_address_t memory;

/* One instruction that writes, at a label. */
__attribute__((noinline)) static void write_word(volatile uint32_t *at)
{
	__asm__ volatile(".globl pcs_write\n"
			 "pcs_write: movl $1, (%0)" ::"r"(at)
			 : "memory");
}

extern char pcs_write[];

/* The number of this thread, as the samples of a stream say it. */
static uint32_t thread_id(void)
{
	static struct collected collected;
	static uint32_t id;
	vm_address_t page = 0;

	if (id != 0)
		return id;
	samples_new(&collected);
	EXPECT_EQ(task_sample_start(SELF, SAMPLED_PC_VM_ZFILL_FAULTS, 0, (sample_options_t){0},
				    collected.port),
		  KERN_SUCCESS);
	EXPECT_EQ(vm_allocate(SELF, &page, PAGE_SIZE, TRUE), KERN_SUCCESS);
	write_word((volatile uint32_t *)page);
	EXPECT_EQ(vm_deallocate(SELF, page, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_SUCCESS);
	EXPECT(samples_receive_all(&collected));
	samples_forget(&collected);
	id = kept[0].thread;
	return id;
}

/* So many samples of the flavor SAMPLED_PC_VM_ZFILL_FAULTS. */
static void zero_fill(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (i % CYCLE == 0) {
			EXPECT_EQ(vm_deallocate(SELF, memory, CYCLE * PAGE_SIZE), KERN_SUCCESS);
			EXPECT_EQ(vm_allocate(SELF, &memory, CYCLE * PAGE_SIZE, FALSE),
				  KERN_SUCCESS);
		}
		write_word((volatile uint32_t *)(memory + i % CYCLE * PAGE_SIZE));
	}
}

/* A reply of that size takes more of the stack than anything before. */
static void touch_stack(void)
{
	volatile char room[4 * PAGE_SIZE];

	for (uint32_t at = 0; at < sizeof room; at += PAGE_SIZE)
		room[at] = 0;
}

static void zero_fill_elsewhere(void)
{
	vm_address_t page = 0;

	EXPECT_EQ(vm_allocate(SELF, &page, PAGE_SIZE, TRUE), KERN_SUCCESS);
	*(volatile uint32_t *)page = 1;
	EXPECT_EQ(vm_deallocate(SELF, page, PAGE_SIZE), KERN_SUCCESS);
}

static void begin(void)
{
	int tick = 0;

	touch_stack();
	thread_id();
	memory = 0;
	EXPECT_EQ(vm_allocate(SELF, &memory, CYCLE * PAGE_SIZE, TRUE), KERN_SUCCESS);
	EXPECT_EQ(task_enable_pc_sampling(SELF, &tick, SAMPLED_PC_VM_ZFILL_FAULTS), KERN_SUCCESS);
	EXPECT_EQ(tick, 10000);
}

static void end(int count)
{
	int taken = -1;

	EXPECT_EQ(task_disable_pc_sampling(SELF, &taken), KERN_SUCCESS);
	EXPECT_EQ(taken, count);
	EXPECT_EQ(vm_deallocate(SELF, memory, CYCLE * PAGE_SIZE), KERN_SUCCESS);
}

/* Fetches what came after `seqno`; returns the new one. */
static unsigned get(unsigned seqno)
{
	for (uint32_t i = 0; i <= MAX_PC_SAMPLES; i++)
		samples[i] = (sampled_pc_t){STALE, STALE, STALE};
	n_samples = MAX_PC_SAMPLES;
	EXPECT_EQ(task_get_sampled_pcs(SELF, &seqno, samples, &n_samples), KERN_SUCCESS);
	return seqno;
}

/* The first `n` are real ones, and there is nothing behind them. */
static void expect_samples(uint32_t n)
{
	uint32_t right = 0;

	EXPECT_EQ(n_samples, n);
	for (uint32_t i = 0; i < n; i++)
		right += samples[i].id == thread_id() && samples[i].pc == (vm_offset_t)pcs_write &&
			 samples[i].sampletype == SAMPLED_PC_VM_ZFILL_FAULTS;
	EXPECT_EQ(right, n);
	EXPECT_EQ(samples[n].id, STALE);
}

/* Numbers begin at 1, and each fetch goes on where the last one ended. */
TEST(fetched_in_turns)
{
	begin();
	EXPECT_EQ(get(0), 0);
	expect_samples(0);
	zero_fill(5);
	EXPECT_EQ(get(0), 5);
	expect_samples(5);
	EXPECT_EQ(get(5), 5);
	expect_samples(0);
	zero_fill(7);
	EXPECT_EQ(get(5), 12);
	expect_samples(7);
	EXPECT_EQ(get(0), 12);
	expect_samples(12);
	end(12);
}

/* D2, D3: of more than the ring holds, the last 512 come, all of them, wherever its end is. */
TEST(more_than_the_ring_holds)
{
	uint32_t taken = 0;

	begin();
	for (uint32_t more = 512; more <= 600; more += 8) {
		zero_fill(more);
		taken += more;
		EXPECT_EQ(get(taken - more), taken);
		expect_samples(MAX_PC_SAMPLES);
	}
	zero_fill(511 - taken % 512 + 512);
	taken += 511 - taken % 512 + 512;
	EXPECT_EQ(taken % 512, 511);
	EXPECT_EQ(get(0), taken);
	expect_samples(MAX_PC_SAMPLES);
	zero_fill(513);
	taken += 513;
	EXPECT_EQ(get(taken - 513), taken);
	expect_samples(MAX_PC_SAMPLES);
	/* The last one comes last: of all that are in the ring it alone was elsewhere. */
	zero_fill_elsewhere();
	taken++;
	EXPECT_EQ(get(0), taken);
	EXPECT_EQ(n_samples, MAX_PC_SAMPLES);
	EXPECT_NE(samples[MAX_PC_SAMPLES - 1].pc, (vm_offset_t)pcs_write);
	EXPECT_EQ(samples[MAX_PC_SAMPLES - 2].pc, (vm_offset_t)pcs_write);
	EXPECT_EQ(samples[0].pc, (vm_offset_t)pcs_write);
	/* D5: how many there were is told in the end. */
	end((int)taken);
}

/* D4: a number that is still to come gives none, and no negative count. */
TEST(numbers_to_come)
{
	begin();
	zero_fill(3);
	EXPECT_EQ(get(5), 3);
	expect_samples(0);
	EXPECT_EQ(get(0x0fffffff), 3);
	expect_samples(0);
	EXPECT_EQ(get(UINT32_MAX), 3);
	expect_samples(0);
	end(3);
}

/* D7: a thread is told by its small number, which is no address. */
TEST(small_numbers_of_threads)
{
	begin();
	zero_fill(1);
	get(0);
	EXPECT_EQ(samples[0].id, thread_id());
	EXPECT_LT(samples[0].id, 0x10000);
	end(1);
}

TEST(not_enabled)
{
	mach_port_t thread = mach_thread_self(), child = child_new();
	unsigned seqno = 7;
	int count = 3;

	n_samples = MAX_PC_SAMPLES;
	EXPECT_EQ(task_get_sampled_pcs(SELF, &seqno, samples, &n_samples), KERN_FAILURE);
	EXPECT_EQ(task_disable_pc_sampling(SELF, &count), KERN_FAILURE);
	EXPECT_EQ(thread_get_sampled_pcs(thread, &seqno, samples, &n_samples), KERN_FAILURE);
	EXPECT_EQ(thread_disable_pc_sampling(thread, &count), KERN_FAILURE);
	EXPECT_EQ(task_enable_pc_sampling(thread, &count, SAMPLED_PC_PERIODIC),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_enable_pc_sampling(SELF, &count, SAMPLED_PC_PERIODIC),
		  KERN_INVALID_ARGUMENT);
	/* A child does not inherit it. */
	begin();
	EXPECT_EQ(task_disable_pc_sampling(child, &count), KERN_FAILURE);
	end(0);
	EXPECT_EQ(task_disable_pc_sampling(SELF, &count), KERN_FAILURE);
	port_drop_send(thread);
	child_end(child);
}

/* A second call keeps what there is and changes the flavors. */
TEST(enabled_twice)
{
	int tick = 0;

	begin();
	zero_fill(3);
	EXPECT_EQ(task_enable_pc_sampling(SELF, &tick, SAMPLED_PC_VM_COW_FAULTS), KERN_SUCCESS);
	zero_fill(4);
	EXPECT_EQ(get(0), 3);
	EXPECT_EQ(task_enable_pc_sampling(SELF, &tick, SAMPLED_PC_VM_ZFILL_FAULTS), KERN_SUCCESS);
	zero_fill(2);
	EXPECT_EQ(get(0), 5);
	expect_samples(5);
	end(5);
}

/* A thread's samples and its task's are kept apart. */
TEST(of_a_thread)
{
	mach_port_t thread = mach_thread_self();
	unsigned seqno = 0;
	int tick, count = 0;

	begin();
	zero_fill(2);
	EXPECT_EQ(thread_enable_pc_sampling(thread, &tick, SAMPLED_PC_VM_ZFILL_FAULTS),
		  KERN_SUCCESS);
	zero_fill(3);
	n_samples = MAX_PC_SAMPLES;
	EXPECT_EQ(thread_get_sampled_pcs(thread, &seqno, samples, &n_samples), KERN_SUCCESS);
	EXPECT_EQ(seqno, 3);
	EXPECT_EQ(n_samples, 3);
	EXPECT_EQ(samples[0].pc, (vm_offset_t)pcs_write);
	EXPECT_EQ(thread_disable_pc_sampling(thread, &count), KERN_SUCCESS);
	EXPECT_EQ(count, 3);
	EXPECT_EQ(get(0), 5);
	expect_samples(5);
	end(5);
	port_drop_send(thread);
}

/* What nobody has disabled goes with its task (the balance tells). */
TEST(of_a_task_that_ends)
{
	mach_port_t child = child_new();
	int tick;

	EXPECT_EQ(task_enable_pc_sampling(child, &tick, SAMPLED_PC_ALL), KERN_SUCCESS);
	child_end(child);
}

/* ---------------- The clock ---------------- */

__attribute__((noinline)) static void spin(uint32_t turns)
{
	while (turns-- > 0)
		__asm__ volatile(".globl pcs_spin, pcs_spun\n"
				 "pcs_spin: nop\n"
				 "nop\n"
				 "pcs_spun:");
}

extern char pcs_spin[];

/* D1: there are samples of the clock at all, where the program was. */
TEST(of_the_clock)
{
	unsigned seqno = 0;
	uint32_t near = 0;
	int tick, count = 0;

	EXPECT_EQ(task_enable_pc_sampling(SELF, &tick, SAMPLED_PC_PERIODIC), KERN_SUCCESS);
	spin(30000000);
	n_samples = MAX_PC_SAMPLES;
	EXPECT_EQ(task_get_sampled_pcs(SELF, &seqno, samples, &n_samples), KERN_SUCCESS);
	EXPECT_EQ(task_disable_pc_sampling(SELF, &count), KERN_SUCCESS);
	EXPECT_LE(n_samples, count);
	EXPECT_LT(5, n_samples);
	for (uint32_t i = 0; i < n_samples; i++)
		near += samples[i].pc - (vm_offset_t)pcs_spin < 32 ||
			(vm_offset_t)pcs_spin - samples[i].pc < 32;
	EXPECT_LE(n_samples - 2, near);
	EXPECT_EQ(samples[0].sampletype, SAMPLED_PC_PERIODIC);
	EXPECT_EQ(samples[0].id, thread_id());
}

static uint64_t now(void)
{
	uint64_t nanos = 0;

	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &nanos);
	return nanos;
}

/* The clock's next sample after the beginning comes within 15 ms: wait for it, so many times. */
#define ONE_SAMPLE_NS 16000000u
#define WAITS         5

/* To the middle of pages: the kernel copies by words, for a tenth of a millisecond. */
#define COPY_BYTES 0x20000u

static void copy(vm_address_t area)
{
	EXPECT_EQ(vm_copy(SELF, area, COPY_BYTES, area + COPY_BYTES + 4), KERN_SUCCESS);
}

/*
 * D6: nothing is freed under the feet of the interrupt that samples.  D8: time in the kernel, where
 * nearly all of it goes here, is not invisible: it is at the instruction that called the kernel.
 */
TEST(enabled_and_disabled_while_it_runs)
{
	vm_address_t area = 0;
	uint32_t beyond = 0;
	int tick, count, sum = 0;

	EXPECT_EQ(vm_allocate(SELF, &area, 3 * COPY_BYTES, TRUE), KERN_SUCCESS);
	copy(area); /* After this its pages are there, and there are no events. */
	for (uint32_t turn = 0; turn < 10 * WAITS; turn++) {
		uint64_t until = turn % 10 != 0 ? 0 : now() + ONE_SAMPLE_NS;
		unsigned seqno = 0;

		EXPECT_EQ(task_enable_pc_sampling(SELF, &tick, SAMPLED_PC_ALL), KERN_SUCCESS);
		do
			copy(area);
		while (now() < until);
		n_samples = MAX_PC_SAMPLES;
		EXPECT_EQ(task_get_sampled_pcs(SELF, &seqno, samples, &n_samples), KERN_SUCCESS);
		for (uint32_t i = 0; i < n_samples; i++)
			beyond += samples[i].pc >= 0xc0000000;
		EXPECT_EQ(task_disable_pc_sampling(SELF, &count), KERN_SUCCESS);
		sum += count;
	}
	EXPECT_EQ(beyond, 0);
	EXPECT_LE(WAITS, sum);
	EXPECT_EQ(vm_deallocate(SELF, area, 3 * COPY_BYTES), KERN_SUCCESS);
}

/* The clock that a second call asks for runs as often as one that the first had asked for. */
TEST(the_clock_comes_later)
{
	int tick = 0, count = 0;

	EXPECT_EQ(task_enable_pc_sampling(SELF, &tick, SAMPLED_PC_VM_COW_FAULTS), KERN_SUCCESS);
	EXPECT_EQ(task_enable_pc_sampling(SELF, &tick, SAMPLED_PC_PERIODIC), KERN_SUCCESS);
	EXPECT_EQ(tick, 10000);
	spin(100000000);
	EXPECT_EQ(task_disable_pc_sampling(SELF, &count), KERN_SUCCESS);
	EXPECT_LE(15, count);
	EXPECT_LE(count, 60);
}
