/* SPDX-License-Identifier: MIT */
/* links: servers/ux/core/heap.c */
/* flags: -DUX_SERVER -D_POSIX_C_SOURCE=200809L -isystem include -Iservers/ux */
/* The Unix server's heap on pages of the host's, which are counted. */
#include "core/heap.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "host/kernel.h"

#define PIECES 300
#define STEPS  40000

static size_t pages;      /* Bytes that the heap has. */
static size_t pages_most; /* It is given no more. */

void *heap_get_pages(size_t size)
{
	void *memory;

	if (size % HEAP_PAGE != 0 || pages + size > pages_most)
		return NULL;
	memory = aligned_alloc(HEAP_PAGE, size);
	memset(memory, 0, size);
	pages += size;
	return memory;
}

void heap_put_pages(void *memory, size_t size)
{
	pages -= size;
	memset(memory, 0xee, size);
	free(memory);
}

struct piece {
	unsigned char *memory;
	size_t size;
	unsigned char mark;
};

static bool is_all(const unsigned char *memory, size_t size, unsigned char byte)
{
	for (size_t n = 0; n < size; n++) {
		if (memory[n] != byte)
			return false;
	}
	return true;
}

/* Mostly small ones, sometimes some of pages. */
static size_t any_size(uint32_t *state)
{
	return host_random_below(state, 8) == 0 ? host_random_below(state, 20000)
						: host_random_below(state, 700);
}

static void take(struct piece *piece, uint32_t *state)
{
	piece->size = any_size(state);
	piece->memory = heap_allocate(piece->size);
	piece->mark = (unsigned char)(1 + host_random_below(state, 255));
	EXPECT(piece->memory != NULL && (uintptr_t)piece->memory % 16 == 0);
	EXPECT(is_all(piece->memory, piece->size, 0));
	memset(piece->memory, piece->mark, piece->size);
}

static void give(struct piece *piece)
{
	EXPECT(is_all(piece->memory, piece->size, piece->mark));
	heap_free(piece->memory);
	piece->memory = NULL;
}

TEST(pieces_are_zero_aligned_and_apart)
{
	static struct piece pieces[PIECES];
	uint32_t state = 1;

	pages_most = SIZE_MAX / 2;
	for (unsigned step = 0; step < STEPS; step++) {
		struct piece *piece = &pieces[host_random_below(&state, PIECES)];

		if (piece->memory == NULL)
			take(piece, &state);
		else
			give(piece);
	}
	for (unsigned n = 0; n < PIECES; n++) {
		if (pieces[n].memory != NULL)
			give(&pieces[n]);
	}
	EXPECT_EQ(heap_pieces(), 0);
	EXPECT(pages <= 13 * HEAP_PAGE); /* One page of each size is kept. */
}

TEST(no_memory_is_an_answer)
{
	size_t before = pages;

	pages_most = pages + HEAP_PAGE;
	EXPECT(heap_allocate(2 * HEAP_PAGE) == NULL);
	EXPECT(heap_allocate(SIZE_MAX) == NULL);
	EXPECT(heap_allocate(SIZE_MAX - HEAP_PAGE) == NULL);
	EXPECT_EQ(pages, before);
	EXPECT_EQ(heap_pieces(), 0);
}

TEST(pages_come_back)
{
	enum {
		MANY = 1000
	};
	static void *many[MANY];
	size_t before;

	pages_most = SIZE_MAX / 2;
	heap_free(heap_allocate(500));
	before = pages;
	for (unsigned n = 0; n < MANY; n++)
		many[n] = heap_allocate(500);
	EXPECT(pages > before);
	for (unsigned n = 0; n < MANY; n++)
		heap_free(many[n]);
	EXPECT_EQ(pages, before);
}
