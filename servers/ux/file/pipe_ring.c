/* SPDX-License-Identifier: MIT */
/* The bytes that are in a pipe: see pipe_ring.h. */
#include "file/pipe_ring.h"

size_t pipe_ring_room(const struct pipe_ring *ring)
{
	return ring->size - ring->used;
}

static size_t pipe_ring_lesser(size_t one, size_t other)
{
	return one < other ? one : other;
}

/* In two pieces if it goes over the ring's end. */
size_t pipe_ring_put(struct pipe_ring *ring, const char *from, size_t size)
{
	size_t end = ring->first + ring->used;
	size_t before;

	if (end >= ring->size)
		end -= ring->size;
	size = pipe_ring_lesser(size, pipe_ring_room(ring));
	before = pipe_ring_lesser(size, ring->size - end);
	__builtin_memcpy(ring->bytes + end, from, before);
	__builtin_memcpy(ring->bytes, from + before, size - before);
	ring->used += size;
	return size;
}

size_t pipe_ring_take(struct pipe_ring *ring, char *to, size_t size)
{
	size_t before;

	size = pipe_ring_lesser(size, ring->used);
	before = pipe_ring_lesser(size, ring->size - ring->first);
	__builtin_memcpy(to, ring->bytes + ring->first, before);
	__builtin_memcpy(to + before, ring->bytes, size - before);
	ring->first += size;
	if (ring->first >= ring->size)
		ring->first -= ring->size;
	ring->used -= size;
	return size;
}
