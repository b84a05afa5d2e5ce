/* SPDX-License-Identifier: MIT */
/*
 * What the sampling interrupt has on each CPU: its part of struct cpu.  For prof/sampler*.c alone;
 * prof/sampler.h is for everybody.
 */
#ifndef PROF_SAMPLER_CPU_H
#define PROF_SAMPLER_CPU_H

#include <stddef.h>
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
	uint32_t kind;  /* The words of a sample that are always the same: sampler_set_kind() */
	uint32_t slot;  /* and sampler_set_slot(). */

	struct sampler_counts counts;
};

/* All zero before the first schedule. */
struct sampler_cpu {
	uint32_t sequence; /* Odd while the interrupt is inside; see sampler.c. */
	uint32_t again;    /* An NMI found it so: the interrupt looks at the clock once more. */
	struct sampler_cursor *first; /* Of those whose slots are active. */
	struct ring ring;
	struct sampler_cursor cursors[SAMPLE_CLOCKS_MAX];
};

/*
 * Four fields of a sample as one word, for the interrupt: flavor, cpu and flags; and kernel_frames,
 * user_frames (both 0) and reserved, which in a ring is the number of the slot.
 */
#define SAMPLER_FLAGS_SHIFT 24
#define SAMPLER_KIND(cpu)   (SAMPLED_PC_PERIODIC | (cpu) << 16)
#define SAMPLER_SLOT(slot)  ((slot) << 16)

static inline void sampler_set_kind(struct prof_sample *sample, uint32_t kind)
{
	*(uint32_t *)&sample->flavor = kind;
}

static inline void sampler_set_slot(struct prof_sample *sample, uint32_t slot)
{
	*(uint32_t *)&sample->kernel_frames = slot;
}

_Static_assert(offsetof(struct prof_sample, cpu) == offsetof(struct prof_sample, flavor) + 2 &&
		       offsetof(struct prof_sample, flags) ==
			       offsetof(struct prof_sample, flavor) + 3 &&
		       offsetof(struct prof_sample, reserved) ==
			       offsetof(struct prof_sample, kernel_frames) + 2,
	       "as one word");

/* The furthest shot, in cycles: constant from the first schedule on. */
extern uint32_t sampler_max_ahead;

/* The timer is for whatever is due next from now on: after a slot was added, or routed anew. */
void sampler_arm(void);

#endif
