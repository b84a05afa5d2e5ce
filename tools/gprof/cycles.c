/* SPDX-License-Identifier: MIT */
/*
 * Finds the cycles of the call graph: Tarjan's strongly connected components.
 *
 * Without recursion, since a graph may be as deep as it has functions.  Components come out callees
 * first, which is the order that propagation needs.
 */
#include <stdlib.h>

#include "graph.h"
#include "util.h"

struct visit {
	uint32_t node;
	uint32_t next; /* Arc to follow. */
};

struct search {
	struct graph *graph;
	uint32_t *order; /* When each node was reached, from 1; 0: not yet. */
	uint32_t *lowest;
	uint32_t reached;
	struct visit *path;
	uint32_t depth;
	uint32_t *open; /* Nodes whose component is not known yet. */
	uint32_t n_open;
	uint32_t n_members;
};

static void cycles_enter(struct search *search, uint32_t node)
{
	search->order[node] = search->lowest[node] = ++search->reached;
	search->open[search->n_open++] = node;
	search->path[search->depth++] = (struct visit){node, search->graph->nodes[node].first_out};
}

static void cycles_close_component(struct search *search, uint32_t root)
{
	struct graph *graph = search->graph;
	struct component *component = &graph->components[graph->n_components];
	uint32_t node;

	*component = (struct component){.first = search->n_members};
	do {
		node = search->open[--search->n_open];
		graph->nodes[node].component = graph->n_components;
		graph->members[search->n_members++] = node;
	} while (node != root);
	if (search->n_members - component->first > 1)
		component->cycle = ++graph->n_cycles;
	graph->n_components++;
}

static void cycles_leave(struct search *search, uint32_t node)
{
	search->depth--;
	if (search->depth > 0) {
		uint32_t caller = search->path[search->depth - 1].node;

		if (search->lowest[node] < search->lowest[caller])
			search->lowest[caller] = search->lowest[node];
	}
	if (search->lowest[node] == search->order[node])
		cycles_close_component(search, node);
}

/* One step from the node at the end of the path. */
static void cycles_step(struct search *search)
{
	struct visit *visit = &search->path[search->depth - 1];
	const struct graph *graph = search->graph;
	uint32_t callee;

	if (visit->next == graph->nodes[visit->node + 1].first_out) {
		cycles_leave(search, visit->node);
		return;
	}
	callee = graph->arcs[visit->next++].to;
	if (search->order[callee] == 0)
		cycles_enter(search, callee);
	else if (graph->nodes[callee].component == NODE_NONE &&
		 search->order[callee] < search->lowest[visit->node])
		search->lowest[visit->node] = search->order[callee];
}

/* Calls of components from outside and inside. */
static void cycles_count_calls(struct graph *graph)
{
	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		const struct arc *arc = &graph->arcs[i];
		struct component *component = &graph->components[graph->nodes[arc->to].component];

		if (!graph_same_cycle(graph, arc))
			component->calls += arc->calls;
		else if (arc->from != arc->to)
			component->inner += arc->calls;
	}
}

static void cycles_make_room(struct graph *graph)
{
	size_t n = graph->n_nodes;

	graph->components = reallocate(graph->components, n + 1, sizeof(*graph->components));
	graph->members = reallocate(graph->members, n, sizeof(*graph->members));
	graph->n_components = graph->n_cycles = 0;
}

void cycles_ignore(struct graph *graph)
{
	cycles_make_room(graph);
	for (uint32_t i = 0; i <= graph->n_nodes; i++)
		graph->components[i] = (struct component){.first = i};
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		graph->nodes[i].component = graph->members[i] = i;
	graph->n_components = graph->n_nodes;
}

void cycles_find(struct graph *graph)
{
	size_t n = graph->n_nodes;
	struct search search = {
		.graph = graph,
		.order = allocate(n, sizeof(*search.order)),
		.lowest = allocate(n, sizeof(*search.lowest)),
		.path = allocate(n, sizeof(*search.path)),
		.open = allocate(n, sizeof(*search.open)),
	};

	cycles_make_room(graph);
	for (uint32_t i = 0; i < n; i++)
		graph->nodes[i].component = NODE_NONE;
	for (uint32_t i = 0; i < n; i++) {
		if (search.order[i] == 0)
			cycles_enter(&search, i);
		while (search.depth > 0)
			cycles_step(&search);
	}
	graph->components[graph->n_components] = (struct component){.first = search.n_members};
	cycles_count_calls(graph);
	free(search.order);
	free(search.lowest);
	free(search.path);
	free(search.open);
}
