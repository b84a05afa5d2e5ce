/* SPDX-License-Identifier: MIT */
/*
 * Where it changes on whose behalf a CPU works: the running thread gets another label, or the CPU
 * another thread.
 *
 * Each place is one instruction of six bytes that stores a word, noted in a table with a stub of
 * its own.  While calls are counted by label a call of the stub stands there instead (follow.c),
 * which stores the word and has the CPU count for whom it works now.  Otherwise it costs nothing.
 */
#ifndef I386_PATCH_LABEL_SITE_H
#define I386_PATCH_LABEL_SITE_H

#include <stdint.h>

#include "i386/cpu/cpu_offsets.h"

struct thread;

/* No address of a stub stands here: it would be taken for one of a function, and patched itself. */
struct label_site {
	uint32_t address; /* Of the instruction, */
	uint32_t to_stub; /* and how far it is from this word to what is called instead. */
};

static inline uint32_t label_site_stub(const struct label_site *site)
{
	return (uint32_t)&site->to_stub + site->to_stub;
}

#define LABEL_SITE_SIZE 6u

/* In the longer form of the instruction, so that a call has room. */
#define LABEL_STORE "%{disp32%} movl %1, %c2(%0)"

#define LABEL_SITE(rest)                                                                    \
	"1: " LABEL_STORE "\n"                                                              \
	".pushsection .stand_ins, \"ax\"; 2: " LABEL_STORE "; jmp " #rest "; .popsection\n" \
	".pushsection .label_sites, \"a\"; .long 1b, 2b - .; .popsection"

/* Stores a word `offset` bytes behind `base`; the stub goes on at `rest` (stand_in.S). */
#define LABEL_SITE_STORE(base, offset, word, rest) \
	__asm__ inline volatile(LABEL_SITE(rest)::"r"(base), "r"(word), "i"(offset) : "memory")

/* The thread runs, and goes on on behalf of `label`. */
static inline void machine_label_set(struct thread *thread, uint32_t label)
{
	LABEL_SITE_STORE(thread, THREAD_LABEL, label, follow_set);
}

#endif
