/* SPDX-License-Identifier: MIT */
/*
 * Which functions have entries in the graph (-e, -f), and how much of their time counts (-E, -F);
 * and the same as GNU's gprof has it (-q, -Q; -n, --no-time).
 *
 * Callers first: a function is shown if one of its callers is, or none exists that could decide;
 * and of its time as much counts as those of its calls that came from what counts.  A name that no
 * function has is a mistake, which would not be seen in what is printed.
 *
 * GNU's options differ in what they say of a function that has nothing from its callers: if it is
 * not excluded by its own name it is shown, and counts as a whole.
 */
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "marks.h"
#include "util.h"

/* ---------------- Names ---------------- */

static bool select_is_name(const struct graph *graph, const char *name)
{
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		if (strcmp(graph->nodes[i].name, name) == 0)
			return true;
	return false;
}

static void select_check_names(const struct graph *graph, const char *option,
			       const struct names *names, const char *program)
{
	for (size_t i = 0; i < names->n; i++)
		if (!select_is_name(graph, names->items[i]))
			fail("%s %s: %s has no function of that name", option, names->items[i],
			     program);
}

void select_check(const struct graph *graph, const struct options *options)
{
	select_check_names(graph, "-e", &options->hidden, options->program);
	select_check_names(graph, "-E", &options->left_out, options->program);
	select_check_names(graph, "-f", &options->shown, options->program);
	select_check_names(graph, "-F", &options->counted, options->program);
	select_check_names(graph, "-k", &options->cut_from, options->program);
	select_check_names(graph, "-k", &options->cut_to, options->program);
}

/* ---------------- Entries and time ---------------- */

/* What a component has from its callers. */
struct inheritance {
	bool has_callers;
	bool is_shown;
	double calls;   /* Or for <kernel> samples; */
	double counted; /* those that count. */
};

/* What is known of <kernel> is which samples are whose. */
static double select_weight_of(const struct graph *graph, const struct arc *arc)
{
	double samples = 0;

	if (graph->nodes[arc->to].kind != NODE_KERNEL || graph->kernel == NULL)
		return (double)arc->calls;
	for (unsigned i = 0; i < graph->n_flavors; i++)
		samples += graph->kernel[(size_t)arc->from * graph->n_flavors + i];
	return samples;
}

static struct inheritance select_inherit(const struct graph *graph, uint32_t component)
{
	struct inheritance from = {0};

	for (uint32_t i = graph->components[component].first;
	     i < graph->components[component + 1].first; i++) {
		const struct node *node = &graph->nodes[graph->members[i]];

		for (uint32_t j = node[0].first_in; j < node[1].first_in; j++) {
			const struct arc *arc = &graph->arcs[graph->by_callee[j]];
			const struct node *caller = &graph->nodes[arc->from];

			if (graph_same_cycle(graph, arc))
				continue;
			from.has_callers = true;
			from.is_shown |= !caller->is_hidden;
			from.calls += select_weight_of(graph, arc);
			from.counted += select_weight_of(graph, arc) * caller->fraction;
		}
	}
	return from;
}

static void select_decide(struct node *node, const struct inheritance *from, double fraction,
			  const struct options *options)
{
	bool shows_some = options->shown.n + options->counted.n > 0;

	node->fraction = fraction;
	node->is_hidden = from->has_callers ? !from->is_shown : shows_some;
	if (names_contain(&options->shown, node->name))
		node->is_hidden = false;
	if (names_contain(&options->counted, node->name)) {
		node->is_hidden = false;
		node->fraction = 1;
	}
	if (names_contain(&options->hidden, node->name))
		node->is_hidden = true;
	if (names_contain(&options->left_out, node->name)) {
		node->is_hidden = true;
		node->fraction = 0;
	}
}

static void select_bsd(struct graph *graph, const struct options *options)
{
	for (uint32_t i = graph->n_components; i-- > 0;) {
		const struct component *component = &graph->components[i];
		struct inheritance from = select_inherit(graph, i);
		double fraction = options->counted.n > 0 ? 0 : 1;

		if (from.calls > 0)
			fraction = from.counted / from.calls;
		for (uint32_t j = component[0].first; j < component[1].first; j++)
			select_decide(&graph->nodes[graph->members[j]], &from, fraction, options);
	}
}

/* ---------------- As GNU's has it ---------------- */

/* By node; NULL: no names. */
struct marked {
	bool *with;
	bool *without;
};

struct gnus {
	struct marked shown;
	struct marked timed;
};

static bool select_is_in(const bool *marks, uint32_t node)
{
	return marks != NULL && marks[node];
}

/* With nothing from its callers what is named counts, or all but what is. */
static bool select_begins(const struct marked *marked, uint32_t node)
{
	return marked->with != NULL ? marked->with[node] : !select_is_in(marked->without, node);
}

static bool select_ends(const struct marked *marked, uint32_t node)
{
	return !select_is_in(marked->with, node) && select_is_in(marked->without, node);
}

static void select_gnu_component(struct graph *graph, const struct gnus *gnus, uint32_t index)
{
	const struct component *component = &graph->components[index];
	struct inheritance from = select_inherit(graph, index);
	double fraction = 0;

	if (from.calls > 0)
		fraction = from.counted / from.calls;
	for (uint32_t i = component[0].first; i < component[1].first; i++) {
		uint32_t member = graph->members[i];
		struct node *node = &graph->nodes[member];

		node->is_hidden = from.has_callers && from.is_shown
					  ? select_ends(&gnus->shown, member)
					  : !select_begins(&gnus->shown, member);
		if (fraction == 0)
			node->fraction = select_begins(&gnus->timed, member) ? 1 : 0;
		else
			node->fraction = select_ends(&gnus->timed, member) ? 0 : fraction;
	}
}

static void select_gnu(struct graph *graph, const struct options *options)
{
	struct gnus gnus = {
		.shown = {marks_of_names(graph, options, "-q", &options->graph.with),
			  marks_of_names(graph, options, "-Q", &options->graph.without)},
		.timed = {marks_of_names(graph, options, "-n", &options->timed),
			  marks_of_names(graph, options, "--no-time", &options->untimed)},
	};

	for (uint32_t i = graph->n_components; i-- > 0;)
		select_gnu_component(graph, &gnus, i);
	free(gnus.shown.with);
	free(gnus.shown.without);
	free(gnus.timed.with);
	free(gnus.timed.without);
}

void select_nodes(struct graph *graph, const struct options *options)
{
	if (options->hidden.n + options->left_out.n + options->shown.n + options->counted.n > 0)
		select_bsd(graph, options);
	else if (options->graph.with.n + options->graph.without.n + options->timed.n +
			 options->untimed.n >
		 0)
		select_gnu(graph, options);
}
