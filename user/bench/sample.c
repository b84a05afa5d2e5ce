/* SPDX-License-Identifier: MIT */
/*
 * What it costs to take samples: programs of known length, without sampling and with it.  What the
 * second takes more, divided by the samples, is what one costs.  What comes later is in profile.c.
 */
#include "measure.h"

#include "mach.h"
#include <mach/prof.h>
#include <mach/prof_catch.h>

#define LONG_AGE 60000u /* Milliseconds: nothing is sent before the end. */
#define FRAMES   16u

/* ---------------- The collector ---------------- */

static struct {
	mach_port_t port;
	uint32_t taken;
	bool ended;
	uint32_t frames; /* Of the first sample of a message. */
} collected;

/* A message begins with a sample, a record and a sample, or none. */
static void note_frames(const uint32_t *words)
{
	const struct prof_record *record = (const struct prof_record *)words;

	if (record->type == PROF_BEGIN)
		record = (const struct prof_record *)(words + record->words);
	if (record->type == PROF_SAMPLE)
		collected.frames = ((const struct prof_sample *)record)->user_frames;
}

kern_return_t receive_samples(mach_port_t port, sample_array_t words, mach_msg_type_number_t n)
{
	(void)port;
	note_frames(words);
	for (uint32_t at = 0; at < n;) {
		const struct prof_record *record = (const struct prof_record *)(words + at);

		if (record->type == PROF_STREAM)
			collected.taken = ((const struct prof_stream *)record)->taken[0];
		else if (record->type == PROF_END)
			collected.ended = true;
		at += record->words;
	}
	return syscall_vm_deallocate(mach_task_self_cached(), (vm_address_t)words,
				     n * sizeof words[0]);
}

static void collect(void)
{
	union {
		mach_msg_header_t header;
		uint8_t room[128];
	} request, reply;

	while (!collected.ended) {
		must(mach_msg_trap(&request.header, MACH_RCV_MSG, 0, sizeof request, collected.port,
				   MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL),
		     "samples");
		prof_server(&request.header, &reply.header);
	}
}

/* ---------------- The programs ---------------- */

static uint32_t depth;

/* Computes below so many frames: the others are its caller's and main's. */
static __attribute__((noinline)) void compute_deep(uint32_t turns)
{
	if (++depth < FRAMES - 2)
		compute_deep(turns);
	else
		compute(turns);
	depth--;
}

/* ---------------- With and without ---------------- */

static void begin(uint32_t rate, uint32_t flags, uint32_t age)
{
	sample_options_t options = {.flags = flags, .age_ms = age, .depth = FRAMES};

	collected.ended = false;
	must(mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &collected.port),
	     "a port");
	must(task_sample_start(mach_task_self(), SAMPLED_PC_PERIODIC, rate, options,
			       collected.port),
	     "a stream");
}

static void end(void)
{
	must(task_sample_stop(mach_task_self(), collected.port), "the end of a stream");
}

/* The interrupt, and with stacks the reading of the ring: not so many that more has to be done. */
static void measure_capture(workload *run, uint32_t flags)
{
	const uint32_t turns = 15000000;
	uint64_t without, with;

	length_of(run, 1000);
	without = length_of(run, turns);
	begin(SAMPLE_RATE_MAX, flags, LONG_AGE);
	with = length_of(run, turns);
	end();
	collect();
	if ((flags & SAMPLE_STACK) != 0 && collected.frames != FRAMES) {
		print("bench: the samples have %u frames, not %u\n", collected.frames, FRAMES);
		assay_exit(3);
	}
	print("excess %u\n", (uint32_t)(with - without));
	print("samples %u\n", collected.taken);
}

void bench_sample(uint32_t n)
{
	(void)n;
	measure_capture(compute, 0);
}

void bench_sample_stack(uint32_t n)
{
	(void)n;
	measure_capture(compute_deep, SAMPLE_STACK);
}
