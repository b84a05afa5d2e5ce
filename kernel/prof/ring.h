/* SPDX-License-Identifier: MIT */
/*
 * A ring of samples: one CPU's sampling interrupt writes, one reader at a time takes.
 *
 * What is written is as short as it can be, for the interrupt's sake; the reader makes a struct
 * prof_sample of it.
 *
 * A record lies in one piece: where the rest of the ring is too short for one, a record that is to
 * be passed over fills it.  The writer may be an NMI; it waits for nobody, and finds no room if
 * there is none.  It looks at the reader's end only when it has used up what was free when it
 * looked last, a portion of the ring at most; then it is time to read, too.  A portion is a quarter
 * of the only ring.  Of several that fill at the same rate all are read at about the same time, and
 * what they bring together must have room in the stream's buffers.
 *
 * `next` and `limit` are written by the interrupt of the ring's CPU alone; `tail` by the reader,
 * who holds the kernel lock.  The ring is empty if `tail` is `next`, so it is never quite full.
 */
#ifndef PROF_RING_H
#define PROF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_WORDS 16384u

/* A sample in a ring; more return addresses than that many words have are none. */
struct ring_sample {
	uint32_t head;    /* RING_HEAD(), and in its highest byte PROF_* */
	uint32_t time[2]; /* In cycles. */
	uint32_t pc;
	uint32_t kernel_pc;
	uint32_t thread;
	uint32_t label;
	uint32_t task;
	uint32_t frames[]; /* The kernel's, or with RING_USER the user's. */
};

#define RING_SAMPLE_WORDS ((uint32_t)(sizeof(struct ring_sample) / sizeof(uint32_t)))

/* How many words it has, and whose it is. */
#define RING_HEAD(words, slot) ((words) | (slot) << 16)
#define RING_FLAGS_SHIFT       24

/* Beside PROF_*: the sample is of user mode, and has its stack already. */
#define RING_USER 0x80u

static inline uint32_t ring_words_of(const struct ring_sample *sample)
{
	return sample->head & 0xffff;
}

static inline uint32_t ring_slot_of(const struct ring_sample *sample)
{
	return sample->head >> 16 & 0xff;
}

static inline uint32_t ring_flags_of(const struct ring_sample *sample)
{
	return sample->head >> RING_FLAGS_SHIFT;
}

struct ring {
	uint32_t *next;  /* Where the next record is written; NULL before the first use. */
	uint32_t *limit; /* What lies between is free. */
	uint32_t *tail;  /* The oldest record. */
	uint32_t *words; /* RING_WORDS of them. */
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

static inline const struct ring_sample *ring_behind(const struct ring_sample *sample)
{
	return (const struct ring_sample *)((const uint32_t *)sample + ring_words_of(sample));
}

/*
 * The oldest sample, or NULL.  Others may follow it up to *end, or up to a record that is nobody's.
 */
const struct ring_sample *ring_first(struct ring *ring, const struct ring_sample **end);

/* Takes out those that lie before `first`, which is among them or at their end. */
static inline void ring_drop(struct ring *ring, const struct ring_sample *first)
{
	__atomic_store_n(&ring->tail, (uint32_t *)first, __ATOMIC_RELEASE);
}

#endif
