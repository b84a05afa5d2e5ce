/* SPDX-License-Identifier: MIT */
/* Regions as chains of pieces, each with a serial number by which a mark is told from another. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "sh.h"

struct block {
	struct block *before;
	struct block *after;
	unsigned long serial;
	max_align_t bytes[];
};

struct region scratch;

static struct block *block_of(void *piece)
{
	return (struct block *)((char *)piece - offsetof(struct block, bytes));
}

static void *must_have(void *memory)
{
	if (memory == NULL)
		die("out of memory");
	return memory;
}

struct region *region_create(void)
{
	struct region *region = heap_allocate(sizeof(*region));

	region->references = 1;
	return region;
}

void region_keep(struct region *region)
{
	assert(region->references > 0);
	region->references++;
}

void region_drop(struct region *region)
{
	assert(region->references > 0);
	if (--region->references > 0)
		return;
	region_release(region, 0);
	free(region);
}

void *region_allocate(struct region *region, size_t size)
{
	struct block *block = must_have(calloc(1, sizeof(*block) + size));

	block->before = region->last;
	if (region->last != NULL)
		region->last->after = block;
	region->last = block;
	block->serial = ++region->serial;
	return block->bytes;
}

void *region_resize(struct region *region, void *piece, size_t size)
{
	struct block *block = must_have(realloc(block_of(piece), sizeof(*block) + size));

	if (block->before != NULL)
		block->before->after = block;
	if (block->after != NULL)
		block->after->before = block;
	else
		region->last = block;
	return block->bytes;
}

char *region_copy(struct region *region, const char *bytes, size_t length)
{
	char *copy = region_allocate(region, length + 1);

	memcpy(copy, bytes, length);
	return copy;
}

unsigned long region_mark(const struct region *region)
{
	return region->last != NULL ? region->last->serial : 0;
}

void region_release(struct region *region, unsigned long mark)
{
	while (region->last != NULL && region->last->serial > mark) {
		struct block *block = region->last;

		region->last = block->before;
		if (region->last != NULL)
			region->last->after = NULL;
		free(block);
	}
}

/* Memory is taken with the first character: many strings stay empty. */
void string_start(struct string *string, struct region *region)
{
	*string = (struct string){.region = region, .bytes = ""};
}

static void string_make_room(struct string *string, size_t length)
{
	size_t room = string->room;

	if (string->used + length < room)
		return;
	while (room <= string->used + length)
		room = room == 0 ? 32 : 2 * room;
	string->bytes = string->room == 0 ? region_allocate(string->region, room)
					  : region_resize(string->region, string->bytes, room);
	string->room = room;
}

void string_add_bytes(struct string *string, const char *bytes, size_t length)
{
	string_make_room(string, length);
	memcpy(string->bytes + string->used, bytes, length);
	string->used += length;
	string->bytes[string->used] = '\0';
}

void string_add(struct string *string, char character)
{
	string_add_bytes(string, &character, 1);
}

void string_add_text(struct string *string, const char *text)
{
	string_add_bytes(string, text, strlen(text));
}

void *heap_allocate(size_t size)
{
	return must_have(calloc(1, size));
}

char *heap_copy(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(heap_allocate(size), text, size);
}

void list_start(struct list *list)
{
	list->room = 8;
	list->used = 0;
	list->items = region_allocate(&scratch, list->room * sizeof(*list->items));
}

void list_add(struct list *list, char *item)
{
	if (list->used + 1 == list->room) {
		list->room *= 2;
		list->items =
			region_resize(&scratch, list->items, list->room * sizeof(*list->items));
	}
	list->items[list->used++] = item;
	list->items[list->used] = NULL;
}
