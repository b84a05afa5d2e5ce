/* SPDX-License-Identifier: MIT */
/*
 * The heap: see heap.h.
 *
 * Small pieces are of a few sizes.  A page holds pieces of one size and begins with a struct slab;
 * those that have a free piece are in a list of their size, and a page without a piece in use goes
 * back, but for one of each size.  What is larger has pages of its own, with a struct slab too: it
 * is found at the beginning of the page that a piece lies in.
 */
#include "core/heap.h"

#include <assay/list.h>
#include <stdint.h>

void *memset(void *to, int byte, size_t size);

#define MAGIC   0x534c4142u
#define ALIGN   16u
#define N_SIZES (sizeof sizes / sizeof sizes[0])

/* As many of a size fit into a page as would of a little less. */
static const uint16_t sizes[] = {16, 32, 48, 64, 96, 128, 192, 256, 400, 576, 800, 1344, 2016};

struct piece {
	struct piece *next;
};

struct slab {
	uint32_t magic;
	uint32_t size; /* Of a piece; of pages of their own, of these. */
	uint32_t used;
	uint32_t class; /* N_SIZES for pages of their own. */
	struct piece *free;
	struct list link; /* In the list of its class. */
};

#define HEADER ((sizeof(struct slab) + ALIGN - 1) & ~(size_t)(ALIGN - 1))

static struct list partial[N_SIZES]; /* Slabs with a free piece; null before the first. */
static struct slab *spare[N_SIZES];  /* One of them, in which no piece is in use. */
static unsigned n_pieces;

volatile struct heap_test heap_test;

static unsigned heap_class_of(size_t size)
{
	unsigned class = 0;

	while (class < N_SIZES && sizes[class] < size)
		class ++;
	return class;
}

static struct slab *heap_slab_of(const void *memory)
{
	return (struct slab *)((uintptr_t)memory & ~(uintptr_t)(HEAP_PAGE - 1));
}

/* ---------------- Small pieces ---------------- */

static struct slab *heap_slab_new(unsigned class)
{
	struct slab *slab = heap_get_pages(HEAP_PAGE);

	if (slab == NULL)
		return NULL;
	*slab = (struct slab){.magic = MAGIC, .size = sizes[class], .class = class};
	for (size_t at = HEADER; at + sizes[class] <= HEAP_PAGE; at += sizes[class]) {
		struct piece *piece = (struct piece *)((char *)slab + at);

		piece->next = slab->free;
		slab->free = piece;
	}
	list_add_first(&partial[class], &slab->link);
	return slab;
}

static struct slab *heap_slab_with_room(unsigned class)
{
	if (partial[class].next == NULL)
		list_init(&partial[class]);
	if (list_empty(&partial[class]))
		return heap_slab_new(class);
	return list_first_object(&partial[class], struct slab, link);
}

static void *heap_take_piece(unsigned class)
{
	struct slab *slab = heap_slab_with_room(class);
	struct piece *piece;

	if (slab == NULL)
		return NULL;
	if (slab == spare[class])
		spare[class] = NULL;
	piece = slab->free;
	slab->free = piece->next;
	slab->used++;
	if (slab->free == NULL)
		list_remove(&slab->link);
	return memset(piece, 0, slab->size);
}

static void heap_put_piece(struct slab *slab, struct piece *piece)
{
	if (slab->free == NULL)
		list_add_first(&partial[slab->class], &slab->link);
	piece->next = slab->free;
	slab->free = piece;
	slab->used--;
	if (slab->used > 0)
		return;
	if (spare[slab->class] == NULL) {
		spare[slab->class] = slab;
		return;
	}
	list_remove(&slab->link);
	slab->magic = 0;
	heap_put_pages(slab, HEAP_PAGE);
}

/* ---------------- All pieces ---------------- */

static void *heap_take_pages(size_t size)
{
	struct slab *slab;

	if (size > SIZE_MAX - HEADER - HEAP_PAGE)
		return NULL;
	size = (size + HEADER + HEAP_PAGE - 1) & ~(size_t)(HEAP_PAGE - 1);
	if (size > UINT32_MAX)
		return NULL;
	slab = heap_get_pages(size);
	if (slab == NULL)
		return NULL;
	*slab = (struct slab){.magic = MAGIC, .size = (uint32_t)size, .used = 1, .class = N_SIZES};
	return (char *)slab + HEADER;
}

void *heap_allocate(size_t size)
{
	unsigned class = heap_class_of(size);
	void *memory;

	if (heap_test_fails())
		return NULL;
	memory = class < N_SIZES ? heap_take_piece(class) : heap_take_pages(size);
	n_pieces += memory != NULL;
	return memory;
}

void heap_free(void *memory)
{
	struct slab *slab = heap_slab_of(memory);

	/*
	 * What is no piece of the heap's would make it worse with each use: better to stop at once.
	 */
	if (slab->magic != MAGIC || slab->used == 0)
		__builtin_trap();
	n_pieces--;
	if (slab->class < N_SIZES) {
		heap_put_piece(slab, memory);
		return;
	}
	slab->magic = 0;
	heap_put_pages(slab, slab->size);
}

unsigned heap_pieces(void)
{
	return n_pieces;
}
