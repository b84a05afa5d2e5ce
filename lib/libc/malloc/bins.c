/* SPDX-License-Identifier: MIT */
/*
 * Free blocks by their size.  A list for each size up to SMALL, and four for each power of two
 * above: in the first every block fits, in the others the best is looked for.  A bit for each list
 * tells whether it has blocks.
 */
#include "heap.h"

#define SMALL      512
#define SMALL_BINS (SMALL / ALIGNMENT + 1)
#define SMALL_LOG  9
#define QUARTERS   4
#define LOGS       (8 * sizeof(size_t) - SMALL_LOG)
#define BINS       (SMALL_BINS + LOGS * QUARTERS)
#define WORD       32
#define SECRET     ((uintptr_t)0x71c8d92b)

static struct block *bins[BINS];
static uint32_t filled[BINS / WORD + 1];

static unsigned bin_of(size_t size)
{
	unsigned log;

	if (size <= SMALL)
		return (unsigned)(size / ALIGNMENT);
	log = (unsigned)(8 * sizeof(size_t)) - 1 - (unsigned)__builtin_clzl(size);
	return SMALL_BINS + (log - SMALL_LOG) * QUARTERS + (unsigned)(size >> (log - 2) & 3);
}

static uintptr_t check_of(const struct block_links *links)
{
	return SECRET ^ (uintptr_t)links->next ^ (uintptr_t)links->previous * 3;
}

/* Whoever wrote to the block after it was free has changed its links. */
static void check(const struct block *block)
{
	if (block->links.check != check_of(&block->links))
		__malloc_panic("malloc", &block->links,
			       "the block was written to after it was free");
}

static void set_next(struct block *block, struct block *next)
{
	check(block);
	block->links.next = next;
	block->links.check = check_of(&block->links);
}

static void set_previous(struct block *block, struct block *previous)
{
	check(block);
	block->links.previous = previous;
	block->links.check = check_of(&block->links);
}

void __bin_insert(struct block *block)
{
	unsigned bin = bin_of(block_size(block));
	struct block *first = bins[bin];

	block->links.next = first;
	block->links.previous = NULL;
	block->links.check = check_of(&block->links);
	if (first != NULL)
		set_previous(first, block);
	bins[bin] = block;
	filled[bin / WORD] |= 1u << bin % WORD;
}

void __bin_remove(struct block *block)
{
	unsigned bin = bin_of(block_size(block));
	struct block *next = block->links.next;
	struct block *previous = block->links.previous;

	check(block);
	if (next != NULL)
		set_previous(next, previous);
	if (previous != NULL)
		set_next(previous, next);
	else
		bins[bin] = next;
	if (bins[bin] == NULL)
		filled[bin / WORD] &= ~(1u << bin % WORD);
}

/* The first list from `bin` on that has blocks; BINS if none has. */
static unsigned next_filled(unsigned bin)
{
	unsigned word = bin / WORD;
	uint32_t bits = filled[word] & ~0u << bin % WORD;

	while (bits == 0) {
		if (++word > BINS / WORD)
			return BINS;
		bits = filled[word];
	}
	return word * WORD + (unsigned)__builtin_ctz(bits);
}

static struct block *best_in(unsigned bin, size_t size)
{
	struct block *best = NULL;

	for (struct block *block = bins[bin]; block != NULL; block = block->links.next) {
		check(block);
		if (block_size(block) >= size &&
		    (best == NULL || block_size(block) < block_size(best)))
			best = block;
		if (best != NULL && block_size(best) == size)
			break;
	}
	return best;
}

/* Only in the size's own list may there be blocks that are too small. */
struct block *__bin_take(size_t size)
{
	struct block *block = NULL;

	for (unsigned bin = next_filled(bin_of(size)); bin < BINS; bin = next_filled(bin + 1)) {
		block = best_in(bin, size);
		if (block != NULL)
			break;
	}
	if (block == NULL)
		return NULL;
	if (!__block_is_intact(block) || block->size_flags & BLOCK_USED)
		__malloc_panic("malloc", block_contents(block),
			       "what is before a free block is overwritten");
	__bin_remove(block);
	return block;
}
