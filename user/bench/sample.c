/* SPDX-License-Identifier: MIT */
/*
 * What samples cost: programs of known length, without sampling and with it.  What the second takes
 * more, divided by the samples, is what one costs.
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
	uint32_t frames;          /* Of the first sample of a message. */
	uint32_t histogram[4096]; /* By the two bytes of text that the program counter is in. */
} collected;

/* Where a collector puts a sample. */
static void count(uint32_t pc)
{
	uint32_t place = (pc - 0x08048000) / 2;

	if (place < sizeof collected.histogram / sizeof collected.histogram[0])
		collected.histogram[place]++;
}

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

		if (record->type == PROF_SAMPLE)
			count(((const struct prof_sample *)record)->pc);
		else if (record->type == PROF_STREAM)
			collected.taken = ((const struct prof_stream *)record)->taken[0];
		else if (record->type == PROF_END)
			collected.ended = true;
		at += record->words;
	}
	return syscall_vm_deallocate(mach_task_self_cached(), (vm_address_t)words,
				     n * sizeof words[0]);
}

static void collect(void *unused)
{
	union {
		mach_msg_header_t header;
		uint8_t room[128];
	} request, reply;

	(void)unused;
	while (!collected.ended) {
		must(mach_msg_trap(&request.header, MACH_RCV_MSG, 0, sizeof request, collected.port,
				   MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL),
		     "samples");
		prof_server(&request.header, &reply.header);
	}
}

/* ---------------- The programs ---------------- */

typedef void workload(uint32_t turns);

static void compute(uint32_t turns)
{
	__asm__ volatile("1: decl %0; jnz 1b" : "+r"(turns));
}

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

static void trap_often(uint32_t turns)
{
	for (; turns > 0; turns--)
		null_trap();
}

/* ---------------- With and without ---------------- */

static uint64_t length(workload *run, uint32_t turns)
{
	uint64_t before = cycles();

	run(turns);
	return cycles() - before;
}

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

	length(run, 1000);
	without = length(run, turns);
	begin(SAMPLE_RATE_MAX, flags, LONG_AGE);
	with = length(run, turns);
	end();
	collect(NULL);
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

static uint8_t collector_stack[16384] __attribute__((aligned(16)));

/* How long it is with a collector, from where that waits for samples to its end. */
static uint64_t length_collected(workload *run, uint32_t turns, uint32_t rate)
{
	uint64_t before;
	uint32_t id;

	begin(rate, 0, 0);
	must(thread_start(collect, NULL, collector_stack, sizeof collector_stack, PRIORITY_USUAL,
			  &id),
	     "a collector");
	before = cycles();
	run(turns);
	end();
	assay_thread_join(id, TIMEOUT_NONE);
	return cycles() - before;
}

/* All of it, up to the collector's histogram, and how many in a million the program is slower. */
static void measure_all(workload *run, uint32_t turns, uint32_t rate)
{
	uint64_t without = length(run, turns), excess;

	length_collected(run, turns / 100, SAMPLE_RATE_MAX);
	excess = length_collected(run, turns, rate) - without;
	print("excess-%u %u\n", rate, (uint32_t)excess);
	print("samples-%u %u\n", rate, collected.taken);
	print("length-%u %u\n", rate, (uint32_t)(without >> 10));
}

void bench_sample_all(uint32_t n)
{
	(void)n;
	measure_all(compute, 1000000000, 100);
	measure_all(compute, 100000000, 1000);
	measure_all(compute, 100000000, 10000);
}

void bench_sample_traps(uint32_t n)
{
	(void)n;
	measure_all(trap_often, 2000000, 100);
	measure_all(trap_often, 2000000, 1000);
	measure_all(trap_often, 2000000, 10000);
}
