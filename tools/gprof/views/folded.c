/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks, as scripts for flame graphs read them: `outermost;...;innermost COUNT`.
 *
 * With more than one flavor each stack begins with its flavor.  Samples that were lost are a line
 * of their own, as there is no other place for them.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "../util.h"
#include "view.h"

/* A stack, and what it is compared by. */
struct line {
	const struct view *view;
	const struct view_stack *stack;
};

/* From the outermost function on. */
static int folded_compare(const void *first, const void *second)
{
	const struct line *one = first, *other = second;
	uint32_t depth = one->stack->depth, other_depth = other->stack->depth;
	const struct view_frame *frames = one->view->frames + one->stack->frames;
	const struct view_frame *others = one->view->frames + other->stack->frames;

	if (one->stack->flavor != other->stack->flavor)
		return one->stack->flavor < other->stack->flavor ? -1 : 1;
	while (depth > 0 && other_depth > 0) {
		uint32_t function = frames[--depth].function;
		uint32_t other_function = others[--other_depth].function;

		if (function != other_function)
			return function < other_function ? -1 : 1;
	}
	return (depth > 0) - (other_depth > 0);
}

/* A name without the signs that mean something here. */
static void folded_put_name(FILE *out, const char *name)
{
	for (; *name != '\0'; name++)
		putc(*name == ';' || *name == ' ' || *name == '\n' ? '_' : *name, out);
}

static void folded_put_line(const struct view *view, const struct view_stack *stack, uint64_t count,
			    FILE *out)
{
	if (view->profile->n_flavors > 1)
		fprintf(out, "%s;", view->profile->flavors[stack->flavor].name);
	for (uint32_t depth = stack->depth; depth-- > 0;) {
		folded_put_name(out, view_name(view, view->frames[stack->frames + depth].function));
		putc(depth > 0 ? ';' : ' ', out);
	}
	fprintf(out, "%" PRIu64 "\n", count);
}

void view_write_folded(const struct view *view, FILE *out)
{
	struct line *lines = allocate(view->n_stacks + 1, sizeof *lines);
	uint64_t lost = view_lost(view->profile), count = 0;

	for (size_t i = 0; i < view->n_stacks; i++)
		lines[i] = (struct line){view, &view->stacks[i]};
	sort(lines, view->n_stacks, sizeof *lines, folded_compare);
	for (size_t i = 0; i < view->n_stacks; i++) {
		count += lines[i].stack->count;
		if (i + 1 < view->n_stacks && folded_compare(&lines[i], &lines[i + 1]) == 0)
			continue;
		folded_put_line(view, lines[i].stack, count, out);
		count = 0;
	}
	free(lines);
	if (lost > 0)
		fprintf(out, "<lost> %" PRIu64 "\n", lost);
}
