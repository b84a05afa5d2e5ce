/* SPDX-License-Identifier: MIT */
/*
 * A ring of samples: one CPU's sampling interrupt writes, one reader at a time takes.
 *
 * A record lies in one piece: where the rest of the ring is too short for one, a record that is to
 * be passed over fills it.  The writer may be an NMI; it waits for nobody, and finds no room if
 * there is none.  It looks at the reader's end only when it has used up what was free when it
 * looked last, a quarter of the ring at most; then it is time to read, too.
 *
 * `next` and `limit` are written by the interrupt of the ring's CPU alone; `tail` by the reader,
 * who holds the kernel lock.  The ring is empty if `tail` is `next`, so it is never quite full.
 */
#ifndef PROF_RING_H
#define PROF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mach/prof.h>

#define RING_WORDS 16384u

struct ring {
	uint32_t *next;  /* Where the next record is written; NULL before the first use. */
	uint32_t *limit; /* What lies between is free. */
	uint32_t *tail;  /* The oldest record. */
	uint32_t *words; /* RING_WORDS of them. */
};

#define RING_SAMPLE_WORDS ((uint32_t)(sizeof(struct prof_sample) / sizeof(uint32_t)))

/* Makes a new ring of RING_WORDS words, empty. */
void ring_init(struct ring *ring, uint32_t *words);

/* Finds room for `words` words, or says that there is none. */
bool ring_make_room(struct ring *ring, uint32_t words);

/* Whether the next record, of up to `words` words, can be written at `next`. */
static inline bool ring_has_room(const struct ring *ring, uint32_t words)
{
	return ring->next + words <= ring->limit;
}

/* The record is written: from now on it is the reader's. */
static inline void ring_commit(struct ring *ring, uint32_t words)
{
	__atomic_store_n(&ring->next, ring->next + words, __ATOMIC_RELEASE);
}

/* The oldest sample, or NULL; ring_drop() takes it out. */
struct prof_sample *ring_first(struct ring *ring);

static inline void ring_drop(struct ring *ring, const struct prof_sample *first)
{
	__atomic_store_n(&ring->tail, ring->tail + first->record.words, __ATOMIC_RELEASE);
}

#endif
