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

/*
 * The first place has this kind as long as it is empty.  A pc of 0 of kind 0 belongs there, and is
 * the only one that could be taken for that of a place with nothing but zeroes.
 */
#define PC_NO_KIND UINT32_MAX

struct pc_table {
	struct pc_count *places;
	uint32_t size; /* A power of two, or 0. */
	uint32_t mask; /* Of what lies between two places, in bytes. */
	uint32_t used;
};

/* Where the search for this pc begins; the table is not empty. */
static inline struct pc_count *__pc_table_first_place(const struct pc_table *table, uint32_t pc,
						      uint32_t kind)
{
	uint32_t hash = (pc + kind) * 2654435761u;

	return (struct pc_count *)((char *)table->places + (hash >> 8 & table->mask));
}

/*
 * One more at the first place that this pc can have, where nearly all have theirs; or false.  The
 * table is not empty.
 */
static inline bool __pc_table_add_again(const struct pc_table *table, uint32_t pc, uint32_t kind)
{
	struct pc_count *place = __pc_table_first_place(table, pc, kind);

	if (place->pc != pc || place->kind != kind)
		return false;
	place->count++;
	return true;
}

/* One more at `pc`; false if there is no memory to note it. */
bool __pc_table_add(struct pc_table *table, uint32_t pc, uint32_t kind);

/* How many there have been. */
uint64_t __pc_table_count(const struct pc_table *table, uint32_t pc, uint32_t kind);

/* Forgets all, and gives the memory back; or keeps it, if it is little, for another beginning. */
void __pc_table_clear(struct pc_table *table);
void __pc_table_empty(struct pc_table *table);

#endif
