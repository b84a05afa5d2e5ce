/* SPDX-License-Identifier: MIT */
/*
 * Flushes: what a stream has comes at once, and the stream goes on without a gap.
 *
 * machine: cpus=1 append="pool=12" arguments="${host-port}"
 * machine: cpus=2 append="pool=12" arguments="${host-port}"
 */
#include "check.h"
#include "ipc.h"
#include "samples.h"

#define SELF    mach_task_self()
#define PAGES   32u
#define FLUSHES 20u
#define FULL    50u /* So often, it is more than two buffers. */
#define FAST_HZ 10000u

#define DUE_TIMES 40u

/* Nothing comes because it is old. */
#define NEVER_MS 100000000u

static struct collected collected;

static void start(uint32_t flavors, uint32_t rate)
{
	sample_options_t options = {.flags = SAMPLE_FIXED, .age_ms = NEVER_MS};

	samples_new(&collected);
	EXPECT_EQ(task_sample_start(SELF, flavors, rate, options, collected.port), KERN_SUCCESS);
}

static void stop(void)
{
	EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_SUCCESS);
	EXPECT(samples_receive_all(&collected));
}

/* Takes one zero-fill for each of so many pages. */
static void touch(uint32_t pages)
{
	vm_address_t memory = 0;

	EXPECT_EQ(vm_allocate(SELF, &memory, pages * PAGE_SIZE, TRUE), KERN_SUCCESS);
	for (uint32_t n = 0; n < pages; n++)
		*(volatile uint32_t *)(memory + n * PAGE_SIZE) = n;
	EXPECT_EQ(vm_deallocate(SELF, memory, pages * PAGE_SIZE), KERN_SUCCESS);
}

static uint64_t flush(void)
{
	uint64_t delivered = 0;

	EXPECT_EQ(task_sample_flush(SELF, collected.port, &delivered), KERN_SUCCESS);
	return delivered;
}

/* Receives what a flush sends, which is a message at least, and no more than there is to come. */
static void flush_and_receive(void)
{
	uint64_t delivered = flush();

	do
		EXPECT(samples_receive(&collected, LONG_WAIT));
	while (prof_u64(collected.stream.delivered) < delivered);
	EXPECT_EQ(prof_u64(collected.stream.delivered), delivered);
	EXPECT_EQ(collected.samples, delivered);
}

TEST(all_comes_and_the_stream_goes_on)
{
	start(SAMPLED_PC_VM_ZFILL_FAULTS, 0);
	for (uint32_t turn = 1; turn <= FLUSHES; turn++) {
		touch(PAGES);
		flush_and_receive();
		EXPECT_EQ(collected.samples, turn * PAGES);
		EXPECT(!collected.ended);
	}
	touch(1);
	stop();
	EXPECT_EQ(collected.samples, FLUSHES * PAGES + 1);
	EXPECT_EQ(prof_u64(collected.stream.lost), 0);
	samples_forget(&collected);
}

/* One message waits for the receiver and a full buffer for room; what came since is flushed too. */
TEST(behind_a_full_queue)
{
	start(SAMPLED_PC_VM_ZFILL_FAULTS, 0);
	EXPECT_EQ(mach_port_set_qlimit(SELF, collected.port, 1), KERN_SUCCESS);
	for (uint32_t turn = 0; turn < FLUSHES; turn++)
		touch(FULL);
	flush_and_receive();
	EXPECT_EQ(collected.samples, FLUSHES * FULL);
	EXPECT_LE(3, collected.messages);
	stop();
	samples_forget(&collected);
}

static uint64_t interval(void)
{
	uint64_t length = 0;

	assay_clock_read(ASSAY_CLOCK_TSC_HZ, &length);
	divide(&length, FAST_HZ);
	return length;
}

/* Samples that no buffer has yet come too. */
TEST(the_rings_are_read)
{
	uint64_t end;

	start(SAMPLED_PC_PERIODIC, FAST_HZ);
	end = cycles() + DUE_TIMES * interval();
	while (cycles() < end)
		continue;
	flush_and_receive();
	EXPECT(collected.samples + 2 >= DUE_TIMES);
	stop();
	samples_forget(&collected);
}

/* The clock's schedule goes on too: who flushes more often than it is due misses none. */
TEST(no_due_time_is_missed)
{
	const uint64_t length = DUE_TIMES * interval();
	uint64_t begun = cycles();

	start(SAMPLED_PC_PERIODIC, FAST_HZ);
	while (cycles() - begun < length)
		flush_and_receive();
	stop();
	EXPECT(collected.messages > DUE_TIMES);
	EXPECT(prof_u64(collected.clocks[0].due) + 2 >= DUE_TIMES);
	samples_forget(&collected);
}

/* The messages are sent in the caller's turn, and not by a thread that nobody is charged for. */
TEST(who_flushes_sends)
{
	struct assay_cpu_info before, after;

	start(SAMPLED_PC_VM_COW_FAULTS, 0);
	assay_cpu_info(&before);
	for (uint32_t turn = 0; turn < FLUSHES; turn++)
		flush_and_receive();
	assay_cpu_info(&after);
	EXPECT_EQ(collected.messages, FLUSHES);
	EXPECT_LT(after.switches - before.switches, FLUSHES);
	stop();
	samples_forget(&collected);
}

TEST(without_samples_there_are_counts)
{
	start(SAMPLED_PC_VM_COW_FAULTS, 0);
	EXPECT(!samples_receive(&collected, 0));
	EXPECT_EQ(flush(), 0);
	EXPECT(samples_receive(&collected, LONG_WAIT));
	EXPECT_EQ(collected.messages, 1);
	EXPECT(collected.begun && collected.samples == 0);
	flush_and_receive();
	EXPECT_EQ(collected.messages, 2);
	stop();
	samples_forget(&collected);
}

/* Whoever flushes and does not receive fills no memory and loses no sample for it. */
TEST(nobody_receives)
{
	start(SAMPLED_PC_VM_ZFILL_FAULTS, 0);
	for (uint32_t turn = 0; turn < 200; turn++)
		flush();
	touch(PAGES);
	EXPECT_EQ(flush(), PAGES);
	stop();
	EXPECT_EQ(collected.samples, PAGES);
	EXPECT_EQ(prof_u64(collected.stream.lost), 0);
	EXPECT(collected.messages < 20);
	samples_forget(&collected);
}

TEST(wrong_streams)
{
	mach_port_t host = check_number(0), thread = mach_thread_self();
	uint64_t delivered;

	start(SAMPLED_PC_VM_ZFILL_FAULTS, 0);
	EXPECT_EQ(host_sample_flush(host, collected.port, &delivered), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_sample_flush(thread, collected.port, &delivered), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_sample_flush(thread, collected.port, &delivered), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_sample_flush(SELF, MACH_PORT_NULL, &delivered), KERN_INVALID_ARGUMENT);
	stop();
	EXPECT_EQ(task_sample_flush(SELF, collected.port, &delivered), KERN_INVALID_ARGUMENT);
	samples_forget(&collected);
	port_drop_send(thread);
}
