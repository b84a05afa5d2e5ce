/* SPDX-License-Identifier: MIT */
/*
 * Buffers: whole pages that records are appended to and that go to a receiver as they are.
 *
 * The pages need not lie in a row, so that a buffer can be had whenever there are as many pages; a
 * record may begin in one page and end in the next.  Guarded by the kernel lock; nothing here
 * blocks.
 */
#ifndef PROF_BUFFER_H
#define PROF_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include <assay/list.h>
#include "base/assert.h"
#include "vm/page/page.h"

struct copy;

/* As many as a receiver finds mapped at once (COPY_PAGES_MAX) would do; fewer waste less. */
#define BUFFER_PAGES 4u
#define PAGE_WORDS   (PAGE_SIZE / 4u)
#define BUFFER_WORDS (BUFFER_PAGES * PAGE_WORDS)

struct buffer {
	struct list link; /* The owner's. */
	struct page *pages[BUFFER_PAGES];
	uint32_t n_pages; /* Those it has. */
	uint32_t words;   /* In use, */
	uint32_t samples; /* and how many samples there are among them. */
	uint64_t waited;  /* The length of those that are waits, in nanoseconds. */
};

void buffer_init(struct buffer *buffer);

/* Gets the pages that it lacks; false if there is no memory for all. */
bool buffer_fill_up(struct buffer *buffer);

/* Gives all pages back: it is as buffer_init() left it. */
void buffer_destroy(struct buffer *buffer);

static inline bool buffer_has_room(const struct buffer *buffer, uint32_t words)
{
	assert(buffer->n_pages == BUFFER_PAGES && buffer->words <= BUFFER_WORDS);
	return words <= BUFFER_WORDS - buffer->words;
}

/* Appends `n` words, for which there is room. */
void buffer_append(struct buffer *buffer, const void *record, uint32_t n);

/*
 * Moves the words, at least one, and the pages that they are in to `copy`, which is empty and for
 * so many bytes.  The buffer is without words then, and lacks those pages.
 */
void buffer_move_to(struct buffer *buffer, struct copy *copy);

#endif
