/* SPDX-License-Identifier: MIT */
/*
 * The shell's memory: regions, whose pieces are freed together, and strings that grow in one.
 *
 * Nothing here fails: a shell without memory says so and ends.
 */
#ifndef SH_MEMORY_H
#define SH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct block;

/* Pieces in the order in which they were asked for. */
struct region {
	struct block *last;
	unsigned long serial; /* Of the last piece; never used twice. */
	unsigned references;  /* Who keeps a region that was made by region_create(). */
	struct region *outer; /* main.c's: the tree that is executed around this one. */
};

/* What expansions need for as long as one command is executed. */
extern struct region scratch;

/* A new region with one reference; the last region_drop() frees it and all that is in it. */
struct region *region_create(void);
void region_keep(struct region *region);
void region_drop(struct region *region);

/* Memory that is zero. */
void *region_allocate(struct region *region, size_t size);

/* Makes a piece larger; it may move, but stays as old as it was. */
void *region_resize(struct region *region, void *piece, size_t size);

char *region_copy(struct region *region, const char *bytes, size_t length);

/* All pieces that are younger than the mark are freed by region_release(). */
unsigned long region_mark(const struct region *region);
void region_release(struct region *region, unsigned long mark);

/* Characters, always followed by a zero that does not count. */
struct string {
	struct region *region;
	char *bytes;
	size_t used;
	size_t room;
};

void string_start(struct string *string, struct region *region);
void string_add(struct string *string, char character);
void string_add_bytes(struct string *string, const char *bytes, size_t length);
void string_add_text(struct string *string, const char *text);

/* Memory outside of regions; free() frees it. */
void *heap_allocate(size_t size);
char *heap_copy(const char *text);

/* A region's array of strings, NULL behind the last. */
struct list {
	char **items;
	size_t used;
	size_t room;
};

void list_start(struct list *list);
void list_add(struct list *list, char *item);

#endif
