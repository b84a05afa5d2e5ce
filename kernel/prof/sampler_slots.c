/* SPDX-License-Identifier: MIT */
/*
 * Slots: schedules that begin and end, and their counts.
 *
 * All of it is thread code under the kernel lock; how it gets along with the interrupt is told in
 * sampler.c.
 */
#include <mach/prof.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/lock.h"
#include "base/machine.h"
#include "prof/sampler.h"
#include "prof/sampler_cpu.h"
#include "prof/unclaimed.h"
#include "thread/holder.h"
#include "vm/page/kernel_memory.h"

/* What host_sample_control() has set. */
static struct {
	uint32_t max_rate;
	uint32_t seed;
	uint32_t begun; /* Schedules since then. */
} control = {.max_rate = SAMPLE_RATE_MAX};

static struct {
	struct stream *stream; /* NULL: the slot is free. */
	uint32_t depth;        /* Of stacks; 0: without. */
	bool clients;          /* And of those of clients. */
	bool nmi;              /* It asks for NMIs. */
	bool active;           /* Else it has ended, and its counts can be read. */
} slots[SAMPLE_CLOCKS_MAX];

/* Active slots that ask for NMIs: as long as there is one, all have them. */
static uint32_t nmi_slots;

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
static bool slot_is_running(void)
{
	return cpu_sampler()->first != NULL;
}

static void slot_route(void)
{
	nmi_used = nmi_used || nmi_slots > 0;
	machine_sample_timer_route(nmi_slots > 0 ? SAMPLE_BY_NMI : SAMPLE_BY_IRQ);
}

/* A shot that comes while the timer's route changes is nobody's; so it is armed again. */
static void slot_reroute(void)
{
	slot_route();
	sampler_arm();
}

/*
 * A machine with one CPU serves its only schedule quickly (sampler_serve_quickly()), if one shot
 * reaches each step of it, and no clients are to follow.  Not while the timer is programmed by a
 * thread, or the list changes.
 */
static void slot_set_only(void)
{
	struct sampler_cpu *cpu = cpu_sampler();
	struct sampler_cursor *first = cpu->first;

	if (cpu_count() == 1 && first != NULL && first->next == NULL && !first->clients &&
	    first->schedule.least + first->schedule.span <= sampler_max_ahead)
		cpu->only = first;
}

kern_return_t sampler_control(uint32_t max_rate, uint32_t seed)
{
	assert(kernel_locked());
	if (max_rate > SAMPLE_RATE_MAX)
		return KERN_INVALID_ARGUMENT;
	if (max_rate != 0)
		control.max_rate = max_rate;
	if (seed != 0) {
		control.seed = seed;
		control.begun = 0;
	}
	return KERN_SUCCESS;
}

bool sampler_clock_is_block(void)
{
	return machine_clock_is_block();
}

bool sampler_cpus_in_turn(void)
{
	return cpus_in_turn;
}

bool sampler_uses_nmi(void)
{
	return nmi_used;
}

/* ---------------- Beginning ---------------- */

/* The rings are kept, used or not: what is started in need of memory is to be profiled too. */
void sampler_start(void)
{
	ALLOCATES_AT_BOOT;

	sampler_max_ahead = (uint32_t)clock_ns_to_cycles(MACHINE_SAMPLE_TIMER_MAX_NS);
	machine_sample_timer_silence();
	for (uint32_t n = 0; n < cpu_count(); n++) {
		uint32_t *words = kernel_memory_alloc(RING_WORDS * sizeof(uint32_t));

		if (words == NULL)
			machine_refuse("There is not enough memory for the sampling clock.");
		ring_init(&cpu_sampler_of(n)->ring, words, cpu_count());
	}
}

static uint32_t slot_find_free(void)
{
	for (uint32_t n = 0; n < SAMPLE_CLOCKS_MAX; n++)
		if (slots[n].stream == NULL)
			return n;
	return SAMPLER_NO_SLOT;
}

static void slot_set_target(struct sampler_cursor *cursor, struct sampler_target target)
{
	static const uint8_t who[] = {
		[PROF_TARGET_TASK] = SAMPLER_WHO_TASK, [PROF_TARGET_THREAD] = SAMPLER_WHO_THREAD,
		[PROF_TARGET_HOST] = SAMPLER_WHO_TASK, [PROF_TARGET_LABEL] = SAMPLER_WHO_LABEL,
		[PROF_TARGET_JOB] = SAMPLER_WHO_JOBS,
	};

	cursor->who = who[target.kind];
	cursor->id = target.id;
	cursor->mask = target.kind == PROF_TARGET_HOST ? 0 : UINT32_MAX;
	if (target.kind == PROF_TARGET_JOB)
		cursor->id = cursor->mask = target.job;
}

/* The slot's cursors of all CPUs, all alike: every CPU walks the same schedule. */
static void slot_set_cursors(uint32_t slot, struct sampler_target target, uint64_t mean,
			     enum schedule_kind kind)
{
	struct sampler_cursor *first = &cpu_sampler_of(0)->cursors[slot];

	*first = (struct sampler_cursor){
		.schedule = schedule_make(mean, kind, schedule_seed(control.seed, control.begun++)),
		.depth = slots[slot].depth,
		.clients = slots[slot].clients,
		.room = RING_SAMPLE_WORDS + 2 * slots[slot].depth,
		.record = {RING_SAMPLE_WORDS, PROF_SAMPLE, PROF_VERSION},
		.kind = {SAMPLED_PC_PERIODIC, slot << PROF_RESERVED_SHIFT},
		.left = SAMPLER_FOLD,
	};

	slot_set_target(first, target);
	first->due = machine_cycles() + schedule_interval(&first->schedule);
	for (uint32_t n = 1; n < cpu_count(); n++) {
		struct sampler_cursor *cursor = &cpu_sampler_of(n)->cursors[slot];

		*cursor = *first;
		cursor->kind[0] |= n << PROF_CPU_SHIFT;
	}
}

/* From now on the interrupts of all CPUs see the slot. */
static void slot_link_cursors(uint32_t slot)
{
	for (uint32_t n = 0; n < cpu_count(); n++) {
		struct sampler_cpu *cpu = cpu_sampler_of(n);
		struct sampler_cursor *cursor = &cpu->cursors[slot];

		cpu->only = NULL;
		cursor->next = cpu->first;
		__atomic_store_n(&cpu->first, cursor, __ATOMIC_RELEASE);
	}
	slots[slot].active = true;
}

/* A shot that takes a CPU's turn has effects that intervals must not be in step with. */
static enum schedule_kind sampler_slots_kind_of(uint32_t options)
{
	if ((options & SAMPLE_FIXED) != 0)
		return SCHEDULE_FIXED;
	return cpus_in_turn ? SCHEDULE_MEMORYLESS : SCHEDULE_UNIFORM;
}

uint32_t sampler_begin(struct stream *stream, struct sampler_target target, uint32_t rate,
		       uint32_t options, uint32_t depth)
{
	uint32_t n = slot_find_free();

	assert(kernel_locked());
	assert(stream != NULL && depth <= SAMPLE_DEPTH_MAX);
	if (n == SAMPLER_NO_SLOT)
		return SAMPLER_NO_SLOT;
	slots[n].stream = stream;
	slots[n].depth = 0;
	if ((options & SAMPLE_STACK) != 0)
		slots[n].depth = depth != 0 ? depth : SAMPLE_DEPTH_MAX;
	slots[n].clients = slots[n].depth != 0 && (options & SAMPLE_CLIENTS) != 0;
	slots[n].nmi = (options & SAMPLE_NMI) != 0;
	nmi_slots += slots[n].nmi;
	slot_set_cursors(n, target, clock_ns_to_cycles(sampler_interval_ns(rate)),
			 sampler_slots_kind_of(options));
	/* Until now the timer was silent, since boot or the last slot's end, or not by NMI. */
	if (!slot_is_running() || (slots[n].nmi && nmi_slots == 1))
		slot_route();
	/* Before arming: an interrupt that finds no slot does not arm the next. */
	slot_link_cursors(n);
	sampler_arm();
	slot_set_only();
	return n;
}

/* ---------------- Ending ---------------- */

/* An interrupt may be looking at the cursor; its own link stays as it is. */
static void slot_unlink_cursors(uint32_t slot)
{
	for (uint32_t n = 0; n < cpu_count(); n++) {
		struct sampler_cpu *cpu = cpu_sampler_of(n);
		struct sampler_cursor **link = &cpu->first;

		cpu->only = NULL;
		while (*link != &cpu->cursors[slot])
			link = &(*link)->next;
		__atomic_store_n(link, cpu->cursors[slot].next, __ATOMIC_SEQ_CST);
	}
	slots[slot].active = false;
}

/* Waits until every CPU has been seen outside the interrupt; this one is, in thread code. */
static void slot_rendezvous(void)
{
	assert((cpu_sampler()->sequence & 1) == 0);
	for (uint32_t n = 0; n < cpu_count(); n++)
		while ((__atomic_load_n(&cpu_sampler_of(n)->sequence, __ATOMIC_SEQ_CST) & 1) != 0)
			machine_relax();
}

/* What was due at a CPU whose interrupt has not come: none will, so it is missed. */
static void slot_miss_owed(uint32_t slot)
{
	for (uint32_t n = 0; n < cpu_count(); n++) {
		struct sampler_cursor *cursor = &cpu_sampler_of(n)->cursors[slot];

		cursor->inside += cursor->owed;
		cursor->owed = 0;
	}
}

void sampler_end(uint32_t slot)
{
	assert(kernel_locked());
	assert(slot < SAMPLE_CLOCKS_MAX && slots[slot].active);
	slot_unlink_cursors(slot);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	slot_rendezvous();
	slot_miss_owed(slot);
	nmi_slots -= slots[slot].nmi;
	if (!slot_is_running())
		machine_sample_timer_silence();
	else if (slots[slot].nmi && nmi_slots == 0)
		slot_reroute();
	slot_set_only();
	sampler_work_all();
	unclaimed_flush(slots[slot].stream);
}

struct stream *sampler_stream_of(uint32_t slot)
{
	assert(slot < SAMPLE_CLOCKS_MAX && slots[slot].stream != NULL);
	return slots[slot].stream;
}

void sampler_free(uint32_t slot)
{
	assert(kernel_locked());
	assert(slot < SAMPLE_CLOCKS_MAX && !slots[slot].active);
	slots[slot].stream = NULL;
}

/* ---------------- Counts ---------------- */

/* The numbers of whoever may be writing the counts of a CPU; odd while one is at it. */
static uint64_t slot_sequence_of(const struct sampler_cpu *sampler)
{
	uint32_t own = __atomic_load_n(&sampler->sequence, __ATOMIC_ACQUIRE);

	return (uint64_t)sampler_sharing_sequence() << 32 | own;
}

static bool slot_is_even(uint64_t sequence)
{
	return ((sequence | sequence >> 32) & 1) == 0;
}

void sampler_read(uint32_t slot, uint32_t cpu, struct sampler_counts *counts)
{
	const struct sampler_cpu *sampler = cpu_sampler_of(cpu);
	const struct sampler_cursor *cursor = &sampler->cursors[slot];
	uint64_t sequence, came;
	uint32_t owed;

	assert(slot < SAMPLE_CLOCKS_MAX && slots[slot].stream != NULL);
	for (;;) {
		sequence = slot_sequence_of(sampler);
		*counts = sampler_sum(cursor);
		came = cpu_sampler_of(0)->cursors[slot].came;
		owed = cursor->owed;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (slot_is_even(sequence) && slot_sequence_of(sampler) == sequence)
			break;
		machine_relax();
	}
	assert(counts->due == counts->fired + counts->missed + counts->parked);
	assert(!cpus_in_turn || counts->due + owed == came);
}
