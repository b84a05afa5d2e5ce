/* SPDX-License-Identifier: MIT */
/*
 * A heap on top of pages: pieces of memory of any size, zero when they are given out.
 *
 * It knows nothing of locks or of the kernel; whoever uses it guards it and gives it pages.
 */
#ifndef UX_HEAP_H
#define UX_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#define HEAP_PAGE 4096u

/*
 * What the heap is built on: `size` bytes of whole pages, zero, from a page's beginning on; null if
 * there is no memory.
 */
void *heap_get_pages(size_t size);
void heap_put_pages(void *pages, size_t size);

void *heap_allocate(size_t size);
void heap_free(void *memory); /* Of heap_allocate(). */

/*
 * For tests of shortage, which reach it by a right to the server's task: how many allocations there
 * have been, of pieces and of pages, and the number of the one that fails.
 */
struct heap_test {
	unsigned done;
	unsigned failing;
};

extern volatile struct heap_test heap_test;

/* Counts an allocation: whether it is to fail. */
static inline bool heap_test_fails(void)
{
	return __atomic_add_fetch(&heap_test.done, 1, __ATOMIC_RELAXED) == heap_test.failing;
}

/* Pieces that are given out at the moment. */
unsigned heap_pieces(void);

#endif
