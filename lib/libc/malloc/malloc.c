/* SPDX-License-Identifier: MIT */
/* malloc and its relatives, on the heap (heap.h). */
#include <stdlib.h>
#include <string.h>

#include "../internal.h"
#include "heap.h"

static libc_lock_t lock = LIBC_LOCK_INITIALIZER;

void __malloc_lock(void)
{
	__lock(&lock);
}

void __malloc_unlock(void)
{
	__unlock(&lock);
}

/* A fork copies the heap while nobody changes it. */
void __malloc_before_fork(void)
{
	__malloc_lock();
}

void __malloc_after_fork(int in_child)
{
	if (in_child)
		lock = (libc_lock_t)LIBC_LOCK_INITIALIZER;
	else
		__malloc_unlock();
}

static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

/* How many bytes its user may use. */
static size_t usable(const struct block *block)
{
	size_t head = block->size_flags & BLOCK_LARGE ? ALIGNMENT : HEADER;

	return block_size(block) - head;
}

static struct block *allocate(size_t bytes)
{
	size_t size = __block_size_for(bytes);
	struct block *block;

	if (size == 0)
		return NULL;
	if (size >= LARGE_BLOCK)
		return __large_allocate(bytes);
	__malloc_lock();
	block = __heap_allocate(size);
	__malloc_unlock();
	return block;
}

void *malloc(size_t size)
{
	struct block *block = allocate(size);

	return block != NULL ? block_contents(block) : no_memory();
}

/* Pages come from the system as zeros. */
void *calloc(size_t count, size_t size)
{
	struct block *block;
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return no_memory();
	block = allocate(bytes);
	if (block == NULL)
		return no_memory();
	if (!(block->size_flags & BLOCK_LARGE))
		memset(block_contents(block), 0, bytes);
	return block_contents(block);
}

void free(void *contents)
{
	struct block *block;
	bool is_large;
	int error = errno;

	if (contents == NULL)
		return;
	__malloc_lock();
	block = __block_of(contents, "free");
	is_large = block->size_flags & BLOCK_LARGE;
	if (!is_large)
		__heap_free(block);
	__malloc_unlock();
	if (is_large)
		__large_free(block);
	errno = error;
}

/* Makes the block fit where it is, if that can be and is no waste. */
static bool resize(struct block *block, size_t bytes)
{
	size_t size = __block_size_for(bytes);
	bool done = true;

	if (block->size_flags & BLOCK_LARGE)
		return bytes <= usable(block) && bytes >= usable(block) / 2;
	__malloc_lock();
	if (size <= block_size(block))
		__heap_shrink(block, size);
	else
		done = __heap_grow(block, size);
	__malloc_unlock();
	return done;
}

static struct block *checked(void *contents, const char *what)
{
	struct block *block;

	__malloc_lock();
	block = __block_of(contents, what);
	__malloc_unlock();
	return block;
}

void *realloc(void *contents, size_t size)
{
	struct block *block;
	void *moved;

	if (contents == NULL)
		return malloc(size);
	block = checked(contents, "realloc");
	if (__block_size_for(size) == 0)
		return no_memory();
	if (resize(block, size))
		return contents;
	moved = malloc(size);
	if (moved == NULL)
		return NULL;
	memcpy(moved, contents, usable(block) < size ? usable(block) : size);
	free(contents);
	return moved;
}

void *reallocarray(void *contents, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return no_memory();
	return realloc(contents, bytes);
}

size_t malloc_usable_size(void *contents)
{
	return contents != NULL ? usable(checked(contents, "malloc_usable_size")) : 0;
}

/*
 * A block from the heap with more than is needed, of which the first part is cut off: as much as
 * makes a block and lets the contents of the rest begin where they should.
 */
static void *allocate_aligned(size_t alignment, size_t bytes)
{
	size_t size = __block_size_for(bytes);
	struct block *block;
	uintptr_t contents;
	uintptr_t wanted;

	if (size == 0 || alignment > PTRDIFF_MAX - size - 2 * LEAST_BLOCK)
		return no_memory();
	__malloc_lock();
	block = __heap_allocate(size + alignment + LEAST_BLOCK);
	if (block == NULL) {
		__malloc_unlock();
		return no_memory();
	}
	contents = (uintptr_t)block_contents(block);
	if (contents % alignment != 0) {
		struct block *first = block;

		wanted = (contents + LEAST_BLOCK + alignment - 1) / alignment * alignment;
		block = __heap_divide(first, wanted - contents);
		__heap_free(first);
	}
	__heap_shrink(block, size);
	__malloc_unlock();
	return block_contents(block);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
		errno = EINVAL;
		return NULL;
	}
	return alignment <= ALIGNMENT ? malloc(size) : allocate_aligned(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	int error = errno;
	void *contents;

	if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
		return EINVAL;
	contents = aligned_alloc(alignment, size);
	errno = error;
	if (contents == NULL)
		return ENOMEM;
	*block = contents;
	return 0;
}
