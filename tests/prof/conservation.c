/* SPDX-License-Identifier: MIT */
/*
 * Nothing is lost in silence: each disturbance alone moves its own count, by a number that is known
 * beforehand, and no other.  That the equations hold is checked in every message that is received
 * (tests/lib/samples.c).
 *
 * The schedules have intervals of one length here, and what is done is done in the middle of one,
 * so that what is due by then is known.
 *
 * machine: cpus=1 append="inject=1"
 */
#include "check.h"
#include "ipc.h"
#include "samples.h"

#define SELF        mach_task_self()
#define FAST_HZ     10000u
#define FAST_NS     100000u
#define TICKS       100u /* In a second. */
#define SAMPLE_SIZE (sizeof(struct prof_sample) / 4)

/* What a buffer holds beside samples: on one CPU. */
#define BUFFER_SIZE 4096u
#define BEGIN_SIZE  (sizeof(struct prof_begin) / 4)
#define TRAILER_SIZE \
	((sizeof(struct prof_clock) + sizeof(struct prof_stream) + sizeof(struct prof_end)) / 4)

static struct collected collected;

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

/* Begins a stream, and returns when: the first due time is an interval later, and half of one. */
static uint64_t begin(struct collected *stream, uint32_t rate, uint32_t flags, uint32_t age_ms)
{
	sample_options_t options = {.flags = flags, .age_ms = age_ms};
	uint64_t begun;

	samples_new(stream);
	begun = now();
	EXPECT_EQ(task_sample_start(SELF, SAMPLED_PC_PERIODIC, rate, options, stream->port),
		  KERN_SUCCESS);
	EXPECT_LT(now() - begun, FAST_NS / 2);
	return begun;
}

static uint64_t start(uint32_t flags)
{
	return begin(&collected, FAST_HZ, SAMPLE_FIXED | flags, 0);
}

/*
 * Computes until so many due times of a stream that has begun then have come; what is done next is
 * done before the next one.
 */
static void compute_until(uint64_t begun, uint32_t due)
{
	uint64_t until = begun + (uint64_t)due * FAST_NS + FAST_NS / 2, before = now();

	while (before < until)
		before = now();
	EXPECT_LT(before - until, FAST_NS / 2);
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
	begin(&collected, rate, SAMPLE_FIXED, AGE_MS);
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
	const uint32_t room = in_first + 8 * in_others;
	uint64_t begun = start(0), elsewhere;

	compute(999);
	compute_until(begun, FAST_HZ);
	stop();
	EXPECT_EQ(samples_sum(&collected, missed), 0);
	EXPECT_EQ(samples_sum(&collected, idle), 0);
	/* The thread that sends looks for room with each tick, perhaps at a due time: as the due
	 * times keep step with the ticks, at none of them or at each.
	 */
	elsewhere = samples_sum(&collected, elsewhere);
	EXPECT_LE(elsewhere, 2 * TICKS);
	EXPECT_EQ(taken() + elsewhere, FAST_HZ);
	EXPECT_EQ(collected.messages, 9);
	EXPECT_EQ(collected.samples, room);
	EXPECT_EQ(lost() + elsewhere, FAST_HZ - room);
}

/* ---------------- Interrupts off ---------------- */

/* The longest time between two samples, in due times, of which the second is one. */
static uint64_t longest_gap(uint64_t samples)
{
	uint64_t longest = 0;

	for (uint32_t n = 1; n < samples && n < SAMPLES_KEPT; n++)
		if (kept[n].time - kept[n - 1].time > longest)
			longest = kept[n].time - kept[n - 1].time;
	longest += FAST_NS / 2;
	divide(&longest, FAST_NS);
	return longest;
}

#define OFF_DUE 100u /* Due times for which interrupts are off, */
#define AROUND  50u  /* and before it and after it. */

/* Interrupts are off for a hundred due times; when that was is in `off`. */
static void turn_off(uint32_t flags, uint64_t off[2])
{
	uint64_t begun = start(flags);

	compute_until(begun, AROUND);
	off[0] = now();
	EXPECT_EQ(assay_interrupts_off(OFF_DUE * (FAST_NS / 1000)), KERN_SUCCESS);
	off[1] = now();
	compute_until(begun, 2 * AROUND + OFF_DUE);
	stop();
	EXPECT_EQ(samples_sum(&collected, due), 2 * AROUND + OFF_DUE);
	EXPECT_EQ(lost(), 0);
	EXPECT_EQ(collected.samples, taken());
}

/* What is due while interrupts are off has passed when they are on again, but for the last. */
TEST(interrupts_off)
{
	uint64_t off[2];

	turn_off(0, off);
	EXPECT_EQ(samples_sum(&collected, missed), OFF_DUE - 1);
	EXPECT_EQ(longest_gap(collected.samples), OFF_DUE);
}

/* An NMI is not kept out: nothing is missed, and the kernel is seen where it is. */
TEST(interrupts_off_seen_by_nmi)
{
	uint32_t seen = 0;
	uint64_t off[2];

	turn_off(SAMPLE_NMI, off);
	EXPECT_EQ(samples_sum(&collected, missed), 0);
	for (uint32_t n = 0; n < collected.samples; n++)
		seen += kept[n].time > off[0] && kept[n].time < off[1] &&
			(kept[n].flags & PROF_INTERRUPTS_OFF) != 0;
	EXPECT_EQ(seen, OFF_DUE);
}

/* ---------------- A full ring ---------------- */

#define STREAMS   4u
#define DUE       1200u
#define APART     4u /* Due times from one stream's end to the next: what a stop takes at most. */
#define RING_SIZE 16384u /* Words, of which one is never used. */
#define IN_RING   ((RING_SIZE - 1) / (uint32_t)(sizeof(struct prof_sample) / sizeof(uint32_t)))

static struct collected streams[STREAMS];

/* A stream's last messages: how many of its samples came before those that were lost. */
static uint32_t receive_to_the_gap(struct collected *stream, uint32_t due)
{
	uint64_t gap;
	uint32_t before = 1;

	samples_receive_all(stream);
	samples_forget(stream);
	gap = longest_gap(stream->samples);
	EXPECT_EQ(samples_sum(stream, missed), 0);
	EXPECT_EQ(samples_sum(stream, due), due);
	EXPECT_EQ(prof_u64(stream->stream.lost), gap - 1);
	while (before < stream->samples && kept[before].time - kept[before - 1].time < 2 * FAST_NS)
		before++;
	return before;
}

/*
 * While interrupts are off nobody reads the ring.  It has room for fewer samples than four streams
 * take in 100 ms: of each stream those are lost whose due times lie between two that are not.
 */
TEST(a_full_ring)
{
	uint64_t begun[STREAMS];
	uint32_t before = 0;

	for (uint32_t n = 0; n < STREAMS; n++)
		begun[n] = begin(&streams[n], FAST_HZ, SAMPLE_FIXED | SAMPLE_NMI, 0);
	EXPECT_EQ(assay_interrupts_off(100000), KERN_SUCCESS);
	for (uint32_t n = 0; n < STREAMS; n++) {
		compute_until(begun[n], DUE + n * APART);
		EXPECT_EQ(task_sample_stop(SELF, streams[n].port), KERN_SUCCESS);
	}
	for (uint32_t n = 0; n < STREAMS; n++)
		before += receive_to_the_gap(&streams[n], DUE + n * APART);
	EXPECT_LE(IN_RING - 1, before); /* One may not fit before the ring's end. */
	EXPECT_LE(before, IN_RING);
}
