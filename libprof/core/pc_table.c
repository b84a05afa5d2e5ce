/* SPDX-License-Identifier: MIT */
/* Counts by program counter: see pc_table.h.  Places are looked for one after the other. */
#include "pc_table.h"

#include "pages.h"

#define SIZE_FIRST 1024u /* Places: four pages, enough for most programs. */

/* The place of this pc, or the empty one where it belongs.  The table is never full. */
static struct pc_count *place_of(const struct pc_table *table, uint32_t pc, uint32_t kind)
{
	struct pc_count *place = __pc_table_first_place(table, pc, kind);
	const struct pc_count *end = table->places + table->size;

	while (place->count != 0 && (place->pc != pc || place->kind != kind))
		if (++place == end)
			place = table->places;
	return place;
}

static bool grow(struct pc_table *table)
{
	uint32_t size = table->size == 0 ? SIZE_FIRST : 2 * table->size;
	struct pc_table larger = {.places = __prof_pages(size * sizeof *larger.places),
				  .size = size,
				  .mask = (size - 1) * (uint32_t)sizeof *larger.places,
				  .used = table->used};

	if (larger.places == NULL)
		return false;
	larger.places[0].kind = PC_NO_KIND;
	for (uint32_t n = 0; n < table->size; n++) {
		const struct pc_count *old = &table->places[n];

		if (old->count != 0)
			*place_of(&larger, old->pc, old->kind) = *old;
	}
	__pc_table_clear(table);
	*table = larger;
	return true;
}

/* Room for one more, half of the table as long as there is memory; but one always stays empty. */
static bool has_room(struct pc_table *table)
{
	return table->used < table->size / 2 || grow(table) || table->used + 1 < table->size;
}

bool __pc_table_add(struct pc_table *table, uint32_t pc, uint32_t kind)
{
	struct pc_count *place = NULL;

	if (table->size != 0)
		place = place_of(table, pc, kind);
	if (place == NULL || place->count == 0) {
		uint32_t size = table->size;

		if (!has_room(table))
			return false;
		if (table->size != size)
			place = place_of(table, pc, kind);
		*place = (struct pc_count){.pc = pc, .kind = kind};
		table->used++;
	}
	place->count++;
	return true;
}

uint64_t __pc_table_count(const struct pc_table *table, uint32_t pc, uint32_t kind)
{
	return table->size == 0 ? 0 : place_of(table, pc, kind)->count;
}

void __pc_table_clear(struct pc_table *table)
{
	if (table->places != NULL)
		__prof_pages_free(table->places, table->size * sizeof *table->places);
	*table = (struct pc_table){.size = 0};
}

void __pc_table_empty(struct pc_table *table)
{
	if (table->size != SIZE_FIRST) {
		__pc_table_clear(table);
		return;
	}
	__builtin_memset(table->places, 0, SIZE_FIRST * sizeof *table->places);
	table->places[0].kind = PC_NO_KIND;
	table->used = 0;
}
