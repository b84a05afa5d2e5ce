/* SPDX-License-Identifier: MIT */
/* --tree: a call tree, as wide as the terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "tree.h"
#include "util.h"

#define WIDTH       100u /* Of what is no terminal. */
#define WIDTH_LEAST 50u
#define AMOUNTS     25u /* Columns before the tree. */
#define STEP        3u  /* Columns of a level. */
#define NAME_LEAST  20u /* Columns for a name at least, however deep it is. */
#define NAME_MOST   120u

struct strokes {
	const char *more; /* Beside a branch that is not its parent's last; */
	const char *last; /* and the last. */
	const char *pass; /* Past the children of one that is not the last. */
};

static const struct strokes ascii = {"|- ", "`- ", "|  "};
static const struct strokes utf8 = {"\u251c\u2500 ", "\u2514\u2500 ", "\u2502  "};

struct printer {
	const struct tree *tree;
	const struct strokes *strokes;
	unsigned width;
	unsigned depth_most;
	bool is_last[TREE_DEPTH_MOST + 2]; /* By level. */
};

/* ---------------- The tree ---------------- */

uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t id, bool is_cycle)
{
	uint32_t child = tree->items[parent].child;

	for (; child != TREE_NONE; child = tree->items[child].next)
		if (tree->items[child].id == id && tree->items[child].is_cycle == is_cycle)
			return child;
	tree->items = grow(tree->items, tree->n, &tree->room, sizeof(*tree->items));
	tree->items[tree->n] = (struct branch){
		.id = id,
		.is_cycle = is_cycle,
		.child = TREE_NONE,
		.next = tree->items[parent].child,
	};
	tree->items[parent].child = tree->n;
	return tree->n++;
}

static void tree_begin(struct tree *tree, const struct report *report, unsigned flavor)
{
	double total = report->graph->graph_total[flavor];

	*tree = (struct tree){.report = report, .flavor = flavor};
	tree->least = total * report->options->least_share / 100;
	tree->items = grow(NULL, 0, &tree->room, sizeof(*tree->items));
	tree->items[tree->n++] = (struct branch){.child = TREE_NONE, .next = TREE_NONE};
	if (report->graph->stacks != NULL)
		tree_from_stacks(tree);
	else
		tree_from_calls(tree);
}

/* ---------------- Where it is printed ---------------- */

static bool tree_is_utf8(void)
{
	const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *locale = NULL;

	for (unsigned i = 0; i < 3 && (locale == NULL || *locale == '\0'); i++)
		locale = getenv(variables[i]);
	if (locale == NULL || strchr(locale, '.') == NULL)
		return false;
	locale = strchr(locale, '.') + 1;
	return strncasecmp(locale, "UTF-8", 5) == 0 || strncasecmp(locale, "UTF8", 4) == 0;
}

static unsigned tree_width_of(const struct options *options)
{
	unsigned width = options->width;

	if (width == 0 && isatty(STDOUT_FILENO))
		width = terminal_width();
	if (width == 0)
		width = WIDTH;
	return width < WIDTH_LEAST ? WIDTH_LEAST : width;
}

/* ---------------- Lines ---------------- */

static void tree_print_amounts(const struct printer *printer, double total, double self)
{
	const struct report *report = printer->tree->report;
	struct scale scale = scale_of(report->choice, printer->tree->flavor);
	double all = printer->tree->items[0].total;

	text_fixed(report->text, 100 * total / all, 1, 6);
	text_fixed(report->text, 100 * self / all, 1, 7);
	text_fixed(report->text, total * scale.worth, scale.decimals, 10);
	text_blank(report->text, 2);
}

/*
 * A long name is cut; of a very deep one the levels nearest to it are drawn, behind the number of
 * those that are not.
 */
static void tree_print_place(const struct printer *printer, unsigned depth, const char *name)
{
	struct text *text = printer->tree->report->text;
	unsigned room = printer->width - AMOUNTS;
	unsigned levels = (room - NAME_LEAST) / STEP;
	unsigned from = depth - 1 > levels ? depth - 1 - levels : 0;
	char cut[NAME_MOST + 1], above[16] = "";

	if (from > 0)
		snprintf(above, sizeof(above), ".%u ", from);
	text_string(text, above);
	for (unsigned i = from + 1; i < depth; i++) {
		if (i + 1 == depth)
			text_string(text, printer->is_last[depth] ? printer->strokes->last
								  : printer->strokes->more);
		else
			text_string(text, printer->is_last[i + 1] ? "   " : printer->strokes->pass);
	}
	room -= (depth - 1 - from) * STEP + (unsigned)strlen(above);
	room = room > NAME_MOST ? NAME_MOST : room;
	if (strlen(name) > room)
		snprintf(cut, sizeof(cut), "%.*s...", (int)room - 3, name);
	text_string(text, strlen(name) > room ? cut : name);
	text_end_line(text);
}

static void tree_name_cycle(const struct graph *graph, uint32_t index, char *name, size_t size)
{
	const struct component *component = &graph->components[index];
	size_t used = (size_t)snprintf(name, size, "<cycle %u>", (unsigned)component->cycle);

	for (uint32_t i = component[0].first; i < component[1].first && used < size; i++)
		used += (size_t)snprintf(name + used, size - used, " %s",
					 graph->nodes[graph->members[i]].name);
}

static void print_branch(const struct printer *printer, const struct branch *branch, unsigned depth)
{
	const struct graph *graph = printer->tree->report->graph;
	char name[NAME_MOST + 8];

	if (branch->is_cycle)
		tree_name_cycle(graph, branch->id, name, sizeof(name));
	else
		snprintf(name, sizeof(name), "%s%s", branch->is_again ? "^" : "",
			 graph->nodes[branch->id].name);
	tree_print_amounts(printer, branch->total, branch->self);
	tree_print_place(printer, depth, name);
}

/* ---------------- Branches ---------------- */

static const struct tree *sorted;

static int tree_compare(const void *first, const void *second)
{
	const struct branch *one = &sorted->items[*(const uint32_t *)first];
	const struct branch *other = &sorted->items[*(const uint32_t *)second];

	if (one->total != other->total)
		return one->total > other->total ? -1 : 1;
	return (one->id > other->id) - (one->id < other->id);
}

/* Those that are shown, the largest first; and what the others have together. */
static uint32_t *tree_choose(const struct tree *tree, const struct branch *parent, size_t *n,
			     double *rest)
{
	uint32_t *shown = NULL;
	size_t room = 0;

	*n = 0;
	*rest = parent->total - parent->self;
	for (uint32_t i = parent->child; i != TREE_NONE; i = tree->items[i].next) {
		if (tree->items[i].total < tree->least)
			continue;
		shown = grow(shown, *n, &room, sizeof(*shown));
		shown[(*n)++] = i;
		*rest -= tree->items[i].total;
	}
	sorted = tree;
	if (*n > 0)
		sort(shown, *n, sizeof(*shown), tree_compare);
	return shown;
}

static void print_below(struct printer *printer, const struct branch *parent, unsigned depth)
{
	const struct tree *tree = printer->tree;
	bool is_deep = depth > printer->depth_most;
	double rest, rounding = tree->items[0].total * 1e-9;
	size_t n;
	uint32_t *shown = tree_choose(tree, parent, &n, &rest);

	if (is_deep)
		rest = parent->total - parent->self;
	for (size_t i = 0; i < n && !is_deep; i++) {
		printer->is_last[depth] = i + 1 == n && rest <= rounding;
		print_branch(printer, &tree->items[shown[i]], depth);
		print_below(printer, &tree->items[shown[i]], depth + 1);
	}
	free(shown);
	if (rest <= rounding)
		return;
	printer->is_last[depth] = true;
	tree_print_amounts(printer, rest, 0);
	tree_print_place(printer, depth, is_deep ? "(deeper)" : "(others)");
}

static void tree_print_flavor(const struct report *report, unsigned flavor)
{
	struct tree tree;
	struct printer printer = {
		.tree = &tree,
		.strokes = tree_is_utf8() ? &utf8 : &ascii,
		.width = tree_width_of(report->options),
		.depth_most = report->options->tree_depth,
	};

	tree_begin(&tree, report, flavor);
	if (report->choice->n > 1)
		printf("%s:\n", report->choice->flavors[flavor]->name);
	printf("%6s%7s%10s  function\n", "%", "self", unit_of(report->choice, flavor));
	if (tree.items[0].total > 0)
		print_below(&printer, &tree.items[0], 1);
	text_end_line(report->text);
	text_write(report->text);
	free(tree.items);
}

void print_tree(const struct report *report)
{
	printf("Call tree\n\n");
	print_summary(report);
	print_callers_of(report);
	for (unsigned i = 0; i < report->choice->n; i++)
		tree_print_flavor(report, i);
}
