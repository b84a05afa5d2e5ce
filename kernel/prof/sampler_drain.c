/* SPDX-License-Identifier: MIT */
/*
 * The rings read: what the interrupt wrote becomes samples of streams.
 *
 * All of it is thread code under the kernel lock.  Samples of one stream that lie one behind the
 * other are written where its buffer has room in a page, and what does not change from one to the
 * next is looked up once.
 */
#include <stddef.h>

#include <mach/prof.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/lock.h"
#include "base/machine.h"
#include "base/string.h"
#include "prof/sampler.h"
#include "prof/sampler_cpu.h"
#include "prof/stream.h"

#define SAMPLE_WORDS ((uint32_t)(sizeof(struct prof_sample) / sizeof(uint32_t)))

/* A sample's record without frames, as a word. */
#define PLAIN_HEAD (SAMPLE_WORDS | PROF_SAMPLE << 16 | PROF_VERSION << 24)

_Static_assert(offsetof(struct prof_record, type) == 2 &&
		       offsetof(struct prof_record, version) == 3,
	       "as a word");

/* A sample that is made up here, for which there is no place in the stream's buffer. */
static union {
	struct prof_sample sample;
	uint32_t words[SAMPLE_WORDS + 2 * SAMPLE_DEPTH_MAX];
} whole;

/*
 * Cycles are converted in two parts: the upper half of their bits changes once in seconds, and what
 * it is in nanoseconds is kept.
 */
static struct {
	uint32_t high;
	uint64_t ns;
} known = {.high = UINT32_MAX};

static __attribute__((noinline)) void learn(const struct ring_sample *first)
{
	uint64_t cycles = (uint64_t)first->time[1] << 32 | first->time[0];

	known.high = first->time[1];
	known.ns = clock_at(cycles) - clock_short_ns(first->time[0]);
}

static inline void set_time(uint32_t time[2], const struct ring_sample *first)
{
	uint64_t ns;

	if (first->time[1] != known.high)
		learn(first);
	ns = known.ns + clock_short_ns(first->time[0]);
	time[0] = (uint32_t)ns;
	time[1] = (uint32_t)(ns >> 32);
}

/* How deep the stacks of this sample's slot are. */
static uint32_t depth_of(const struct ring_sample *first, uint32_t cpu)
{
	return cpu_sampler_of(cpu)->cursors[ring_slot_of(first)].depth;
}

/* Flavor, cpu and flags as one word, and the numbers of frames as another. */
static inline void set_kind(struct prof_sample *sample, uint32_t kind)
{
	*(uint32_t *)&sample->flavor = kind;
}

static inline void set_frames(struct prof_sample *sample, uint32_t kernel, uint32_t user)
{
	*(uint32_t *)&sample->kernel_frames = kernel | user << 8;
}

_Static_assert(offsetof(struct prof_sample, cpu) == offsetof(struct prof_sample, flavor) + 2 &&
		       offsetof(struct prof_sample, flags) ==
			       offsetof(struct prof_sample, flavor) + 3 &&
		       offsetof(struct prof_sample, user_frames) ==
			       offsetof(struct prof_sample, kernel_frames) + 1,
	       "as words");

static inline uint32_t drain_kind_of(const struct ring_sample *first, uint32_t cpu)
{
	return SAMPLED_PC_PERIODIC | cpu << 16 | (ring_flags_of(first) & ~RING_USER) << 24;
}

/* What the interrupt wrote, and what it had no need to; without frames. */
static inline void complete(struct prof_sample *sample, const struct ring_sample *first,
			    uint32_t kind)
{
	*(uint32_t *)&sample->record = PLAIN_HEAD;
	sample->pc = first->pc;
	sample->kernel_pc = first->kernel_pc;
	sample->thread = first->thread;
	sample->task = first->task;
	sample->label = first->label;
	set_kind(sample, kind);
	set_frames(sample, 0, 0);
	set_time(sample->time, first);
}

static uint32_t read_user_stack(uint32_t *frames, const struct ring_sample *first, uint32_t cpu,
				uint32_t depth, bool *cut)
{
	const struct thread *thread = machine_sampled_thread(cpu, first->thread, first->kernel_pc);

	*cut = true;
	return thread != NULL ? sampler_user_stack(thread, frames, depth, cut) : 0;
}

/*
 * The frames that came with it; the user's behind the kernel's are read only now.  Returns how many
 * words the sample has with them.
 */
static inline uint32_t drain_add_stacks(struct prof_sample *sample, const struct ring_sample *first,
					uint32_t cpu, uint32_t depth)
{
	uint32_t kernel = ring_words_of(first) - RING_SAMPLE_WORDS, user = 0;
	uint32_t flags = ring_flags_of(first);
	bool cut = false;

	memcpy(sample->frames, first->frames, kernel * sizeof sample->frames[0]);
	if ((flags & RING_USER) != 0) {
		user = kernel;
		kernel = 0;
	} else if ((flags & PROF_NO_USER_PC) == 0) {
		user = read_user_stack(sample->frames + kernel, first, cpu, depth, &cut);
	}
	if (cut)
		sample->flags |= PROF_STACK_CUT;
	set_frames(sample, kernel, user);
	sample->record.words = (uint16_t)(SAMPLE_WORDS + kernel + user);
	return SAMPLE_WORDS + kernel + user;
}

/* Made up beside the stream's buffer. */
static __attribute__((noinline)) void hand_over_one(const struct ring_sample *first, uint32_t cpu)
{
	struct stream *stream = sampler_stream_of(ring_slot_of(first));
	uint32_t depth = depth_of(first, cpu);

	complete(&whole.sample, first, drain_kind_of(first, cpu));
	if (depth != 0)
		drain_add_stacks(&whole.sample, first, cpu, depth);
	stream_take(stream, &whole.sample);
}

/* Samples of one slot, and where they go: from `next` on, as long as that is below `stop`. */
struct run {
	const struct ring_sample *first, *end;
	uint32_t *next, *stop;
	uint32_t samples; /* Those made up. */
};

/* Nothing but the samples themselves differs from one to the next, as the same heads say. */
static __attribute__((noinline)) void make_up_plain(struct run *run, uint32_t cpu)
{
	const uint32_t head = run->first->head, kind = drain_kind_of(run->first, cpu);
	const struct ring_sample *first = run->first;
	uint32_t *next = run->next, *stop = next + (run->end - first) * SAMPLE_WORDS;

	if (stop > run->stop)
		stop = run->stop;
	do {
		complete((struct prof_sample *)next, first, kind);
		first++;
		next += SAMPLE_WORDS;
	} while (next < stop && first->head == head);
	run->samples = (uint32_t)(first - run->first);
	run->first = first;
	run->next = next;
}

/* Each may have frames of its own number. */
static __attribute__((noinline)) void make_up_stacks(struct run *run, uint32_t cpu, uint32_t depth)
{
	const struct ring_sample *first = run->first, *end = run->end;
	const uint32_t slot = ring_slot_of(first), *stop = run->stop;
	uint32_t *next = run->next, samples = 0;

	do {
		complete((struct prof_sample *)next, first, drain_kind_of(first, cpu));
		next += drain_add_stacks((struct prof_sample *)next, first, cpu, depth);
		first = ring_behind(first);
		samples++;
	} while (first < end && ring_slot_of(first) == slot && next < stop);
	run->samples = samples;
	run->first = first;
	run->next = next;
}

/*
 * Hands over the first of the samples up to `end`, and with it those behind it that are the same
 * slot's, as many as there is a place for in the stream's buffer.  Returns what follows.
 */
static const struct ring_sample *hand_over_some(const struct ring_sample *first,
						const struct ring_sample *end, uint32_t cpu)
{
	struct stream *stream = sampler_stream_of(ring_slot_of(first));
	uint32_t depth = depth_of(first, cpu), most = SAMPLE_WORDS + 2 * depth, room;
	uint32_t *place = stream_place(stream, &room);
	struct run run = {.first = first, .end = end, .next = place};

	if (room < most) {
		hand_over_one(first, cpu);
		return ring_behind(first);
	}
	run.stop = place + room - most + 1;
	if (depth == 0)
		make_up_plain(&run, cpu);
	else
		make_up_stacks(&run, cpu, depth);
	stream_placed(stream, (uint32_t)(run.next - place), run.samples);
	return run.first;
}

static void drain_hand_over(uint32_t cpu)
{
	struct ring *ring = &cpu_sampler_of(cpu)->ring;
	const struct ring_sample *first, *end;

	while ((first = ring_first(ring, &end)) != NULL)
		ring_drop(ring, hand_over_some(first, end, cpu));
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
