/* SPDX-License-Identifier: MIT */
/*
 * Slots: schedules that begin and end, their counts, and the rings read.
 *
 * All of it is thread code under the kernel lock; how it gets along with the interrupt is told in
 * sampler.c.
 */
#include <mach/prof.h>

#include "kern/assert.h"
#include "kern/clock.h"
#include "kern/cpu.h"
#include "kern/lock.h"
#include "kern/machine.h"
#include "prof/sampler.h"
#include "prof/sampler_cpu.h"
#include "prof/stream.h"
#include "vm/kernel_memory.h"

/* What host_sample_control() has set. */
static struct {
	uint32_t max_rate;
	uint32_t flags; /* SAMPLE_NMI */
	uint32_t seed;
	uint32_t begun; /* Schedules since then. */
} control = {.max_rate = SAMPLE_RATE_MAX};

static struct {
	struct stream *stream; /* NULL: the slot is free. */
	uint32_t depth;        /* Of stacks; 0: without. */
	bool active;           /* Else it has ended, and its counts can be read. */
} slots[SAMPLE_CLOCKS_MAX];

/* Never cleared: an NMI may be pending for long after the clock stopped. */
static bool nmi_used;

/* ---------------- Rates ---------------- */

uint32_t sampler_rate(uint32_t rate)
{
	if (rate == 0)
		rate = SAMPLE_RATE_DEFAULT;
	return rate < control.max_rate ? rate : control.max_rate;
}

uint32_t sampler_interval_ns(uint32_t rate)
{
	return (uint32_t)NS_PER_SECOND / sampler_rate(rate);
}

/* Whether there is any active slot; all CPUs have the same. */
static bool is_running(void)
{
	return cpu_sampler()->first != NULL;
}

static void route(void)
{
	machine_sample_timer_route((control.flags & SAMPLE_NMI) != 0 ? SAMPLE_BY_NMI
								     : SAMPLE_BY_IRQ);
}

/* A shot that comes while the timer's route changes is nobody's; so it is armed again. */
kern_return_t sampler_control(uint32_t max_rate, uint32_t flags, uint32_t seed)
{
	assert(kernel_locked());
	if (max_rate > SAMPLE_RATE_MAX || (flags & ~SAMPLE_NMI) != 0)
		return KERN_INVALID_ARGUMENT;
	if (max_rate != 0)
		control.max_rate = max_rate;
	control.flags = flags;
	if (seed != 0) {
		control.seed = seed;
		control.begun = 0;
	}
	nmi_used = nmi_used || (flags & SAMPLE_NMI) != 0;
	if (is_running()) {
		route();
		sampler_arm();
	}
	return KERN_SUCCESS;
}

bool sampler_clock_is_block(void)
{
	return machine_clock_is_block();
}

bool sampler_uses_nmi(void)
{
	return nmi_used;
}

/* ---------------- Beginning ---------------- */

/* They are kept, used or not: what is started in need of memory is to be profiled too. */
void sampler_start(void)
{
	ALLOCATES_AT_BOOT;

	for (uint32_t n = 0; n < cpu_count(); n++) {
		uint32_t *words = kernel_memory_alloc(RING_WORDS * sizeof(uint32_t));

		if (words == NULL)
			machine_refuse("There is not enough memory for the sampling clock.");
		ring_init(&cpu_sampler_of(n)->ring, words);
	}
}

static uint32_t find_free(void)
{
	for (uint32_t n = 0; n < SAMPLE_CLOCKS_MAX; n++)
		if (slots[n].stream == NULL)
			return n;
	return SAMPLER_NO_SLOT;
}

static void set_target(struct sampler_cursor *cursor, struct sampler_target target)
{
	static const uint8_t who[] = {
		[PROF_TARGET_TASK] = SAMPLER_WHO_TASK,
		[PROF_TARGET_THREAD] = SAMPLER_WHO_THREAD,
		[PROF_TARGET_HOST] = SAMPLER_WHO_TASK,
		[PROF_TARGET_LABEL] = SAMPLER_WHO_LABEL,
	};

	cursor->who = who[target.kind];
	cursor->id = target.id;
	cursor->mask = target.kind == PROF_TARGET_HOST ? 0 : UINT32_MAX;
}

/* The slot's cursors of all CPUs, all alike: every CPU walks the same schedule. */
static void set_cursors(uint32_t slot, struct sampler_target target, uint64_t mean, bool fixed)
{
	struct sampler_cursor first = {
		.schedule =
			schedule_make(mean, fixed, schedule_seed(control.seed, control.begun++)),
		.depth = slots[slot].depth,
		.room = RING_SAMPLE_WORDS + slots[slot].depth,
		.slot = SAMPLER_SLOT(slot),
	};

	set_target(&first, target);
	first.due = machine_cycles() + schedule_interval(&first.schedule);
	for (uint32_t n = 0; n < cpu_count(); n++) {
		first.kind = SAMPLER_KIND(n);
		cpu_sampler_of(n)->cursors[slot] = first;
	}
}

/* From now on the interrupts of all CPUs see the slot. */
static void link_cursors(uint32_t slot)
{
	for (uint32_t n = 0; n < cpu_count(); n++) {
		struct sampler_cpu *cpu = cpu_sampler_of(n);
		struct sampler_cursor *cursor = &cpu->cursors[slot];

		cursor->next = cpu->first;
		__atomic_store_n(&cpu->first, cursor, __ATOMIC_RELEASE);
	}
	slots[slot].active = true;
}

uint32_t sampler_begin(struct stream *stream, struct sampler_target target, uint32_t rate,
		       uint32_t options, uint32_t depth)
{
	uint32_t n = find_free();

	assert(kernel_locked());
	assert(stream != NULL && depth <= SAMPLE_DEPTH_MAX);
	if (n == SAMPLER_NO_SLOT)
		return SAMPLER_NO_SLOT;
	slots[n].stream = stream;
	slots[n].depth = 0;
	if ((options & SAMPLE_STACK) != 0)
		slots[n].depth = depth != 0 ? depth : SAMPLE_DEPTH_MAX;
	sampler_max_ahead = (uint32_t)clock_ns_to_cycles(MACHINE_SAMPLE_TIMER_MAX_NS);
	set_cursors(n, target, clock_ns_to_cycles(sampler_interval_ns(rate)),
		    (options & SAMPLE_FIXED) != 0);
	if (!is_running()) {
		machine_sample_timer_silence();
		route();
	}
	/* Before arming: an interrupt that finds no slot does not arm the next. */
	link_cursors(n);
	sampler_arm();
	return n;
}

/* ---------------- Ending ---------------- */

/* An interrupt may be looking at the cursor; its own link stays as it is. */
static void unlink_cursors(uint32_t slot)
{
	for (uint32_t n = 0; n < cpu_count(); n++) {
		struct sampler_cpu *cpu = cpu_sampler_of(n);
		struct sampler_cursor **link = &cpu->first;

		while (*link != &cpu->cursors[slot])
			link = &(*link)->next;
		__atomic_store_n(link, cpu->cursors[slot].next, __ATOMIC_SEQ_CST);
	}
	slots[slot].active = false;
}

/* Waits until every CPU has been seen outside the interrupt; this one is, in thread code. */
static void rendezvous(void)
{
	assert((cpu_sampler()->sequence & 1) == 0);
	for (uint32_t n = 0; n < cpu_count(); n++)
		while ((__atomic_load_n(&cpu_sampler_of(n)->sequence, __ATOMIC_SEQ_CST) & 1) != 0)
			machine_relax();
}

void sampler_end(uint32_t slot)
{
	assert(kernel_locked());
	assert(slot < SAMPLE_CLOCKS_MAX && slots[slot].active);
	unlink_cursors(slot);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	rendezvous();
	if (!is_running())
		machine_sample_timer_silence();
	sampler_work_all();
}

void sampler_free(uint32_t slot)
{
	assert(kernel_locked());
	assert(slot < SAMPLE_CLOCKS_MAX && !slots[slot].active);
	slots[slot].stream = NULL;
}

/* ---------------- Counts ---------------- */

void sampler_read(uint32_t slot, uint32_t cpu, struct sampler_counts *counts)
{
	const struct sampler_cpu *sampler = cpu_sampler_of(cpu);
	uint32_t sequence;

	assert(slot < SAMPLE_CLOCKS_MAX && slots[slot].stream != NULL);
	for (;;) {
		sequence = __atomic_load_n(&sampler->sequence, __ATOMIC_ACQUIRE);
		*counts = sampler->cursors[slot].counts;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if ((sequence & 1) == 0 &&
		    __atomic_load_n(&sampler->sequence, __ATOMIC_RELAXED) == sequence)
			break;
		machine_relax();
	}
	assert(counts->due == counts->fired + counts->missed);
	assert(counts->fired == counts->idle + counts->elsewhere + counts->taken);
	assert(counts->taken == counts->ringed + counts->ring_lost);
}

/* ---------------- Reading the rings ---------------- */

/* A sample with room for the user's frames; one at a time is made up, under the kernel lock. */
static union {
	struct prof_sample sample;
	uint32_t words[RING_SAMPLE_WORDS + 2 * SAMPLE_DEPTH_MAX];
} whole;

/* The user's frames, behind the kernel's. */
static void add_user_stack(struct prof_sample *sample, uint32_t cpu, uint32_t depth)
{
	const struct thread *thread = machine_sampled_thread(cpu, sample);
	bool cut = thread == NULL;
	uint32_t n = 0;

	if (thread != NULL)
		n = sampler_user_stack(thread, sample->frames + sample->kernel_frames, depth, &cut);
	sample->user_frames = (uint8_t)n;
	sample->record.words = (uint16_t)(sample->record.words + n);
	if (cut)
		sample->flags |= PROF_STACK_CUT;
}

static const struct prof_sample *complete(struct prof_sample *first, uint32_t cpu, uint32_t depth)
{
	if (depth == 0 || (first->flags & PROF_NO_USER_PC) != 0)
		return first;
	whole.sample = *first;
	for (uint32_t n = 0; n < first->kernel_frames; n++)
		whole.sample.frames[n] = first->frames[n];
	add_user_stack(&whole.sample, cpu, depth);
	return &whole.sample;
}

/* What the interrupt left as it was quickest: see write_sample(). */
static void finish(struct prof_sample *first)
{
	uint64_t time = clock_at((uint64_t)first->time[1] << 32 | first->time[0]);

	first->reserved = 0;
	first->time[0] = (uint32_t)time;
	first->time[1] = (uint32_t)(time >> 32);
}

static void hand_over(uint32_t cpu)
{
	struct ring *ring = &cpu_sampler_of(cpu)->ring;
	struct prof_sample *first;

	while ((first = ring_first(ring)) != NULL) {
		uint32_t slot = first->reserved;

		finish(first);
		stream_take(slots[slot].stream, complete(first, cpu, slots[slot].depth));
		ring_drop(ring, first);
	}
}

void sampler_work(void)
{
	assert(kernel_locked());
	hand_over(cpu_number());
}

void sampler_work_all(void)
{
	assert(kernel_locked());
	for (uint32_t n = 0; n < cpu_count(); n++)
		hand_over(n);
}
