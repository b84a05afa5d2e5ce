/* SPDX-License-Identifier: MIT */
/* Regions, and blocks divided and joined in them (heap.h). */
#include "heap.h"

#include <assert.h>

#include "../internal.h"

#define REGION    (64u << 10)
#define NO_REGION ((struct region *)0)

/* Before a region's first block.  Behind its last is a header that is used for ever. */
struct region {
	struct region *next;
	struct region **link;
	size_t bytes;
};

/* So that the contents of the first block are aligned. */
#define REGION_HEAD \
	((sizeof(struct region) + HEADER + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT - HEADER)
#define REGION_TAIL (2 * HEADER)

static struct region *regions;

static struct block *first_block(struct region *region)
{
	return (struct block *)((char *)region + REGION_HEAD);
}

static size_t room_of(const struct region *region)
{
	return (region->bytes - REGION_HEAD - REGION_TAIL) / ALIGNMENT * ALIGNMENT;
}

/* Where a free block repeats its size. */
static size_t *size_at_end(struct block *block)
{
	return (size_t *)((char *)block + block_size(block)) - 1;
}

static void check(struct block *block)
{
	if (!__block_is_intact(block))
		__malloc_panic("malloc", block_contents(block),
			       "what is before a block is overwritten");
}

/* The block behind is told whether this one is free. */
static void tell_behind(struct block *block, bool is_free)
{
	struct block *behind = block_behind(block);
	unsigned flags = behind->size_flags & BLOCK_FLAGS & ~(unsigned)BLOCK_BEFORE_FREE;

	check(behind);
	__block_set(behind, block_size(behind), flags | (is_free ? BLOCK_BEFORE_FREE : 0));
}

static void make_free(struct block *block, size_t size)
{
	__block_set(block, size, 0);
	*size_at_end(block) = size;
	tell_behind(block, true);
	__bin_insert(block);
}

static struct block *add_region(size_t size)
{
	size_t wanted = size + REGION_HEAD + REGION_TAIL;
	size_t bytes = wanted > REGION ? (wanted + LIBC_PAGE - 1) / LIBC_PAGE * LIBC_PAGE : REGION;
	struct region *region = __pages_allocate(bytes);
	struct block *block;

	if (region == NULL)
		return NULL;
	region->bytes = bytes;
	region->next = regions;
	region->link = &regions;
	if (regions != NULL)
		regions->link = &region->next;
	regions = region;
	block = first_block(region);
	__block_set(block, room_of(region), 0);
	__block_set(block_behind(block), 0, BLOCK_USED | BLOCK_BEFORE_FREE);
	return block;
}

/* A region in which nothing is used goes back, unless it is the only one, of the usual size. */
static bool give_region_back(struct block *block)
{
	struct region *region = (struct region *)((char *)block - REGION_HEAD);

	if (block_size(block_behind(block)) != 0 || (uintptr_t)region % LIBC_PAGE != 0)
		return false;
	for (struct region *each = regions; each != region; each = each->next) {
		if (each == NULL)
			return false;
	}
	if (regions->next == NO_REGION && region->bytes == REGION)
		return false;
	*region->link = region->next;
	if (region->next != NULL)
		region->next->link = region->link;
	__pages_free(region, region->bytes);
	return true;
}

/* Uses `size` bytes of a block that is in no list; what is left, if it can be a block, is free. */
static void use(struct block *block, size_t size)
{
	size_t whole = block_size(block);
	size_t rest = whole - size;

	assert(whole >= size);
	if (rest < LEAST_BLOCK) {
		__block_set(block, whole, BLOCK_USED);
		tell_behind(block, false);
		return;
	}
	__block_set(block, size, BLOCK_USED);
	make_free(block_behind(block), rest);
}

struct block *__heap_allocate(size_t size)
{
	struct block *block = __bin_take(size);

	if (block == NULL)
		block = add_region(size);
	if (block != NULL)
		use(block, size);
	return block;
}

/* The free block before this one. */
static struct block *block_before(struct block *block)
{
	size_t size = ((size_t *)block)[-1];
	struct block *before = (struct block *)((char *)block - size);

	if (size % ALIGNMENT != 0 || size < LEAST_BLOCK || !__block_is_intact(before) ||
	    block_size(before) != size)
		__malloc_panic("free", block_contents(block),
			       "the free block before it was written to");
	return before;
}

void __heap_free(struct block *block)
{
	struct block *behind = block_behind(block);
	size_t size = block_size(block);

	check(behind);
	if (!(behind->size_flags & BLOCK_USED)) {
		__bin_remove(behind);
		size += block_size(behind);
	}
	if (block->size_flags & BLOCK_BEFORE_FREE) {
		struct block *before = block_before(block);

		/* What is now inside must not look like a header to a second free. */
		block->check = 0;
		block = before;
		__bin_remove(block);
		size += block_size(block);
	}
	__block_set(block, size, 0);
	if (!give_region_back(block))
		make_free(block, size);
}

void __heap_shrink(struct block *block, size_t size)
{
	size_t rest = block_size(block) - size;
	struct block *second;

	if (rest < LEAST_BLOCK)
		return;
	second = __heap_divide(block, size);
	__heap_free(second);
}

struct block *__heap_divide(struct block *block, size_t size)
{
	size_t rest = block_size(block) - size;
	unsigned before = block->size_flags & BLOCK_BEFORE_FREE;
	struct block *second;

	assert(rest >= LEAST_BLOCK);
	__block_set(block, size, BLOCK_USED | before);
	second = block_behind(block);
	__block_set(second, rest, BLOCK_USED);
	return second;
}

bool __heap_grow(struct block *block, size_t size)
{
	struct block *behind = block_behind(block);
	unsigned before = block->size_flags & BLOCK_BEFORE_FREE;
	size_t whole = block_size(block) + block_size(behind);

	check(behind);
	if (behind->size_flags & BLOCK_USED || whole < size)
		return false;
	__bin_remove(behind);
	__block_set(block, whole, BLOCK_USED | before);
	tell_behind(block, false);
	__heap_shrink(block, size);
	return true;
}

static size_t check_region(struct region *region)
{
	size_t used = 0;
	bool before_free = false;

	for (struct block *block = first_block(region);; block = block_behind(block)) {
		bool is_used = block->size_flags & BLOCK_USED;

		check(block);
		assert(before_free == ((block->size_flags & BLOCK_BEFORE_FREE) != 0));
		assert(is_used || !before_free);
		assert(is_used || *size_at_end(block) == block_size(block));
		if (block_size(block) == 0)
			return used;
		used += is_used ? block_size(block) : 0;
		before_free = !is_used;
	}
}

size_t __malloc_check(void)
{
	size_t used = 0;

	for (struct region *region = regions; region != NULL; region = region->next)
		used += check_region(region);
	return used;
}
