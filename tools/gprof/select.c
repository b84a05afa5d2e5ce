/* SPDX-License-Identifier: MIT */
/*
 * Which functions have entries in the graph (-e, -f), and how much of their time counts (-E, -F).
 *
 * Callers first: a function is shown if one of its callers is, or none exists that could decide;
 * and of its time as much counts as those of its calls that came from what counts.  A name that no
 * function has is a mistake, which would not be seen in what is printed.
 */
#include <string.h>

#include "graph.h"
#include "util.h"

/* ---------------- Names ---------------- */

static bool is_name(const struct graph *graph, const char *name)
{
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		if (strcmp(graph->nodes[i].name, name) == 0)
			return true;
	return false;
}

static void check(const struct graph *graph, const char *option, const struct names *names,
		  const char *program)
{
	for (size_t i = 0; i < names->n; i++)
		if (!is_name(graph, names->items[i]))
			fail("%s %s: %s has no function of that name", option, names->items[i],
			     program);
}

void select_check(const struct graph *graph, const struct options *options)
{
	check(graph, "-e", &options->hidden, options->program);
	check(graph, "-E", &options->left_out, options->program);
	check(graph, "-f", &options->shown, options->program);
	check(graph, "-F", &options->counted, options->program);
	check(graph, "-k", &options->cut_from, options->program);
	check(graph, "-k", &options->cut_to, options->program);
}

/* ---------------- Entries and time ---------------- */

/* What a component has from its callers. */
struct inheritance {
	bool has_callers;
	bool is_shown;
	double counted; /* Calls that count. */
};

static struct inheritance inherit(const struct graph *graph, uint32_t component)
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
			from.counted += (double)arc->calls * caller->fraction;
		}
	}
	return from;
}

static void decide(struct node *node, const struct inheritance *from, double fraction,
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

void select_nodes(struct graph *graph, const struct options *options)
{
	if (options->hidden.n + options->left_out.n + options->shown.n + options->counted.n == 0)
		return;
	for (uint32_t i = graph->n_components; i-- > 0;) {
		const struct component *component = &graph->components[i];
		struct inheritance from = inherit(graph, i);
		double fraction = options->counted.n > 0 ? 0 : 1;

		if (component->calls > 0)
			fraction = from.counted / (double)component->calls;
		for (uint32_t j = component[0].first; j < component[1].first; j++)
			decide(&graph->nodes[graph->members[j]], &from, fraction, options);
	}
}
