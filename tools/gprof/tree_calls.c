/* SPDX-License-Identifier: MIT */
/*
 * A call tree out of counted calls.  See tree.h.
 *
 * A cycle is one place of the tree.  What is less than half a sample is left out: all that is on
 * one level adds up to no more than all samples, so that the tree stays small however many paths
 * there are.
 */
#include <stdlib.h>

#include "tree.h"
#include "util.h"

#define SAMPLE_LEAST 0.5
#define ROUNDING     1e-9

static double tree_calls_component_total(const struct tree *tree, uint32_t component)
{
	const struct graph *graph = tree->report->graph;
	size_t at = (size_t)component * graph->n_flavors + tree->flavor;

	return graph->own[at] + graph->inherited[at];
}

static double tree_calls_amount(const struct tree *tree, const struct arc *arc)
{
	struct amounts amounts = arc_amounts(tree->report->graph, arc, tree->flavor);

	return amounts.self + amounts.child;
}

static uint32_t tree_calls_add_component(struct tree *tree, uint32_t parent, uint32_t component,
					 double amount)
{
	const struct graph *graph = tree->report->graph;
	const struct component *at = &graph->components[component];
	double total = tree_calls_component_total(tree, component);
	double own = graph->own[(size_t)component * graph->n_flavors + tree->flavor];
	uint32_t branch = tree_child(
		tree, parent, at->cycle > 0 ? component : graph->members[at->first], at->cycle > 0);

	tree->items[branch].total += amount;
	tree->items[branch].self += own * amount / total;
	return branch;
}

static void tree_calls_add_below(struct tree *tree, uint32_t branch, uint32_t component,
				 double amount, unsigned depth);

static void tree_calls_add_arc(struct tree *tree, uint32_t branch, const struct arc *arc,
			       double amount, unsigned depth)
{
	uint32_t to = tree->report->graph->nodes[arc->to].component;

	if (amount < SAMPLE_LEAST || amount < tree->least)
		return;
	tree_calls_add_below(tree, tree_calls_add_component(tree, branch, to, amount), to, amount,
			     depth + 1);
}

static void tree_calls_add_below(struct tree *tree, uint32_t branch, uint32_t component,
				 double amount, unsigned depth)
{
	const struct graph *graph = tree->report->graph;
	double part = amount / tree_calls_component_total(tree, component);

	if (depth > TREE_DEPTH_MOST)
		return;
	for (uint32_t i = graph->components[component].first;
	     i < graph->components[component + 1].first; i++) {
		const struct node *node = &graph->nodes[graph->members[i]];

		for (uint32_t j = node[0].first_out; j < node[1].first_out; j++)
			if (!graph_same_cycle(graph, &graph->arcs[j]))
				tree_calls_add_arc(tree, branch, &graph->arcs[j],
						   tree_calls_amount(tree, &graph->arcs[j]) * part,
						   depth);
	}
}

/* What of a component is nobody's who called it. */
static double *tree_calls_count_roots(const struct tree *tree)
{
	const struct graph *graph = tree->report->graph;
	double *rests = allocate(graph->n_components, sizeof(*rests));

	for (uint32_t i = 0; i < graph->n_components; i++)
		rests[i] = tree_calls_component_total(tree, i);
	for (uint32_t i = 0; i < graph->n_arcs; i++)
		if (!graph_same_cycle(graph, &graph->arcs[i]))
			rests[graph->nodes[graph->arcs[i].to].component] -=
				tree_calls_amount(tree, &graph->arcs[i]);
	return rests;
}

void tree_from_calls(struct tree *tree)
{
	const struct graph *graph = tree->report->graph;
	double *rests = tree_calls_count_roots(tree);

	tree->items[0].total = graph->graph_total[tree->flavor];
	for (uint32_t i = 0; i < graph->n_components; i++)
		if (rests[i] > ROUNDING * tree_calls_component_total(tree, i))
			tree_calls_add_below(tree, tree_calls_add_component(tree, 0, i, rests[i]),
					     i, rests[i], 1);
	free(rests);
}
