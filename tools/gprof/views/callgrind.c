/* SPDX-License-Identifier: MIT */
/*
 * Callgrind's format, which KCachegrind and callgrind_annotate show: a function's own samples, and
 * for each function that it called what was found in that and all that it called.  Flavors are
 * columns.  Both are told by line of the source, a call at the line that makes it; the line is 0
 * where none is known.
 *
 * How often one function called another is known from gmon.out; what was not counted is the number
 * of samples in which it was seen.  That is never 0, with which callgrind_annotate takes what was
 * called for the caller's own.  A function that calls itself does so only once in a stack.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../util.h"
#include "view_lines.h"

#define SELF 0u

/* Samples of one flavor in a function: its own, or those of what it called. */
struct cost {
	uint32_t function;
	uint32_t callee; /* SELF, or the called function's index plus one. */
	unsigned line;
	uint32_t flavor;
	uint64_t count;
};

/* So often a function called another one at a line, as was counted. */
struct calls {
	uint32_t caller;
	uint32_t callee;
	unsigned line;
	uint64_t count;
};

struct writer {
	const struct view *view;
	FILE *out;
	struct view_lines lines;
	struct calls *calls; /* By caller, callee and line, each once. */
	size_t n_calls;
	bool *is_named; /* By function: it has been written, and has a number. */
};

struct costs {
	struct cost *items;
	size_t n;
	size_t room;
};

static int callgrind_compare(const void *first, const void *second)
{
	const struct cost *one = first, *other = second;

	if (one->function != other->function)
		return one->function < other->function ? -1 : 1;
	if (one->callee != other->callee)
		return one->callee < other->callee ? -1 : 1;
	return (one->line > other->line) - (one->line < other->line);
}

static void callgrind_add(struct costs *costs, struct cost cost)
{
	costs->items = grow(costs->items, costs->n, &costs->room, sizeof *costs->items);
	costs->items[costs->n++] = cost;
}

/* Whether the same call is in the stack further out. */
static bool callgrind_is_repeated(const struct view_frame *frames, uint32_t depth, uint32_t at)
{
	for (uint32_t i = at + 1; i + 1 < depth; i++)
		if (frames[i].function == frames[at].function &&
		    frames[i + 1].function == frames[at + 1].function)
			return true;
	return false;
}

static void callgrind_add_stack(struct costs *costs, const struct writer *writer,
				const struct view_stack *stack)
{
	const struct view_frame *frames = writer->view->frames + stack->frames;
	struct cost cost = {.flavor = stack->flavor, .count = stack->count};

	cost.function = frames[0].function;
	cost.line = view_lines_of_frame(&writer->lines, &frames[0]);
	callgrind_add(costs, cost);
	for (uint32_t i = 0; i + 1 < stack->depth; i++) {
		cost.function = frames[i + 1].function;
		cost.callee = frames[i].function + 1;
		cost.line = view_lines_of_frame(&writer->lines, &frames[i + 1]);
		if (frames[i].function != cost.function &&
		    !callgrind_is_repeated(frames, stack->depth, i))
			callgrind_add(costs, cost);
	}
}

/* ---------------- Writing ---------------- */

static const char *callgrind_object_of(const struct view *view, uint32_t function)
{
	const char *object = view_object(view, function);

	return object[0] != '\0' ? object : view->program_path;
}

/* The first time that a name is written it gets a number, which stands for it from then on. */
static void callgrind_put_name(struct writer *writer, const char *key, uint32_t function)
{
	fprintf(writer->out, "%s=(%" PRIu32 ")", key, function + 1);
	if (!writer->is_named[function])
		fprintf(writer->out, " %s", view_name(writer->view, function));
	writer->is_named[function] = true;
	putc('\n', writer->out);
}

/* Where a function is; the keys are for its own lines, or with a `c` for calls of it. */
static void callgrind_put_function(struct writer *writer, const char *const keys[3],
				   uint32_t function)
{
	const char *file = view_lines_file(&writer->lines, function);

	fprintf(writer->out, "%s=%s\n%s=%s\n", keys[0], callgrind_object_of(writer->view, function),
		keys[1], file != NULL ? file : "???");
	callgrind_put_name(writer, keys[2], function);
}

/* One line for all costs of the same place; returns how many those were. */
static size_t callgrind_put_line(const struct writer *writer, const struct cost *first,
				 const struct cost *end)
{
	uint64_t row[PROFILE_FLAVORS] = {0};
	const struct cost *cost = first;

	for (; cost < end && callgrind_compare(first, cost) == 0; cost++)
		row[cost->flavor] += cost->count;
	fprintf(writer->out, "%u", first->line);
	for (size_t i = 0; i < writer->view->profile->n_flavors; i++)
		fprintf(writer->out, " %" PRIu64, row[i]);
	putc('\n', writer->out);
	return (size_t)(cost - first);
}

/* ---------------- Calls ---------------- */

static int callgrind_compare_calls(const void *first, const void *second)
{
	const struct calls *one = first, *other = second;

	if (one->caller != other->caller)
		return one->caller < other->caller ? -1 : 1;
	if (one->callee != other->callee)
		return one->callee < other->callee ? -1 : 1;
	return (one->line > other->line) - (one->line < other->line);
}

static void callgrind_read_calls(struct writer *writer)
{
	const struct view *view = writer->view;
	size_t n = 0;

	writer->calls = allocate(view->n_sites + 1, sizeof *writer->calls);
	for (size_t i = 0; i < view->n_sites; i++) {
		const struct view_site *site = &view->sites[i];
		const struct view_frame frame = {
			.function = site->caller, .is_return = true, .address = site->site};

		writer->calls[i] =
			(struct calls){site->caller, site->callee,
				       view_lines_of_frame(&writer->lines, &frame), site->count};
	}
	sort(writer->calls, view->n_sites, sizeof *writer->calls, callgrind_compare_calls);
	for (size_t i = 0; i < view->n_sites; i++) {
		if (n > 0 && callgrind_compare_calls(&writer->calls[n - 1], &writer->calls[i]) == 0)
			writer->calls[n - 1].count += writer->calls[i].count;
		else
			writer->calls[n++] = writer->calls[i];
	}
	writer->n_calls = n;
}

static uint64_t callgrind_calls_of(const struct writer *writer, const struct cost *first,
				   const struct cost *end)
{
	const struct calls wanted = {first->function, first->callee - 1, first->line, 0};
	const struct calls *found = bsearch(&wanted, writer->calls, writer->n_calls, sizeof wanted,
					    callgrind_compare_calls);
	uint64_t seen = 0;

	if (found != NULL)
		return found->count;
	for (const struct cost *cost = first; cost < end && callgrind_compare(first, cost) == 0;
	     cost++)
		seen += cost->count;
	return seen;
}

static void callgrind_put_costs(struct writer *writer, const struct costs *costs)
{
	static const char *const own[] = {"ob", "fl", "fn"}, *const called[] = {"cob", "cfi",
										"cfn"};
	const struct cost *end = costs->items + costs->n;
	uint32_t function = UINT32_MAX;

	for (const struct cost *cost = costs->items; cost < end;) {
		if (cost->function != function) {
			function = cost->function;
			putc('\n', writer->out);
			callgrind_put_function(writer, own, function);
		}
		if (cost->callee != SELF) {
			callgrind_put_function(writer, called, cost->callee - 1);
			fprintf(writer->out, "calls=%" PRIu64 " %u\n",
				callgrind_calls_of(writer, cost, end),
				view_lines_of_function(&writer->lines, cost->callee - 1));
		}
		cost += callgrind_put_line(writer, cost, end);
	}
}

static void callgrind_put_head(const struct view *view, FILE *out)
{
	const struct profile *profile = view->profile;
	char word[VIEW_WORD_ROOM];

	fputs("# callgrind format\nversion: 1\ncreator: Assay gprof\n", out);
	if (view->is_guessed)
		fputs("desc: Callers: guessed from numbers of calls\n", out);
	for (unsigned i = 0; i < VIEW_WORDS; i++)
		if (view_word(profile, i, word, sizeof word) != NULL)
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
	struct writer writer = {
		.view = view,
		.out = out,
		.is_named = allocate(view->n_functions + 1, sizeof(bool)),
	};
	struct costs costs = {0};

	view_lines_find(&writer.lines, view);
	callgrind_read_calls(&writer);
	for (size_t i = 0; i < view->n_stacks; i++)
		callgrind_add_stack(&costs, &writer, &view->stacks[i]);
	sort(costs.items, costs.n, sizeof *costs.items, callgrind_compare);
	callgrind_put_head(view, out);
	callgrind_put_costs(&writer, &costs);
	free(costs.items);
	free(writer.calls);
	free(writer.is_named);
	view_lines_free(&writer.lines);
}
