/* SPDX-License-Identifier: MIT */
/* The rarer and the reading half of rings: see ring.h. */
#include "prof/ring.h"

#include <stddef.h>

void ring_init(struct ring *ring, uint32_t *words, uint32_t rings)
{
	*ring = (struct ring){
		.next = words,
		.limit = words,
		.tail = words,
		.words = words,
		.portion = RING_WORDS / 4 / rings,
	};
}

static uint32_t *ring_end_of(const struct ring *ring)
{
	return ring->words + RING_WORDS;
}

/* Up to where it is free from `next` on, without what keeps the ring from looking empty. */
static uint32_t *ring_free_end(const struct ring *ring)
{
	uint32_t *tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);

	if (tail > ring->next)
		return tail - 1;
	return tail == ring->words ? ring_end_of(ring) - 1 : ring_end_of(ring);
}

static bool ring_set_limit(struct ring *ring, uint32_t words)
{
	uint32_t *end = ring_free_end(ring);
	ptrdiff_t most = (ptrdiff_t)(words > ring->portion ? words : ring->portion);

	ring->limit = end - ring->next > most ? ring->next + most : end;
	return ring_has_room(ring, words);
}

/* Goes on at the ring's begin, if that is free. */
static bool ring_wrap(struct ring *ring)
{
	const uint32_t *tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);

	if (tail > ring->next || tail == ring->words)
		return false;
	ring->wrapped = ring->next;
	__atomic_store_n(&ring->next, ring->words, __ATOMIC_RELEASE);
	return true;
}

bool ring_make_room(struct ring *ring, uint32_t words)
{
	if (ring_set_limit(ring, words))
		return true;
	return ring_wrap(ring) && ring_set_limit(ring, words);
}

struct prof_sample *ring_first(struct ring *ring, const uint32_t **end)
{
	const uint32_t *next;

	while (ring->tail != (next = __atomic_load_n(&ring->next, __ATOMIC_ACQUIRE))) {
		*end = next < ring->tail ? ring->wrapped : next;
		if (ring->tail != *end)
			return (struct prof_sample *)ring->tail;
		__atomic_store_n(&ring->tail, ring->words, __ATOMIC_RELEASE);
	}
	return NULL;
}
