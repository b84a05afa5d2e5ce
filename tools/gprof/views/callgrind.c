/* SPDX-License-Identifier: MIT */
/*
 * Callgrind's format, which KCachegrind and callgrind_annotate show: a function's own samples, and
 * for each function that it called what was found in that and all that it called.  Flavors are
 * columns.  Lines of the source are not known, and 0.
 *
 * How often one function called another is known from gmon.out; what was not counted is the number
 * of samples in which it was seen.  That is never 0, with which callgrind_annotate takes what was
 * called for the caller's own.  A function that calls itself does so only once in a stack.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../util.h"
#include "view.h"

#define SELF     0u
#define TEXT_MAX 128

/* Samples of one flavor in a function: its own, or those of what it called. */
struct cost {
	uint32_t function;
	uint32_t callee; /* SELF, or the called function's index plus one. */
	uint32_t flavor;
	uint64_t count;
};

struct costs {
	struct cost *items;
	size_t n;
	size_t room;
};

static int compare(const void *first, const void *second)
{
	const struct cost *one = first, *other = second;

	if (one->function != other->function)
		return one->function < other->function ? -1 : 1;
	if (one->callee != other->callee)
		return one->callee < other->callee ? -1 : 1;
	return 0;
}

static void add(struct costs *costs, struct cost cost)
{
	costs->items = grow(costs->items, costs->n, &costs->room, sizeof *costs->items);
	costs->items[costs->n++] = cost;
}

/* Whether the same call is in the stack further out. */
static bool is_repeated(const struct view_frame *frames, uint32_t depth, uint32_t at)
{
	for (uint32_t i = at + 1; i + 1 < depth; i++)
		if (frames[i].function == frames[at].function &&
		    frames[i + 1].function == frames[at + 1].function)
			return true;
	return false;
}

static void add_stack(struct costs *costs, const struct view *view, const struct view_stack *stack)
{
	const struct view_frame *frames = view->frames + stack->frames;
	struct cost cost = {.flavor = stack->flavor, .count = stack->count};

	cost.function = frames[0].function;
	add(costs, cost);
	for (uint32_t i = 0; i + 1 < stack->depth; i++) {
		cost.function = frames[i + 1].function;
		cost.callee = frames[i].function + 1;
		if (frames[i].function != cost.function && !is_repeated(frames, stack->depth, i))
			add(costs, cost);
	}
}

/* ---------------- Writing ---------------- */

static const char *object_of(const struct view *view, uint32_t function)
{
	const char *object = view_object(view, function);

	return object[0] != '\0' ? object : view->program_path;
}

/* The first time that a name is written it gets a number, which stands for it from then on. */
static void put_name(const struct view *view, const char *key, uint32_t function, bool *is_named,
		     FILE *out)
{
	fprintf(out, "%s=(%" PRIu32 ")", key, function + 1);
	if (!is_named[function])
		fprintf(out, " %s", view_name(view, function));
	is_named[function] = true;
	putc('\n', out);
}

/* One line for all costs of the same place; returns how many those were. */
static size_t put_line(const struct view *view, const struct cost *first, const struct cost *end,
		       FILE *out)
{
	uint64_t row[PROFILE_FLAVORS] = {0};
	const struct cost *cost = first;

	for (; cost < end && compare(first, cost) == 0; cost++)
		row[cost->flavor] += cost->count;
	putc('0', out);
	for (size_t i = 0; i < view->profile->n_flavors; i++)
		fprintf(out, " %" PRIu64, row[i]);
	putc('\n', out);
	return (size_t)(cost - first);
}

static int compare_calls(const void *first, const void *second)
{
	const struct view_call *one = first, *other = second;

	if (one->caller != other->caller)
		return one->caller < other->caller ? -1 : 1;
	return (one->callee > other->callee) - (one->callee < other->callee);
}

static uint64_t calls_of(const struct view *view, const struct cost *first, const struct cost *end)
{
	const struct view_call wanted = {first->function, first->callee - 1, 0};
	const struct view_call *found;
	uint64_t seen = 0;

	if (view->n_calls > 0) {
		found = bsearch(&wanted, view->calls, view->n_calls, sizeof wanted, compare_calls);
		if (found != NULL)
			return found->count;
	}
	for (const struct cost *cost = first; cost < end && compare(first, cost) == 0; cost++)
		seen += cost->count;
	return seen;
}

static void put_costs(const struct view *view, const struct costs *costs, bool *is_named, FILE *out)
{
	const struct cost *end = costs->items + costs->n;
	uint32_t function = UINT32_MAX;

	for (const struct cost *cost = costs->items; cost < end;) {
		if (cost->function != function) {
			function = cost->function;
			fprintf(out, "\nob=%s\nfl=???\n", object_of(view, function));
			put_name(view, "fn", function, is_named, out);
		}
		if (cost->callee != SELF) {
			fprintf(out, "cob=%s\ncfi=???\n", object_of(view, cost->callee - 1));
			put_name(view, "cfn", cost->callee - 1, is_named, out);
			fprintf(out, "calls=%" PRIu64 " 0\n", calls_of(view, cost, end));
		}
		cost += put_line(view, cost, end, out);
	}
}

static void put_head(const struct view *view, FILE *out)
{
	const struct profile *profile = view->profile;
	char word[TEXT_MAX];

	fputs("# callgrind format\nversion: 1\ncreator: Assay gprof\n", out);
	if (view->is_guessed)
		fputs("desc: Callers: guessed from numbers of calls\n", out);
	for (unsigned i = 0; i < PROFILE_VALUES; i++)
		if (view_value(profile, i, word, sizeof word) != NULL)
			fprintf(out, "desc: Recording: %s\n", word);
	fprintf(out, "cmd: %s\npositions: line\nevents:", view->program_path);
	for (size_t i = 0; i < profile->n_flavors; i++)
		fprintf(out, " %s", profile->flavors[i].name);
	fputs("\nsummary:", out);
	for (size_t i = 0; i < profile->n_flavors; i++)
		fprintf(out, " %" PRIu64, view_total(view, i));
	putc('\n', out);
}

void view_write_callgrind(const struct view *view, FILE *out)
{
	bool *is_named = allocate(view->n_functions + 1, sizeof *is_named);
	struct costs costs = {0};

	for (size_t i = 0; i < view->n_stacks; i++)
		add_stack(&costs, view, &view->stacks[i]);
	sort(costs.items, costs.n, sizeof *costs.items, compare);
	put_head(view, out);
	put_costs(view, &costs, is_named, out);
	free(costs.items);
	free(is_named);
}
