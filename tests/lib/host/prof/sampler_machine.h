/* SPDX-License-Identifier: MIT */
/*
 * What tests/prof/host/sampler.c tests the sampling clock with: a fake timer, a fake clock and fake
 * threads, all of it for that one file.
 *
 * Time passes only here, in cycles that are nanoseconds: steps jump to the moment when the timer's
 * shot is due, some time after it, and then give the interrupt to the CPUs in a random order, or
 * not at all to some of them.
 */
#ifndef HOST_PROF_SAMPLER_MACHINE_H
#define HOST_PROF_SAMPLER_MACHINE_H

#include "prof/sampler.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/lock.h"
#include "base/machine.h"
#include "host/kernel.h"
#include "prof/clients.h"
#include "prof/sampler_cpu.h"
#include "prof/stream.h"
#include "prof/unclaimed.h"
#include "thread/holder.h"
#include "vm/page/kernel_memory.h"

#define CPUS  4
#define MS    1000000ull
#define NEVER UINT64_MAX

/* ---------------- The machine ---------------- */

static struct sampler_cpu samplers[CPUS];
static uint32_t n_cpus = CPUS;
static __thread uint32_t this_cpu;
static uint64_t now;
uint32_t kernel_lock_word = 1;

static struct {
	uint64_t due; /* NEVER: silent. */
	enum sample_delivery delivery;
	unsigned armed;  /* How often. */
	unsigned nested; /* So many shots more come while the timer is still being programmed. */
	bool programmed; /* Somebody is at it. */
} timer = {.due = NEVER};

/* What the interrupt finds; NULL: the CPU idles. */
static const uint32_t someone[4] = {7, 3, 2, 6}; /* Thread, label, task, jobs. */
static __thread const uint32_t *who = someone;
static uint32_t kernel_pc; /* 0: user mode. */
static int walk_time;      /* How long a stack takes to be walked. */

uint32_t cpu_number(void)
{
	return this_cpu;
}

uint32_t cpu_count(void)
{
	return n_cpus;
}

struct sampler_cpu *cpu_sampler(void)
{
	return &samplers[this_cpu];
}

struct sampler_cpu *cpu_sampler_of(uint32_t cpu)
{
	return &samplers[cpu];
}

uint64_t machine_cycles(void)
{
	return __atomic_load_n(&now, __ATOMIC_SEQ_CST);
}

uint64_t clock_at(uint64_t cycles)
{
	return cycles;
}

uint64_t clock_short_ns(uint32_t cycles)
{
	return cycles;
}

uint64_t clock_ns_to_cycles(uint64_t ns)
{
	return ns;
}

void *(kernel_memory_alloc)(uint32_t size)
{
	return malloc(size);
}

void machine_refuse(const char *why, ...)
{
	(void)why;
	abort();
}

void machine_sample_timer_route(enum sample_delivery delivery)
{
	timer.delivery = delivery;
}

static void interrupt(uint32_t cpu)
{
	uint32_t before = this_cpu;

	this_cpu = cpu;
	sampler_interrupt(NULL);
	this_cpu = before;
}

void machine_sample_timer_arm(uint32_t cycles)
{
	EXPECT(cycles <= MACHINE_SAMPLE_TIMER_MAX_NS);
	/* Between the stores to its ports nobody else may store there. */
	EXPECT(!__atomic_exchange_n(&timer.programmed, true, __ATOMIC_SEQ_CST));
	timer.armed++;
	__atomic_store_n(&timer.due, machine_cycles() + cycles, __ATOMIC_SEQ_CST);
	if (timer.nested > 0) {
		timer.nested--;
		now = timer.due;
		interrupt(this_cpu);
	}
	__atomic_store_n(&timer.programmed, false, __ATOMIC_SEQ_CST);
}

void machine_sample_timer_silence(void)
{
	timer.due = NEVER;
}

bool machine_is_user(const struct frame *frame)
{
	(void)frame;
	return who != NULL && kernel_pc == 0;
}

void machine_find_user_place(const struct frame *frame, struct machine_place *place)
{
	(void)frame;
	*place = (struct machine_place){.who = who, .pc = 0x1000};
}

void machine_find_kernel_place(const struct frame *frame, struct machine_place *place)
{
	(void)frame;
	*place = (struct machine_place){.who = who, .pc = 0x1000, .kernel_pc = kernel_pc};
}

uint32_t machine_kernel_stack(const struct frame *frame, uint32_t *frames, uint32_t depth,
			      bool *cut)
{
	uint32_t n = (uint32_t)(now / 7 % (depth + 1));

	(void)frame;
	for (uint32_t i = 0; i < n; i++)
		frames[i] = 0x3000 + i;
	for (int i = 0; i < walk_time; i++)
		machine_relax();
	*cut = false;
	return n;
}

/* A stack of three frames, cut if that is too deep. */
uint32_t machine_user_stack(const struct frame *frame, uint32_t *frames, uint32_t depth, bool *cut)
{
	(void)frame;
	return sampler_user_stack(NULL, frames, depth, cut);
}

static unsigned wanted_work;

void machine_sample_work(void)
{
	__atomic_fetch_add(&wanted_work, 1, __ATOMIC_RELAXED);
}

const struct thread *sampler_thread_of(const struct prof_sample *sample)
{
	(void)sample;
	return (const struct thread *)someone;
}

const struct thread *sampler_thread_behind(const struct prof_sample *sample,
					   const struct thread *sampled)
{
	(void)sample;
	(void)sampled;
	return NULL;
}

uint32_t sampler_user_stack(const struct thread *thread, uint32_t *frames, uint32_t depth,
			    bool *cut)
{
	uint32_t n = depth < 3 ? depth : 3;

	(void)thread;
	for (uint32_t i = 0; i < n; i++)
		frames[i] = 0x2000 + i;
	*cut = depth < 3;
	return n;
}

/* Nobody here has a client. */
uint32_t clients_write(const struct thread *thread, const struct thread *answered, uint32_t label,
		       uint32_t depth, uint32_t *to, bool *cut)
{
	(void)thread;
	(void)answered;
	(void)label;
	(void)depth;
	(void)to;
	*cut = false;
	return 0;
}

/* Nor is there any device. */
bool unclaimed_hold(struct stream *stream, struct prof_sample *sample)
{
	(void)stream;
	(void)sample;
	return false;
}

void unclaimed_flush(struct stream *stream)
{
	(void)stream;
}

/* ---------------- CPUs in turn ---------------- */

/* Who has the turn when the shot comes, and whether that is still to come. */
static uint32_t holder;
static uint64_t watched = NEVER;
static uint32_t moment_taken;

uint32_t machine_sample_timer_begin(uint32_t cycles)
{
	return cycles;
}

void machine_sample_timer_end(uint32_t rest)
{
	machine_sample_timer_arm(rest);
}

uint32_t machine_sample_timer_least(uint32_t cycles)
{
	return cycles;
}

void holder_watch(enum holder_moment moment, uint64_t cycles)
{
	EXPECT_EQ(moment, HOLDER_AT_SHOT);
	watched = cycles;
}

uint32_t holder_take(enum holder_moment moment)
{
	EXPECT_EQ(moment, HOLDER_AT_SHOT);
	if (watched > now)
		return HOLDER_NOBODY;
	moment_taken = (uint32_t)watched;
	watched = NEVER;
	return holder;
}

uint32_t holder_moment(enum holder_moment moment)
{
	EXPECT_EQ(moment, HOLDER_AT_SHOT);
	return moment_taken;
}

void holder_note(void)
{
}

void holder_give(void)
{
}

bool holder_next_is_first(void)
{
	return true;
}

bool machine_clock_is_block(void)
{
	return false;
}

/* ---------------- Streams ---------------- */

static struct {
	uint64_t samples;
	uint64_t last_time;
	uint64_t hash; /* Of all their times. */
	struct prof_sample last;
	uint32_t last_frames[SAMPLE_DEPTH_MAX];
} taken[SAMPLE_CLOCKS_MAX + 1];

static struct stream *stream(uint32_t n)
{
	return (struct stream *)&taken[n];
}

static void take_one(struct stream *stream, const struct prof_sample *sample)
{
	__typeof__(&taken[0]) to = (void *)stream;
	uint64_t time = prof_u64(sample->time);

	EXPECT_EQ(sample->reserved, 0);
	EXPECT_EQ(sample->record.type, PROF_SAMPLE);
	EXPECT_EQ(sample->record.words,
		  sizeof *sample / 4 + sample->kernel_frames + sample->user_frames);
	to->samples++;
	to->last_time = time;
	to->hash = to->hash * 31 + time;
	to->last = *sample;
	for (uint32_t i = 0; i < sample->user_frames; i++)
		to->last_frames[i] = sample->frames[sample->kernel_frames + i];
}

/* Now there is room for so many words in one piece, and now for none. */
uint32_t stream_room(const struct stream *stream)
{
	static uint32_t turn;

	(void)stream;
	return turn++ * 37 % 600;
}

void stream_take(struct stream *stream, const struct prof_sample *first, uint32_t words,
		 uint32_t samples)
{
	const uint32_t *place = (const uint32_t *)first;
	uint32_t at = 0;

	EXPECT_LT(0, samples);
	for (; samples > 0; samples--) {
		const struct prof_sample *sample = (const struct prof_sample *)(place + at);

		take_one(stream, sample);
		at += sample->record.words;
	}
	EXPECT_EQ(at, words);
}

/* ---------------- The bench ---------------- */

static const struct sampler_target everyone = {.kind = PROF_TARGET_HOST};

static void reset(uint32_t cpus)
{
	static bool begun;

	n_cpus = CPUS;
	this_cpu = 0;
	if (!begun)
		sampler_start();
	begun = true;
	sampler_work_all();
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		EXPECT(samplers[cpu].first == NULL);
		samplers[cpu].sequence = 0;
	}
	n_cpus = cpus;
	memset(taken, 0, sizeof taken);
	timer.nested = 0;
	who = someone;
	EXPECT_EQ(sampler_control(SAMPLE_RATE_MAX, 1), KERN_SUCCESS);
}

static uint32_t begin(uint32_t n, uint32_t rate, uint32_t options)
{
	uint32_t slot = sampler_begin(stream(n), everyone, rate, options, 0);

	EXPECT_NE(slot, SAMPLER_NO_SLOT);
	return slot;
}

static void end(uint32_t slot)
{
	sampler_end(slot);
	sampler_free(slot);
}

static struct sampler_counts counts_of(uint32_t slot, uint32_t cpu)
{
	struct sampler_counts counts;

	sampler_read(slot, cpu, &counts);
	return counts;
}

static void expect_conserved(uint32_t slot, uint32_t cpu)
{
	struct sampler_counts c = counts_of(slot, cpu);

	EXPECT_EQ(c.due, c.fired + c.missed + c.parked);
	EXPECT_EQ(c.fired, c.idle + c.elsewhere + c.taken);
	EXPECT_EQ(c.taken, c.ringed + c.ring_lost);
}

/* One shot, `late` after it was due, on all CPUs in order. */
static void shoot(uint64_t late)
{
	REQUIRE(timer.due != NEVER);
	now = timer.due + late;
	timer.due = NEVER;
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		interrupt(cpu);
}

#endif
