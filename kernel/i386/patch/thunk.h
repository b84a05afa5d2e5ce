/* SPDX-License-Identifier: MIT */
/*
 * Thunks: what a call site leads to while its calls are counted.
 *
 *	incl	%fs:COUNTER
 *	jmp	function
 *
 * Each site has one of its own.  It leaves every register alone and nothing on the stack: whoever
 * is called returns to behind the call, and a walk up the stack sees no difference.  The counter is
 * this CPU's, and one instruction changes it, so no interrupt or NMI makes a count be lost.
 *
 * They lie in the image, behind its data, and stay when counting has ended, as jumps that count
 * nothing: whoever has read a function's address from a table meanwhile may still use it.
 */
#ifndef I386_PATCH_THUNK_H
#define I386_PATCH_THUNK_H

#include <stdint.h>

struct thunk {
	uint8_t count[3]; /* incl %fs:, and how far behind the CPU's structure; */
	uint32_t counter; /* or a nop of the same length. */
	uint8_t jump;
	uint32_t distance; /* From the end of the thunk to the function. */
} __attribute__((packed, aligned(4)));

_Static_assert(sizeof(struct thunk) == 12, "tools/callsites, tools/kpatch");

/* Not to be written to here: see patch.c. */
extern const struct thunk call_thunks[], call_thunks_end[];

/* What a thunk of tools/kpatch's counts in: a word of each site's, for all CPUs. */
extern const volatile uint32_t call_counters[] __attribute__((weak));

/* The function that the thunk at `pc`, or in the middle of which `pc` is, leads to; else `pc`. */
static inline uint32_t thunk_see_through(uint32_t pc)
{
	uint32_t offset = pc - (uint32_t)call_thunks;
	const struct thunk *thunk;

	if (__builtin_expect(offset >= (uint32_t)call_thunks_end - (uint32_t)call_thunks, 1))
		return pc;
	thunk = &call_thunks[offset / sizeof *thunk];
	return (uint32_t)(thunk + 1) + thunk->distance;
}

#endif
