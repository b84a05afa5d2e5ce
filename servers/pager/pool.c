/* SPDX-License-Identifier: MIT */
/*
 * Memory for structures of one size, page by page from the kernel.
 *
 * Each page begins with a struct chunk.  Those with a free element are in a list; a page of which
 * no element is in use goes back to the kernel, if the reserve is there without it.
 */
#include "pager.h"

struct element {
	struct element *next;
};

struct chunk {
	struct chunk *next;  /* In the pool's list, */
	struct chunk **link; /* and what points to this one there. */
	struct element *free;
	uint32_t used;
};

static uint32_t pool_per_chunk(const struct pool *pool)
{
	return (PAGE_SIZE - sizeof(struct chunk)) / pool->size;
}

static struct chunk *pool_chunk_of(const void *element)
{
	return (struct chunk *)((uintptr_t)element & ~(uintptr_t)(PAGE_SIZE - 1));
}

static void pool_list_chunk(struct pool *pool, struct chunk *chunk)
{
	chunk->next = pool->partial;
	chunk->link = &pool->partial;
	if (chunk->next != NULL)
		chunk->next->link = &chunk->next;
	pool->partial = chunk;
}

static void pool_unlist_chunk(struct chunk *chunk)
{
	*chunk->link = chunk->next;
	if (chunk->next != NULL)
		chunk->next->link = chunk->link;
}

static bool pool_add_chunk(struct pool *pool)
{
	vm_address_t address = 0;
	struct chunk *chunk;

	if (syscall_vm_allocate(mach_task_self_cached(), &address, PAGE_SIZE, TRUE) != KERN_SUCCESS)
		return false;
	chunk = (struct chunk *)address;
	chunk->free = NULL;
	chunk->used = 0;
	for (uint32_t n = 0; n < pool_per_chunk(pool); n++) {
		struct element *element = (void *)((char *)(chunk + 1) + n * pool->size);

		element->next = chunk->free;
		chunk->free = element;
	}
	pool->n_free += pool_per_chunk(pool);
	pool_list_chunk(pool, chunk);
	return true;
}

void *pool_alloc(struct pool *pool)
{
	struct element *element;
	struct chunk *chunk;

	while (pool->partial == NULL && !pool_add_chunk(pool))
		wait_for_memory();
	chunk = pool->partial;
	element = chunk->free;
	chunk->free = element->next;
	chunk->used++;
	pool->n_free--;
	if (chunk->free == NULL)
		pool_unlist_chunk(chunk);
	return memset(element, 0, pool->size);
}

void pool_free(struct pool *pool, void *freed)
{
	struct chunk *chunk = pool_chunk_of(freed);
	struct element *element = freed;

	if (chunk->free == NULL)
		pool_list_chunk(pool, chunk);
	element->next = chunk->free;
	chunk->free = element;
	chunk->used--;
	pool->n_free++;
	if (chunk->used > 0 || pool->n_free - pool_per_chunk(pool) < pool->reserve)
		return;
	pool_unlist_chunk(chunk);
	pool->n_free -= pool_per_chunk(pool);
	syscall_vm_deallocate(mach_task_self_cached(), (vm_address_t)chunk, PAGE_SIZE);
}

void pool_refill(struct pool *pool)
{
	while (pool->n_free < pool->reserve && pool_add_chunk(pool))
		continue;
}
