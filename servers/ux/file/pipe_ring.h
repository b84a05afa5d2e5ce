/* SPDX-License-Identifier: MIT */
/* The bytes that are in a pipe: a ring.  Whoever has it guards it. */
#ifndef UX_PIPE_RING_H
#define UX_PIPE_RING_H

#include <stddef.h>

struct pipe_ring {
	char *bytes;
	size_t size;  /* Of all of it, */
	size_t first; /* where the oldest byte is, */
	size_t used;  /* and how many there are. */
};

size_t pipe_ring_room(const struct pipe_ring *ring);

/* Copies as many as there is room for, or as there are; the result says how many. */
size_t pipe_ring_put(struct pipe_ring *ring, const char *from, size_t size);
size_t pipe_ring_take(struct pipe_ring *ring, char *to, size_t size);

#endif
