/* SPDX-License-Identifier: MIT */
/*
 * A ring of samples: one CPU's sampling interrupt writes, one reader at a time takes.
 *
 * A sample lies here as it goes out in a message, but for what the interrupt leaves to the reader:
 * its time is in cycles, `reserved` is the slot whose it is, and the user's frames of one that came
 * in the kernel are still to be read.  For those there is room behind it, which counts as its
 * words.
 *
 * A sample lies in one piece: where the rest of the ring may be too short for one, it is left
 * unused.  The writer may be an NMI; it waits for nobody, and finds no room if there is none.  It
 * looks at the reader's end only when it has used up what was free when it looked last, a portion
 * of the ring at most; then it is time to read, too.  A portion is a quarter of the only ring.  Of
 * several that fill at the same rate all are read at about the same time, and what they bring
 * together must have room in the stream's buffers.
 *
 * `next`, `limit` and `wrapped` are written by the interrupt of the ring's CPU alone; `tail` by the
 * reader, who holds the kernel lock.  The ring is empty if `tail` is `next`, so it is never quite
 * full.
 */
#ifndef PROF_RING_H
#define PROF_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/prof.h>

#define RING_WORDS 16384u

#define RING_SAMPLE_WORDS ((uint32_t)(sizeof(struct prof_sample) / sizeof(uint32_t)))

/* Where `cpu` and `flags` are in the first word of `kind`, and `reserved` in the second. */
#define PROF_CPU_SHIFT      16
#define PROF_FLAGS_SHIFT    24
#define PROF_RESERVED_SHIFT 16

struct ring {
	uint32_t *next;    /* Where the next record is written; NULL before the first use. */
	uint32_t *limit;   /* What lies between is free. */
	uint32_t *tail;    /* The oldest record. */
	uint32_t *wrapped; /* Where samples ended when the writer last went on at the begin. */
	uint32_t *words;   /* RING_WORDS of them. */
	uint32_t portion;
};

/* Makes a new ring of RING_WORDS words, empty, which is one of so many. */
void ring_init(struct ring *ring, uint32_t *words, uint32_t rings);

/* Finds room for `words` words, or says that there is none. */
bool ring_make_room(struct ring *ring, uint32_t words);

/* Whether the next record, of up to `words` words, can be written at `next`. */
static inline bool ring_has_room(const struct ring *ring, uint32_t words)
{
	return ring->next + words <= ring->limit;
}

/* The record at `next` is written: from now on it is the reader's. */
static inline void ring_commit(struct ring *ring, uint32_t words)
{
	__atomic_store_n(&ring->next, ring->next + words, __ATOMIC_RELEASE);
}

/*
 * The oldest sample, or NULL.  Others may follow it up to *end.
 */
struct prof_sample *ring_first(struct ring *ring, const uint32_t **end);

/* Takes out those that lie before `first`, which is among them or at their end. */
static inline void ring_drop(struct ring *ring, uint32_t *first)
{
	__atomic_store_n(&ring->tail, first, __ATOMIC_RELEASE);
}

#endif
