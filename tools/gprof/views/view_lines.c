/* SPDX-License-Identifier: MIT */
/* Asks for the lines of all places at once, program by program.  See view_lines.h. */
#include "view_lines.h"

#include <stdlib.h>
#include <string.h>

#include "../util.h"

struct view_lines_place {
	const char *program;
	uint64_t address;
	struct debug_line line;
};

static int view_lines_compare(const void *first, const void *second)
{
	const struct view_lines_place *one = first, *other = second;
	int order = strcmp(one->program, other->program);

	return order != 0 ? order
			  : (one->address > other->address) - (one->address < other->address);
}

static void view_lines_add(struct view_lines *lines, uint32_t function, uint64_t address)
{
	const char *program = view_file(lines->view, function);

	if (program == NULL)
		return;
	lines->items = grow(lines->items, lines->n, &lines->room, sizeof(*lines->items));
	lines->items[lines->n++] =
		(struct view_lines_place){.program = program, .address = address};
}

static void view_lines_remove_repeated(struct view_lines *lines)
{
	size_t n = 0;

	sort(lines->items, lines->n, sizeof(*lines->items), view_lines_compare);
	for (size_t i = 0; i < lines->n; i++)
		if (n == 0 || view_lines_compare(&lines->items[n - 1], &lines->items[i]) != 0)
			lines->items[n++] = lines->items[i];
	lines->n = n;
}

/* Those of one program; returns where the next one's begin. */
static size_t view_lines_ask(struct view_lines *lines, size_t first)
{
	const char *program = lines->items[first].program;
	uint64_t *addresses = allocate(lines->n - first, sizeof(*addresses));
	struct debug_line *found;
	size_t n = 0;

	while (first + n < lines->n && strcmp(lines->items[first + n].program, program) == 0) {
		addresses[n] = lines->items[first + n].address;
		n++;
	}
	found = debug_own_lines(program, addresses, n);
	for (size_t i = 0; i < n; i++)
		lines->items[first + i].line = found[i];
	free(found); /* Its texts are ours now. */
	free(addresses);
	return first + n;
}

void view_lines_find(struct view_lines *lines, const struct view *view)
{
	*lines = (struct view_lines){.view = view};
	for (size_t i = 0; i < view->n_frames; i++)
		view_lines_add(lines, view->frames[i].function, view_inside(&view->frames[i]));
	for (size_t i = 0; i < view->n_sites; i++)
		view_lines_add(lines, view->sites[i].caller, view->sites[i].site - 1);
	for (uint32_t i = 0; i < view->n_functions; i++)
		view_lines_add(lines, i, view->functions[i].start);
	view_lines_remove_repeated(lines);
	for (size_t i = 0; i < lines->n;)
		i = view_lines_ask(lines, i);
}

void view_lines_free(struct view_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->items[i].line.file);
	free(lines->items);
}

static struct debug_line line_at(const struct view_lines *lines, uint32_t function,
				 uint64_t address)
{
	struct view_lines_place wanted = {
		.program = view_file(lines->view, function),
		.address = address,
	};
	const struct view_lines_place *found = NULL;

	if (wanted.program != NULL && lines->n > 0)
		found = bsearch(&wanted, lines->items, lines->n, sizeof(wanted),
				view_lines_compare);
	return found != NULL ? found->line : (struct debug_line){0};
}

unsigned view_lines_of_frame(const struct view_lines *lines, const struct view_frame *frame)
{
	return line_at(lines, frame->function, view_inside(frame)).line;
}

unsigned view_lines_of_function(const struct view_lines *lines, uint32_t function)
{
	return line_at(lines, function, lines->view->functions[function].start).line;
}

const char *view_lines_file(const struct view_lines *lines, uint32_t function)
{
	return line_at(lines, function, lines->view->functions[function].start).file;
}
