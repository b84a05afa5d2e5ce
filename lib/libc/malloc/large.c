/* SPDX-License-Identifier: MIT */
/* Blocks with pages of their own.  The header lies so that the contents are aligned. */
#include "../internal.h"
#include "heap.h"

#define HEAD (ALIGNMENT - HEADER % ALIGNMENT) % ALIGNMENT

/* The block's size runs from its header to the end of its pages. */
struct block *__large_allocate(size_t bytes)
{
	size_t whole = (bytes + HEAD + HEADER + LIBC_PAGE - 1) / LIBC_PAGE * LIBC_PAGE;
	char *pages = __pages_allocate(whole);
	struct block *block;

	if (pages == NULL)
		return NULL;
	block = (struct block *)(pages + HEAD);
	__block_set(block, whole, BLOCK_USED | BLOCK_LARGE);
	return block;
}

void __large_free(struct block *block)
{
	char *pages = (char *)block - HEAD;

	__pages_free(pages, block_size(block));
}
