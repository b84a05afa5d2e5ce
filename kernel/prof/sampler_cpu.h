/* SPDX-License-Identifier: MIT */
/*
 * What the sampling interrupt has on each CPU: its part of struct cpu.  For prof/sampler*.c alone;
 * prof/sampler.h is for everybody.
 */
#ifndef PROF_SAMPLER_CPU_H
#define PROF_SAMPLER_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/prof.h>

#include "prof/ring.h"
#include "prof/sampler.h"
#include "prof/schedule.h"

/*
 * One CPU's place in the schedule of a slot, and all that its interrupt has to know of the slot.
 *
 * On its CPU's list it belongs to that CPU's interrupt; only the link is the kernel lock's.  Off
 * it, all is.
 */
struct sampler_cursor {
	struct sampler_cursor *next;
	uint64_t due; /* When it is next, in cycles. */
	struct schedule schedule;

	/*
	 * Whose samples: the number `who` of struct machine_place's has to be `id` in these bits.
	 */
	uint32_t who;
	uint32_t id;
	uint32_t mask;  /* None, for all that runs. */
	uint32_t depth; /* Of a stack; 0: without. */
	uint32_t room;  /* Words that a sample may take in the ring. */

	/* What is alike in all its samples: their fields of these names. */
	struct prof_record record;
	uint32_t kind[2];

	/*
	 * What became of each due time, in numbers that an interrupt adds to by one instruction.
	 * At the end of so many due times it adds them to the counts.
	 */
	uint32_t left; /* Of SAMPLER_FOLD due times. */
	uint32_t missed;
	uint32_t idle;
	uint32_t elsewhere;
	uint32_t ringed;
	uint32_t ring_lost;
	struct sampler_counts counts;

	bool clients; /* Those of clients are to follow: prof/clients.h. */

	/*
	 * Where the CPUs run in turn: written by whoever shares due times out (sampler_turns.c),
	 * but that the owner takes `owed`.
	 */
	uint32_t owed;   /* Due times at which this CPU executed, and which it has not served. */
	uint64_t inside; /* Those at which it executed the interrupt itself, or none came. */
	uint64_t parked; /* Those of others. */
	uint64_t came;   /* In CPU 0's cursor: all there were. */
};

#define SAMPLER_FOLD 0x10000u

/* All zero before the first schedule. */
struct sampler_cpu {
	uint32_t sequence; /* Odd while the interrupt is inside; see sampler.c. */
	uint32_t again;    /* An NMI found it so: the interrupt looks at the clock once more. */
	struct sampler_cursor *first; /* Of those whose slots are active. */
	struct sampler_cursor *only;  /* The first, if it can be served quickly; else NULL. */
	uint64_t entered; /* When the interrupt did so last, where the CPUs run in turn. */
	uint64_t left;
	struct ring ring;
	struct sampler_cursor cursors[SAMPLE_CLOCKS_MAX];
};

/* What the cursor's CPU has counted itself. */
static inline struct sampler_counts sampler_own_sum(const struct sampler_cursor *cursor)
{
	struct sampler_counts sum = cursor->counts;
	uint32_t taken = cursor->ringed + cursor->ring_lost;
	uint32_t fired = cursor->idle + cursor->elsewhere + taken;

	sum.due += SAMPLER_FOLD - cursor->left;
	sum.fired += fired;
	sum.missed += cursor->missed;
	sum.idle += cursor->idle;
	sum.elsewhere += cursor->elsewhere;
	sum.taken += taken;
	sum.ringed += cursor->ringed;
	sum.ring_lost += cursor->ring_lost;
	return sum;
}

/* With what others have counted of it. */
static inline struct sampler_counts sampler_sum(const struct sampler_cursor *cursor)
{
	struct sampler_counts sum = sampler_own_sum(cursor);

	sum.due += cursor->inside + cursor->parked;
	sum.missed += cursor->inside;
	sum.parked = cursor->parked;
	return sum;
}

/* The furthest shot, in cycles: constant from sampler_start() on. */
extern uint32_t sampler_max_ahead;

/*
 * Where the CPUs run in turn (sampler_turns.c): shares out what has come due up to `now`, if nobody
 * has yet.
 */
void sampler_share(uint64_t now);

/* Odd while somebody is in the middle of that. */
uint32_t sampler_sharing_sequence(void);

static inline bool sampler_is_sharing(void)
{
	return (sampler_sharing_sequence() & 1) != 0;
}

/*
 * Due times taken in one interrupt.  After a long absence (a debugger held the machine) the rest
 * waits for the next interrupt, so that none is long; those taken before it all count as missed.
 */
#define SAMPLER_DUE_AT_ONCE 1000

/* Whose samples those of this slot are. */
struct stream *sampler_stream_of(uint32_t slot);

/*
 * The thread of a sample in a ring, if it is where it was and its registers can be read; else NULL.
 * And who has got the CPU after that, or is about to while the ring is read; NULL if nobody, or if
 * it is the ring of another CPU, where who goes on now may be anybody.
 */
const struct thread *sampler_thread_of(const struct prof_sample *sample);
const struct thread *sampler_thread_behind(const struct prof_sample *sample,
					   const struct thread *sampled);

/* The timer is for whatever is due next from now on: after a slot was added, or routed anew. */
void sampler_arm(void);

#endif
