/* SPDX-License-Identifier: MIT */
/*
 * Nothing is lost in silence: each disturbance alone moves its own count, by a number that is known
 * beforehand, and no other.  That the equations hold is checked in every message that is received
 * (tests/lib/samples.c).
 *
 * The schedules have intervals of one length here, so that what is due is known.
 *
 * machine: cpus=1 append="inject=1" arguments="${host-port}"
 */
#include "check.h"
#include "ipc.h"
#include "samples.h"

#define SELF        mach_task_self()
#define FAST_HZ     10000u
#define FAST_NS     100000u
#define SAMPLE_SIZE (sizeof(struct prof_sample) / 4)

/* What a buffer holds beside samples: on one CPU. */
#define BUFFER_SIZE 4096u
#define BEGIN_SIZE  (sizeof(struct prof_begin) / 4)
#define TRAILER_SIZE \
	((sizeof(struct prof_clock) + sizeof(struct prof_stream) + sizeof(struct prof_end)) / 4)

static struct collected collected;

static mach_port_t host_port(void)
{
	return check_number(0);
}

static uint64_t now(void)
{
	uint64_t nanos = 0;

	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &nanos);
	return nanos;
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

static void start_with_age(uint32_t rate, uint32_t flags, uint32_t age_ms)
{
	sample_options_t options = {.flags = flags, .age_ms = age_ms};

	samples_new(&collected);
	EXPECT_EQ(task_sample_start(SELF, SAMPLED_PC_PERIODIC, rate, options, collected.port),
		  KERN_SUCCESS);
}

static void start(uint32_t rate, uint32_t flags)
{
	start_with_age(rate, flags, 0);
}

static void stop(void)
{
	EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_SUCCESS);
	samples_receive_all(&collected);
	samples_forget(&collected);
}

static uint64_t lost(void)
{
	return prof_u64(collected.stream.lost);
}

static uint64_t taken(void)
{
	return prof_u64(collected.stream.taken);
}

/* ---------------- Nothing disturbs ---------------- */

static void collect(void *unused)
{
	(void)unused;
	while (!collected.ended && samples_receive(&collected, LONG_WAIT))
		continue;
}

#define AGE_MS   10u /* So that messages come often: */
#define MESSAGES 10u /* more than the buffers and the port's queue hold. */

static void set_priority(int priority)
{
	mach_port_t self = mach_thread_self();

	EXPECT_EQ(thread_priority(self, priority, FALSE), KERN_SUCCESS);
	port_drop_send(self);
}

/* A collector that receives what comes has all, at the rates that are usual. */
static void lose_none(uint32_t rate, uint32_t ms)
{
	start_with_age(rate, SAMPLE_FIXED, AGE_MS);
	worker_start(0, collect, NULL);
	set_priority(PRIORITY_USUAL + 5); /* The collector has the CPU when a message comes. */
	compute(ms);
	set_priority(PRIORITY_USUAL);
	EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_SUCCESS);
	EXPECT(worker_join(0));
	EXPECT(collected.ended);
	EXPECT_LE(MESSAGES, collected.messages);
	EXPECT_EQ(lost(), 0);
	EXPECT_EQ(samples_sum(&collected, missed), 0);
	EXPECT_EQ(collected.samples, taken());
	EXPECT_LE((uint64_t)rate * ms, 1000 * (taken() + samples_sum(&collected, idle) + 1));
	samples_forget(&collected);
}

TEST(none_lost)
{
	lose_none(100, 300);
	lose_none(1000, 200);
}

/* ---------------- A collector that is stopped for a second ---------------- */

/*
 * The queue has room for five messages, and there are four buffers: as many samples as they hold
 * come, and of the others each is counted.
 */
TEST(a_collector_that_is_stopped)
{
	const uint32_t in_first = (BUFFER_SIZE - BEGIN_SIZE - TRAILER_SIZE) / SAMPLE_SIZE;
	const uint32_t in_others = (BUFFER_SIZE - TRAILER_SIZE) / SAMPLE_SIZE;
	uint64_t begun = now(), due, elsewhere;

	start(FAST_HZ, SAMPLE_FIXED);
	compute(1000);
	due = now() - begun;
	divide(&due, FAST_NS);
	stop();
	EXPECT_EQ(samples_sum(&collected, missed), 0);
	EXPECT_EQ(samples_sum(&collected, idle), 0);
	/* The thread that sends looks for room with each tick, perhaps at a due time. */
	elsewhere = samples_sum(&collected, elsewhere);
	EXPECT_LE(elsewhere, 10);
	/* The clock is read at other moments than that at which the schedule begins and ends. */
	EXPECT_LE(due, taken() + elsewhere + 2);
	EXPECT_LE(taken() + elsewhere, due + 2);
	EXPECT_EQ(collected.messages, 9);
	EXPECT_EQ(collected.samples, in_first + 8 * in_others);
	EXPECT_EQ(lost(), taken() - in_first - 8 * in_others);
}

/* ---------------- Interrupts off ---------------- */

/* The longest time between two samples, in due times, of which the second is one. */
static uint64_t longest_gap(void)
{
	uint64_t longest = 0;

	for (uint32_t n = 1; n < collected.samples && n < SAMPLES_KEPT; n++)
		if (kept[n].time - kept[n - 1].time > longest)
			longest = kept[n].time - kept[n - 1].time;
	longest += FAST_NS / 2;
	divide(&longest, FAST_NS);
	return longest;
}

/* What is due while interrupts are off has passed when they are on again, but for the last. */
TEST(interrupts_off)
{
	start(FAST_HZ, SAMPLE_FIXED);
	compute(5);
	EXPECT_EQ(assay_interrupts_off(10000), KERN_SUCCESS);
	compute(5);
	stop();
	EXPECT_EQ(samples_sum(&collected, missed), longest_gap() - 1);
	EXPECT_LE(99, samples_sum(&collected, missed));
	EXPECT_LE(samples_sum(&collected, missed), 100);
	EXPECT_EQ(lost(), 0);
	EXPECT_EQ(collected.samples, taken());
}

/* An NMI is not kept out: nothing is missed, and the kernel is seen where it is. */
TEST(interrupts_off_seen_by_nmi)
{
	uint32_t off = 0;

	EXPECT_EQ(host_sample_control(host_port(), 0, SAMPLE_NMI, 0), KERN_SUCCESS);
	start(FAST_HZ, SAMPLE_FIXED);
	compute(5);
	EXPECT_EQ(assay_interrupts_off(10000), KERN_SUCCESS);
	compute(5);
	stop();
	EXPECT_EQ(host_sample_control(host_port(), 0, 0, 0), KERN_SUCCESS);
	EXPECT_EQ(samples_sum(&collected, missed), 0);
	EXPECT_EQ(lost(), 0);
	EXPECT_EQ(collected.samples, taken());
	for (uint32_t n = 0; n < collected.samples; n++)
		off += (kept[n].flags & PROF_INTERRUPTS_OFF) != 0;
	EXPECT_LE(99, off);
	EXPECT_LE(off, 103);
}

/* ---------------- A full ring ---------------- */

#define STREAMS   4u
#define RING_SIZE 16384u                 /* Words, of which one is never used. */
#define IN_RING   ((RING_SIZE - 1) / 8u) /* Samples, which are shorter there. */

/*
 * While interrupts are off nobody reads the ring.  It has room for fewer samples than four streams
 * take in 100 ms: what it had no room for is lost, of all four together as many as do not fit.
 */
TEST(a_full_ring)
{
	struct collected streams[STREAMS];
	uint64_t sum_taken = 0, sum_lost = 0, received = 0;
	sample_options_t options = {.flags = SAMPLE_FIXED};

	EXPECT_EQ(host_sample_control(host_port(), 0, SAMPLE_NMI, 0), KERN_SUCCESS);
	for (uint32_t n = 0; n < STREAMS; n++) {
		samples_new(&streams[n]);
		EXPECT_EQ(task_sample_start(SELF, SAMPLED_PC_PERIODIC, FAST_HZ, options,
					    streams[n].port),
			  KERN_SUCCESS);
	}
	EXPECT_EQ(assay_interrupts_off(100000), KERN_SUCCESS);
	for (uint32_t n = 0; n < STREAMS; n++)
		EXPECT_EQ(task_sample_stop(SELF, streams[n].port), KERN_SUCCESS);
	for (uint32_t n = 0; n < STREAMS; n++) {
		samples_receive_all(&streams[n]);
		samples_forget(&streams[n]);
		EXPECT_EQ(samples_sum(&streams[n], missed), 0);
		sum_taken += prof_u64(streams[n].stream.taken);
		sum_lost += prof_u64(streams[n].stream.lost);
		received += streams[n].samples;
	}
	EXPECT_EQ(host_sample_control(host_port(), 0, 0, 0), KERN_SUCCESS);
	EXPECT_EQ(sum_lost, sum_taken - received);
	/* 1,000 due times of each, or one more; where the ring begins anew room may be left. */
	EXPECT_LE(STREAMS * 1000, sum_lost + IN_RING);
	EXPECT_LE(sum_lost + IN_RING, STREAMS * 1001 + 1);
}
