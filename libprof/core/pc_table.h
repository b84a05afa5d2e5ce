/* SPDX-License-Identifier: MIT */
/* How many samples were taken at which program counter: a hash table that grows. */
#ifndef LIBPROF_PC_TABLE_H
#define LIBPROF_PC_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `kind` is 2 * the number of the flavor's bit, + 1 if the samples were taken in the kernel. */
struct pc_count {
	uint64_t count; /* 0: the place is empty. */
	uint32_t pc;
	uint32_t kind;
};

struct pc_table {
	struct pc_count *places;
	uint32_t size; /* A power of two, or 0. */
	uint32_t used;
};

static inline uint32_t __pc_table_hash(uint32_t pc, uint32_t kind)
{
	return (pc ^ kind << 27) * 2654435761u >> 8;
}

/*
 * The short way to one more, which finds nearly all places where there have been some; or false.
 * The table is not empty.
 */
static inline bool __pc_table_add_again(const struct pc_table *table, uint32_t pc, uint32_t kind)
{
	struct pc_count *place = &table->places[__pc_table_hash(pc, kind) & (table->size - 1)];

	if (place->pc != pc || place->kind != kind || place->count == 0)
		return false;
	place->count++;
	return true;
}

/* One more at `pc`; false if there is no memory to note it. */
bool __pc_table_add(struct pc_table *table, uint32_t pc, uint32_t kind);

/* How many there have been. */
uint64_t __pc_table_count(const struct pc_table *table, uint32_t pc, uint32_t kind);

void __pc_table_clear(struct pc_table *table);

#endif
