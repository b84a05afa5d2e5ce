/* SPDX-License-Identifier: MIT */
/*
 * Whether the clock comes as an NMI: as long as any stream runs that asks for it, and for all of
 * them; what the others see meanwhile.  Nobody's end takes it away from somebody else.
 *
 * How it came is told by 10 ms with interrupts off: by NMI there is a sample for each due time, by
 * interrupt all but the last are missed.
 *
 * machine: cpus=1 append="inject=1"
 */
#include "check.h"
#include "ipc.h"
#include "samples.h"

#define SELF     mach_task_self()
#define FAST_HZ  10000u
#define OFF_US   10000u
#define OFF_DUE  100u /* Due times in that time, */
#define SLACK    3u   /* and where they begin and end is not known to one of them. */
#define LONG_AGE 60000u

static void start(struct collected *collected, uint32_t flags)
{
	sample_options_t options = {.flags = SAMPLE_FIXED | flags, .age_ms = LONG_AGE, .depth = 4};

	EXPECT_EQ(task_sample_start(SELF, SAMPLED_PC_PERIODIC, FAST_HZ, options, collected->port),
		  KERN_SUCCESS);
}

static void start_new(struct collected *collected, uint32_t flags)
{
	samples_new(collected);
	start(collected, flags);
}

static void stop(struct collected *collected)
{
	EXPECT_EQ(task_sample_stop(SELF, collected->port), KERN_SUCCESS);
	EXPECT(samples_receive_all(collected));
	samples_forget(collected);
	EXPECT_EQ(prof_u64(collected->stream.lost), 0);
}

static void interrupts_off(void)
{
	EXPECT_EQ(assay_interrupts_off(OFF_US), KERN_SUCCESS);
}

static bool is_about(uint64_t n, uint32_t times)
{
	return n + times * SLACK >= times * OFF_DUE && n <= times * (OFF_DUE + SLACK);
}

/* Samples with interrupts off, of the collector that is new last. */
static uint32_t count_off(const struct collected *collected)
{
	uint32_t off = 0;

	EXPECT_LE(collected->samples, SAMPLES_KEPT);
	for (uint32_t n = 0; n < collected->samples; n++)
		off += (kept[n].flags & PROF_INTERRUPTS_OFF) != 0;
	return off;
}

/* So many times with interrupts off were seen, and so many were missed. */
static void expect_seen(const struct collected *collected, uint32_t seen, uint32_t missed)
{
	uint32_t off = count_off(collected);
	uint64_t passed = samples_sum(collected, missed);

	if (!is_about(off, seen) || !is_about(passed, missed))
		check_fail("%u with interrupts off instead of %u, %llu missed instead of %u", off,
			   seen * OFF_DUE, passed, missed * OFF_DUE);
}

TEST(who_asks_has_it)
{
	struct collected stream;

	start_new(&stream, SAMPLE_NMI);
	interrupts_off();
	stop(&stream);
	EXPECT_EQ(stream.begin.options, SAMPLE_FIXED | SAMPLE_NMI);
	expect_seen(&stream, 1, 0);
	start_new(&stream, 0);
	interrupts_off();
	stop(&stream);
	expect_seen(&stream, 0, 1);
}

/* Of two the first to end takes nothing from the other; without either a third has interrupts. */
TEST(it_stays_as_long_as_one_asks)
{
	struct collected first, second, third;

	samples_new(&first);
	samples_new(&second);
	samples_new(&third);
	start(&third, 0);
	interrupts_off();
	start(&first, SAMPLE_NMI);
	interrupts_off();
	start(&second, SAMPLE_NMI);
	stop(&first);
	interrupts_off();
	stop(&second);
	interrupts_off();
	stop(&third);
	EXPECT_EQ(samples_sum(&first, missed), 0);
	EXPECT_EQ(samples_sum(&second, missed), 0);
	EXPECT_EQ(third.begin.options, SAMPLE_FIXED);
	expect_seen(&third, 2, 2);
}

/* Once its receiver is gone, a stream asks for nothing any more; */
static void end_with_its_port(void)
{
	struct collected dying;

	start_new(&dying, SAMPLE_NMI);
	samples_forget(&dying);
}

/* nor when its target is. */
static void sample_oneself(void *reply)
{
	sample_options_t options = {.flags = SAMPLE_NMI};
	mach_port_t self = mach_thread_self();

	EXPECT_EQ(thread_sample_start(self, SAMPLED_PC_PERIODIC, FAST_HZ, options,
				      *(mach_port_t *)reply),
		  KERN_SUCCESS);
	port_drop_send(self);
}

TEST(an_end_of_any_kind_gives_it_back)
{
	struct collected dying, stream;

	samples_new(&dying);
	samples_new(&stream);
	start(&stream, 0);
	end_with_its_port();
	interrupts_off();
	worker_start(0, sample_oneself, &dying.port);
	EXPECT(worker_join(0));
	interrupts_off();
	stop(&stream);
	samples_forget(&dying);
	expect_seen(&stream, 0, 2);
}

/* Events have no clock. */
TEST(a_stream_of_events_asks_for_nothing)
{
	sample_options_t options = {.flags = SAMPLE_NMI};
	struct collected events, stream;

	samples_new(&events);
	EXPECT_EQ(task_sample_start(SELF, SAMPLED_PC_VM_FAULTS, 0, options, events.port),
		  KERN_SUCCESS);
	start_new(&stream, 0);
	interrupts_off();
	stop(&stream);
	expect_seen(&stream, 0, 1);
	stop(&events);
}

/* ---------------- Whatever it finds ---------------- */

/* Uses the CPU with a frame pointer that points to no memory. */
static void compute_without_stack(uint32_t turns)
{
	__asm__ volatile("pushl %%ebp\n"
			 "movl $0x70000000, %%ebp\n"
			 "1: decl %0\n"
			 "jnz 1b\n"
			 "popl %%ebp\n"
			 : "+r"(turns));
}

/* Whom its own memory is taken from under the sampler's hands harms nobody: the stack is cut. */
TEST(a_stack_that_is_not_there)
{
	struct collected stream;
	uint32_t cut = 0;

	start_new(&stream, SAMPLE_NMI | SAMPLE_STACK);
	compute_without_stack(5000000);
	stop(&stream);
	for (uint32_t n = 0; n < stream.samples; n++)
		cut += (kept[n].flags & PROF_STACK_CUT) != 0;
	EXPECT_LE(100, cut);
}
