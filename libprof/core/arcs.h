/* SPDX-License-Identifier: MIT */
/*
 * How often each call was made: the arcs of the call graph, counted by mcount (mcount.S).
 *
 * Any thread may count at any time, also in a signal's handler and before anything is initialised;
 * nobody waits, and no call is missed for another's sake.  An arc once there stays, so what a
 * pointer leads to is always an arc.
 */
#ifndef LIBPROF_ARCS_H
#define LIBPROF_ARCS_H

/* By the place of the call: one bucket for four bytes of text, and again from the first on. */
#define ARC_BUCKETS 8192

/* struct arc, for assembly. */
#define ARC_FROM 0
#define ARC_SELF 4
#define ARC_LOW  8
#define ARC_HIGH 12

/* Bits of __mcount_is_on: in the table, and by the kernel for whom they are made. */
#define ARCS_IN_TABLE 1
#define ARCS_BY_LABEL 2

#ifndef __ASSEMBLER__

#include <stdint.h>

struct arc {
	uint32_t from; /* Where the call returns to, */
	uint32_t self; /* and what was called. */
	uint32_t low;  /* How often: */
	uint32_t high; /* times 2^32. */
	struct arc *next;
};

extern struct arc *__mcount_buckets[ARC_BUCKETS];

/* Calls are counted while this is not 0. */
extern uint32_t __mcount_is_on;

/* Called at the beginning of every function that was compiled with -pg. */
void mcount(void);

/* Counts a call whose arc is not the first of its bucket. */
void mcountaux(uint32_t from, uint32_t self);

/* Counts a call where the kernel is to be told of it, and perhaps here, too. */
void __mcount_by_label(uint32_t from, uint32_t self);

/* Calls that were not counted, for want of memory. */
uint32_t __arcs_lost(void);

/* All arcs that have been counted, in no special order. */
void __arcs_visit(void (*visit)(const struct arc *arc, void *argument), void *argument);

/* Sets all counts to 0. */
void __arcs_clear(void);

#endif

#endif
