/* SPDX-License-Identifier: MIT */
/* Sums of code: see code.h. */
#include "code.h"

#include <stddef.h>

#include "arcs.h"
#include "pages.h"

/* Pages of code behind what the collection has summed up already. */
struct pages {
	uint32_t first; /* Its address. */
	uint32_t count;
	unsigned char *is_used;
};

static uint32_t page_up(uint32_t address)
{
	return (address + PROF_PAGE - 1) & -PROF_PAGE;
}

static struct pages pages_of(const struct collection *collection)
{
	const struct gmon_program *program = &collection->program;
	struct pages pages = {.first = page_up(program->code + program->bytes)};

	if (collection->runs_here && pages.first < collection->high)
		pages.count = page_up(collection->high - pages.first) / PROF_PAGE;
	return pages;
}

uint32_t __code_ranges(const struct collection *collection)
{
	return collection->has_program ? 1 + pages_of(collection).count : 0;
}

static void use(struct pages *pages, uint32_t address)
{
	uint32_t page = (address - pages->first) / PROF_PAGE;

	if (address >= pages->first && page < pages->count)
		pages->is_used[page] = 1;
}

static void use_arc(const struct arc *arc, void *argument)
{
	use(argument, arc->from);
	use(argument, arc->self);
}

static void visit_pages(const struct pages *pages, uint32_t high, code_visit_t visit,
			void *argument)
{
	for (uint32_t n = 0; n < pages->count; n++) {
		uint32_t page = pages->first + n * PROF_PAGE;
		uint32_t bytes = high - page < PROF_PAGE ? (high - page) & ~3u : PROF_PAGE;

		if (pages->is_used[n] != 0 && bytes != 0)
			visit(page, bytes, gmon_code_sum((const void *)(uintptr_t)page, bytes),
			      argument);
	}
}

/* Without memory to note pages in, the first one has to do. */
void __code_visit(const struct collection *collection, bool with_arcs, code_visit_t visit,
		  void *argument)
{
	const struct gmon_program *program = &collection->program;
	struct pages pages;

	if (!collection->has_program)
		return;
	visit(program->code, program->bytes, program->sum, argument);
	pages = pages_of(collection);
	if (pages.count != 0)
		pages.is_used = __prof_pages(pages.count);
	if (pages.is_used == NULL)
		return;
	for (uint32_t n = 0; n < collection->pcs.size; n++) {
		if (collection->pcs.places[n].count != 0)
			use(&pages, collection->pcs.places[n].pc);
	}
	if (with_arcs)
		__arcs_visit(use_arc, &pages);
	visit_pages(&pages, collection->high, visit, argument);
	__prof_pages_free(pages.is_used, pages.count);
}
