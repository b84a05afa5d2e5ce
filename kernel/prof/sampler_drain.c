/* SPDX-License-Identifier: MIT */
/*
 * The rings read: what the interrupt wrote becomes samples of streams.
 *
 * All of it is thread code under the kernel lock.  A sample is completed where it lies.  Those of
 * one stream that lie one behind the other are then appended to its buffer in one piece.
 */
#include <mach/prof.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/lock.h"
#include "base/machine.h"
#include "base/string.h"
#include "prof/clients.h"
#include "prof/sampler.h"
#include "prof/sampler_cpu.h"
#include "prof/stream.h"
#include "prof/unclaimed.h"

/*
 * Cycles are converted in two parts: the upper half of their bits changes once in seconds, and what
 * it is in nanoseconds is kept.
 */
static struct {
	uint32_t high;
	uint64_t ns;
} known = {.high = UINT32_MAX};

static __attribute__((noinline)) void drain_learn(const uint32_t time[2])
{
	known.high = time[1];
	known.ns = clock_at(prof_u64(time)) - clock_short_ns(time[0]);
}

static inline void drain_cycles_to_ns(uint32_t time[2])
{
	uint64_t ns;

	if (time[1] != known.high)
		drain_learn(time);
	ns = clock_short_ns(time[0]) + known.ns;
	time[0] = (uint32_t)ns;
	time[1] = (uint32_t)(ns >> 32);
}

/* Of a sample that came in the kernel the user's frames are read only now, behind the kernel's. */
static __attribute__((noinline)) void drain_add_users_frames(struct prof_sample *sample,
							     uint32_t depth)
{
	const struct thread *thread = sampler_thread_of(sample);
	bool cut = true;

	if (thread != NULL)
		sample->user_frames = (uint8_t)sampler_user_stack(
			thread, sample->frames + sample->kernel_frames, depth, &cut);
	if (cut)
		sample->flags |= PROF_STACK_CUT;
	sample->record.words =
		(uint16_t)(RING_SAMPLE_WORDS + sample->kernel_frames + sample->user_frames);
}

static inline uint32_t *drain_behind(struct prof_sample *sample)
{
	return (uint32_t *)sample + sample->record.words;
}

/* The last sample with clients, which has no room for them in the ring. */
static union {
	struct prof_sample sample;
	uint32_t words[RING_SAMPLE_WORDS + 2 * SAMPLE_DEPTH_MAX + CLIENTS_WORDS(SAMPLE_DEPTH_MAX)];
} with_clients;

/* The sample, which is complete, with its clients behind it. */
static const struct prof_sample *drain_add_clients(struct prof_sample *sample, uint32_t depth)
{
	const struct thread *thread = sampler_thread_of(sample);
	uint32_t words = sample->record.words;
	bool cut = true;

	memcpy(with_clients.words, sample, words * sizeof(uint32_t));
	if (thread != NULL)
		words += clients_write(thread, sampler_thread_behind(sample, thread), sample->label,
				       depth, with_clients.words + words, &cut);
	with_clients.sample.record.words = (uint16_t)words;
	if (cut)
		with_clients.sample.flags |= PROF_CLIENTS_CUT;
	return &with_clients.sample;
}

/* Does what the interrupt has left to do with a sample but for frames; whose it was is known. */
static inline void drain_complete(struct prof_sample *sample)
{
	drain_cycles_to_ns(sample->time);
	sample->kind[1] &= (1u << PROF_RESERVED_SHIFT) - 1;
}

/*
 * Hands over one sample, of an event or of a stream that wants clients.  Returns what follows.  Not
 * inlined: see sampler.c.
 */
static __attribute__((noinline)) uint32_t *drain_hand_over_one(struct stream *stream,
							       struct prof_sample *sample,
							       const struct sampler_cursor *cursor)
{
	const struct prof_sample *whole = sample;
	uint32_t *next = drain_behind(sample);
	bool is_event = unclaimed_is_event(sample->label);

	drain_complete(sample);
	if (cursor->depth > 0 && sample->kernel_pc != 0 && (sample->flags & PROF_NO_USER_PC) == 0)
		drain_add_users_frames(sample, cursor->depth);
	if (is_event && unclaimed_hold(stream, sample))
		return next;
	if (cursor->clients && !is_event && sample->task != 0 && sample->label != sample->task)
		whole = drain_add_clients(sample, cursor->depth);
	stream_take(stream, whole, whole->record.words, 1);
	return next;
}

/* Samples of one slot, one directly behind the other. */
struct run {
	struct prof_sample *first, *last;
	uint32_t samples;
};

/* Completes samples of the slot of the first, without stacks. */
static uint32_t *drain_complete_plain(struct run *run, const uint32_t *stop)
{
	const uint32_t *last = stop - RING_SAMPLE_WORDS;
	const uint32_t kind = run->first->kind[1];
	struct prof_sample *sample = run->first;

	do {
		drain_complete(sample);
		sample++;
	} while ((uint32_t *)sample <= last && sample->kind[1] == kind &&
		 !unclaimed_is_event(sample->label));
	run->last = sample - 1;
	run->samples = (uint32_t)(sample - run->first);
	return (uint32_t *)sample;
}

/* drain_complete_plain() with stacks.  One that needed less than its room is the run's last. */
static uint32_t *drain_complete_stacks(struct run *run, const uint32_t *stop, uint32_t depth)
{
	const uint32_t slot = run->first->reserved;
	struct prof_sample *sample = run->first;
	uint32_t *next;

	do {
		next = drain_behind(sample);
		drain_complete(sample);
		if (sample->kernel_pc != 0 && (sample->flags & PROF_NO_USER_PC) == 0)
			drain_add_users_frames(sample, depth);
		run->last = sample;
		run->samples++;
		sample = (struct prof_sample *)next;
	} while (drain_behind(run->last) == next && next < stop && drain_behind(sample) <= stop &&
		 sample->reserved == slot && !unclaimed_is_event(sample->label));
	return next;
}

/*
 * Hands over the first of the samples up to `end`, and in one piece with it those that are the same
 * slot's, as many as there is room for in the stream's buffer.  Returns what follows.
 */
static uint32_t *drain_hand_over_some(struct prof_sample *first, const uint32_t *end, uint32_t cpu)
{
	const uint32_t slot = first->reserved;
	const struct sampler_cursor *cursor = &cpu_sampler_of(cpu)->cursors[slot];
	struct stream *stream = sampler_stream_of(slot);
	const uint32_t *stop = (uint32_t *)first + stream_room(stream);
	struct run run = {.first = first};
	uint32_t *next;

	if (cursor->clients || unclaimed_is_event(first->label))
		return drain_hand_over_one(stream, first, cursor);
	if (stop > end)
		stop = end;
	next = cursor->depth == 0 ? drain_complete_plain(&run, stop)
				  : drain_complete_stacks(&run, stop, cursor->depth);
	stream_take(stream, first, (uint32_t)(drain_behind(run.last) - (uint32_t *)first),
		    run.samples);
	return next;
}

static void drain_hand_over(uint32_t cpu)
{
	struct ring *ring = &cpu_sampler_of(cpu)->ring;
	struct prof_sample *first;
	const uint32_t *end;

	while ((first = ring_first(ring, &end)) != NULL)
		ring_drop(ring, drain_hand_over_some(first, end, cpu));
}

void sampler_work(void)
{
	assert(kernel_locked());
	drain_hand_over(cpu_number());
}

void sampler_work_all(void)
{
	assert(kernel_locked());
	for (uint32_t n = 0; n < cpu_count(); n++)
		drain_hand_over(n);
}
