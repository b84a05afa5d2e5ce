/* SPDX-License-Identifier: MIT */
/* A block's header, and what is said of one that is ruined (heap.h). */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../internal.h"
#include "heap.h"

#define SECRET ((uintptr_t)0x5ab1e4c3u)

static uintptr_t check_of(const struct block *block)
{
	return SECRET ^ (uintptr_t)block ^ block->size_flags * 0x9e3779b1u;
}

void __block_set(struct block *block, size_t size, unsigned flags)
{
	block->size_flags = size | flags;
	block->check = check_of(block);
}

bool __block_is_intact(const struct block *block)
{
	return block->check == check_of(block);
}

/* With nothing that allocates: the heap is not to be trusted any more. */
void __malloc_panic(const char *what, const void *address, const char *why)
{
	dprintf(STDERR_FILENO, "%s(%p): %s\n", what, address, why);
	abort();
}

struct block *__block_of(void *contents, const char *what)
{
	struct block *block = (struct block *)((char *)contents - HEADER);

	if ((uintptr_t)contents % ALIGNMENT != 0)
		__malloc_panic(what, contents, "no block of malloc begins there");
	if (!__block_is_intact(block))
		__malloc_panic(what, contents,
			       "no block of malloc, or what is before it is overwritten");
	if (!(block->size_flags & BLOCK_USED))
		__malloc_panic(what, contents, "the block is free already");
	return block;
}

size_t __block_size_for(size_t bytes)
{
	size_t size;

	if (bytes > PTRDIFF_MAX - LIBC_PAGE - 2 * ALIGNMENT)
		return 0;
	size = (bytes + HEADER + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return size < LEAST_BLOCK ? LEAST_BLOCK : size;
}
