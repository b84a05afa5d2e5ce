/* SPDX-License-Identifier: MIT */
/* Counts by program counter: see pc_table.h.  Places are looked for one after the other. */
#include "pc_table.h"

#include "pages.h"

#define SIZE_FIRST 256u /* Places: one page. */

/* The place of this pc, or the empty one where it belongs.  The table is never full. */
static struct pc_count *place_of(const struct pc_table *table, uint32_t pc, uint32_t kind)
{
	uint32_t n = __pc_table_hash(pc, kind) & (table->size - 1);

	while (table->places[n].count != 0 &&
	       (table->places[n].pc != pc || table->places[n].kind != kind))
		n = (n + 1) & (table->size - 1);
	return &table->places[n];
}

static bool grow(struct pc_table *table)
{
	struct pc_table larger = {.size = table->size == 0 ? SIZE_FIRST : 2 * table->size,
				  .used = table->used};

	larger.places = __prof_pages(larger.size * sizeof *larger.places);
	if (larger.places == NULL)
		return false;
	for (uint32_t n = 0; n < table->size; n++) {
		const struct pc_count *old = &table->places[n];

		if (old->count != 0)
			*place_of(&larger, old->pc, old->kind) = *old;
	}
	__pc_table_clear(table);
	*table = larger;
	return true;
}

/* An empty place for one more; NULL if there is none.  One always stays empty. */
static struct pc_count *new_place(struct pc_table *table, uint32_t pc, uint32_t kind)
{
	struct pc_count *place;

	if (table->used >= table->size / 2 && !grow(table) && table->used + 1 >= table->size)
		return NULL;
	place = place_of(table, pc, kind);
	*place = (struct pc_count){.pc = pc, .kind = kind};
	table->used++;
	return place;
}

bool __pc_table_add(struct pc_table *table, uint32_t pc, uint32_t kind)
{
	struct pc_count *place = table->size == 0 ? NULL : place_of(table, pc, kind);

	if (place == NULL || place->count == 0)
		place = new_place(table, pc, kind);
	if (place == NULL)
		return false;
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
