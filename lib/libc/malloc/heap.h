/* SPDX-License-Identifier: MIT */
/*
 * The heap of malloc.
 *
 * Memory comes from the system in regions.  A region is a row of blocks without gaps, each with a
 * header; two free blocks never lie side by side, because free() joins them.  A free block has its
 * size again in its last word, where the block behind it finds it, and is in the list of its size
 * (bins.c).  A block that is large has pages of its own, which free() gives back (large.c).
 *
 * Each header holds a check that is made of its address, its size and its flags.  A write beyond
 * the end of a block ruins that of the next, and the first call that looks at it ends the program
 * with a message, instead of another one much later and elsewhere.
 *
 * One lock guards all; the functions named __heap_..., __bin_... and __block_... expect it held.
 */
#ifndef LIBC_MALLOC_HEAP_H
#define LIBC_MALLOC_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALIGNMENT 16 /* Of all blocks; SSE's types need it. */
#define HEADER    offsetof(struct block, links)

enum block_flags {
	BLOCK_USED = 1,
	BLOCK_BEFORE_FREE = 2, /* The block before this one is free. */
	BLOCK_LARGE = 4,       /* Has pages of its own. */
	BLOCK_FLAGS = ALIGNMENT - 1,
};

struct block_links {
	struct block *next;
	struct block *previous;
	uintptr_t check; /* Over the two. */
};

struct block {
	uintptr_t check;
	size_t size_flags;        /* The header counts. */
	struct block_links links; /* Of a free one; of a used one its contents begin here. */
};

/* What a free block needs: header, links and the size at its end. */
#define LEAST_BLOCK \
	((sizeof(struct block) + sizeof(size_t) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

/* Blocks from here on, if nothing smaller is free, have pages of their own. */
#define LARGE_BLOCK (128u << 10)

void __malloc_lock(void);
void __malloc_unlock(void);

/* Ends the program: what was asked, of which address, and what is wrong with it. */
_Noreturn void __malloc_panic(const char *what, const void *address, const char *why);

static inline size_t block_size(const struct block *block)
{
	return block->size_flags & ~(size_t)BLOCK_FLAGS;
}

static inline void *block_contents(struct block *block)
{
	return &block->links;
}

static inline struct block *block_behind(struct block *block)
{
	return (struct block *)((char *)block + block_size(block));
}

/* Sets size and flags, and the check over them. */
void __block_set(struct block *block, size_t size, unsigned flags);
bool __block_is_intact(const struct block *block);

/* The used block with these contents; panics, in the name of `what`, if there is none. */
struct block *__block_of(void *contents, const char *what);

/* Size of the block for so many bytes; 0 if they are too many. */
size_t __block_size_for(size_t bytes);

void __bin_insert(struct block *block);
void __bin_remove(struct block *block);

/* The best free block of this size or more, taken out of its list; NULL if there is none. */
struct block *__bin_take(size_t size);

/* A used block of this size; NULL if there is no memory. */
struct block *__heap_allocate(size_t size);
void __heap_free(struct block *block);

/* Takes from the end of a used block what is beyond this size, or adds to it what is free there. */
void __heap_shrink(struct block *block, size_t size);
bool __heap_grow(struct block *block, size_t size);

/* Makes a used block two: one of `size` bytes, and the rest, which is returned. */
struct block *__heap_divide(struct block *block, size_t size);

/* Pages of their own. */
struct block *__large_allocate(size_t bytes);
void __large_free(struct block *block);

/* With the lock held, looks at every block; the bytes in use.  For tests, and for gdb. */
size_t __malloc_check(void);

#endif
