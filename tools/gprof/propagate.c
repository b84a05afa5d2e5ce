/* SPDX-License-Identifier: MIT */
/*
 * Passes time up the call graph, callees first.  See graph.h.
 *
 * Functions of whose time nothing counts (-E, --no-time) pass nothing on, neither their own nor
 * what they have from their callees: all that is shown is of the same total.
 */
#include "graph.h"
#include "util.h"

static struct amounts propagate_share_of(const struct graph *graph, const struct arc *arc,
					 unsigned flavor)
{
	uint32_t to = graph->nodes[arc->to].component;
	size_t at = (size_t)to * graph->n_flavors + flavor;
	double share;

	if (graph->stacks != NULL)
		return graph->stacks[(size_t)(arc - graph->arcs) * graph->n_flavors + flavor];
	if (graph_same_cycle(graph, arc))
		return (struct amounts){0};
	if (graph->nodes[arc->to].kind == NODE_KERNEL)
		return (struct amounts){
			.self = graph->kernel[(size_t)arc->from * graph->n_flavors + flavor],
		};
	if (arc->calls == 0)
		return (struct amounts){0};
	share = (double)arc->calls / (double)graph->components[to].calls;
	return (struct amounts){graph->own[at] * share, graph->inherited[at] * share};
}

struct amounts arc_amounts(const struct graph *graph, const struct arc *arc, unsigned flavor)
{
	struct amounts amounts = propagate_share_of(graph, arc, flavor);

	amounts.self *= graph->nodes[arc->from].fraction;
	amounts.child *= graph->nodes[arc->from].fraction;
	return amounts;
}

static void propagate_sum_own(struct graph *graph, uint32_t component, unsigned flavor)
{
	for (uint32_t i = graph->components[component].first;
	     i < graph->components[component + 1].first; i++) {
		uint32_t node = graph->members[i];
		double self = graph->self[(size_t)node * graph->n_flavors + flavor];

		if (graph->nodes[node].is_left_out || graph->nodes[node].fraction == 0)
			continue;
		graph->own[(size_t)component * graph->n_flavors + flavor] += self;
		graph->graph_total[flavor] += self * graph->nodes[node].fraction;
	}
}

/* The only caller from outside; NODE_NONE: there are several, or none. */
static uint32_t propagate_only_caller(const struct graph *graph, uint32_t component)
{
	uint32_t caller = NODE_NONE;

	for (uint32_t member = graph->components[component].first;
	     member < graph->components[component + 1].first; member++) {
		const struct node *node = &graph->nodes[graph->members[member]];

		for (uint32_t i = node[0].first_in; i < node[1].first_in; i++) {
			const struct arc *arc = &graph->arcs[graph->by_callee[i]];

			if (arc->calls == 0 || graph_same_cycle(graph, arc))
				continue;
			if (caller != NODE_NONE && caller != arc->from)
				return NODE_NONE;
			caller = arc->from;
		}
	}
	return caller;
}

/* Of what is passed up from the component, the part that was divided: here, or below already. */
static double propagate_estimated_part(const struct graph *graph, uint32_t component,
				       unsigned flavor)
{
	size_t at = (size_t)component * graph->n_flavors + flavor;
	double all = graph->own[at] + graph->inherited[at];

	if (graph->components[component].calls == 0 || all <= 0)
		return 0;
	if (propagate_only_caller(graph, component) == NODE_NONE)
		return 1;
	return graph->estimated[at] / all;
}

static void propagate_pass_up(struct graph *graph, uint32_t node, unsigned flavor, double estimated)
{
	for (uint32_t i = graph->nodes[node].first_in; i < graph->nodes[node + 1].first_in; i++) {
		const struct arc *arc = &graph->arcs[graph->by_callee[i]];
		struct amounts amounts = propagate_share_of(graph, arc, flavor);
		double sum = amounts.self + amounts.child;
		size_t caller = graph->nodes[arc->from].component;

		graph->child[(size_t)arc->from * graph->n_flavors + flavor] += sum;
		if (graph->nodes[arc->from].fraction == 0)
			continue;
		graph->inherited[caller * graph->n_flavors + flavor] += sum;
		graph->estimated[caller * graph->n_flavors + flavor] += sum * estimated;
	}
}

static void propagate_pass_component(struct graph *graph, uint32_t component, unsigned flavor)
{
	double estimated;

	propagate_sum_own(graph, component, flavor);
	estimated = propagate_estimated_part(graph, component, flavor);
	for (uint32_t member = graph->components[component].first;
	     member < graph->components[component + 1].first; member++)
		propagate_pass_up(graph, graph->members[member], flavor, estimated);
	if (graph->components[component].calls == 0)
		graph->divided[flavor] +=
			graph->estimated[(size_t)component * graph->n_flavors + flavor];
}

void propagate(struct graph *graph)
{
	size_t n = graph->n_flavors;

	graph->child = allocate(graph->n_nodes * n, sizeof(double));
	graph->own = allocate(graph->n_components * n, sizeof(double));
	graph->inherited = allocate(graph->n_components * n, sizeof(double));
	graph->estimated = allocate(graph->n_components * n, sizeof(double));
	for (unsigned flavor = 0; flavor < n; flavor++)
		for (uint32_t i = 0; i < graph->n_components; i++)
			propagate_pass_component(graph, i, flavor);
}
