/* SPDX-License-Identifier: MIT */
/*
 * Takes arcs out of large cycles (-C), since time is not divided among a cycle's members.
 *
 * Which are the fewest arcs that will do is a hard problem: all sets of one arc are tried, of two,
 * and so on, as long as that takes not too many trials; from then on the one arc is taken that
 * leaves the smallest cycle, and among such the one with the fewest calls.  In a cycle of very many
 * arcs just the number of calls decides.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "util.h"

#define TRIALS_MAX 20000u
#define ARCS_MAX   1000u

/* One cycle as a graph of its own, some of whose arcs are out for a trial. */
struct trial {
	struct graph graph;
	uint32_t *names; /* Its nodes in the whole graph. */
	struct arc *arcs;
	uint32_t n_arcs;
	bool *is_out;
	uint32_t size; /* A cycle must have fewer members. */
	uint32_t left; /* Trials. */
};

static uint32_t size_of(const struct graph *graph, uint32_t component)
{
	return graph->components[component + 1].first - graph->components[component].first;
}

/* The largest component, NODE_NONE if none has `size` members. */
static uint32_t find_large(const struct graph *graph, uint32_t size)
{
	uint32_t found = NODE_NONE;

	for (uint32_t i = 0; i < graph->n_components; i++)
		if (size_of(graph, i) >= size &&
		    (found == NODE_NONE || size_of(graph, i) > size_of(graph, found)))
			found = i;
	return found;
}

/* ---------------- Trials ---------------- */

/* The size of the largest cycle without the arcs that are out. */
static uint32_t largest_left(struct trial *trial)
{
	struct graph *graph = &trial->graph;
	uint32_t largest = 0;

	graph->n_arcs = 0;
	for (uint32_t i = 0; i < trial->n_arcs; i++)
		if (!trial->is_out[i])
			graph->arcs[graph->n_arcs++] = trial->arcs[i];
	graph_index_arcs(graph);
	cycles_find(graph);
	for (uint32_t i = 0; i < graph->n_components; i++)
		if (size_of(graph, i) > largest)
			largest = size_of(graph, i);
	if (trial->left > 0)
		trial->left--;
	return largest;
}

/* Whether `n` more arcs, from the index on, will do; they are then out. */
static bool try_sets(struct trial *trial, uint32_t from, unsigned n)
{
	if (n == 0)
		return largest_left(trial) < trial->size;
	for (uint32_t i = from; i < trial->n_arcs && trial->left > 0; i++) {
		trial->is_out[i] = true;
		if (try_sets(trial, i + 1, n - 1))
			return true;
		trial->is_out[i] = false;
	}
	return false;
}

static void take_best(struct trial *trial)
{
	uint32_t best = NODE_NONE;
	uint32_t best_size = 0;

	for (uint32_t i = 0; i < trial->n_arcs; i++) {
		uint32_t size;

		trial->is_out[i] = true;
		size = trial->n_arcs > ARCS_MAX ? 0 : largest_left(trial);
		trial->is_out[i] = false;
		if (best == NODE_NONE || size < best_size ||
		    (size == best_size && trial->arcs[i].calls < trial->arcs[best].calls)) {
			best = i;
			best_size = size;
		}
	}
	trial->is_out[best] = true;
}

/* ---------------- One cycle ---------------- */

static void trial_begin(struct trial *trial, const struct graph *graph, uint32_t component)
{
	uint32_t n = size_of(graph, component);
	uint32_t *numbers = allocate(graph->n_nodes, sizeof(*numbers));

	trial->graph = (struct graph){.n_nodes = n};
	trial->graph.nodes = allocate((size_t)n + 1, sizeof(struct node));
	trial->names = allocate(n, sizeof(*trial->names));
	for (uint32_t i = 0; i < n; i++) {
		trial->names[i] = graph->members[graph->components[component].first + i];
		numbers[trial->names[i]] = i;
	}
	trial->arcs = allocate(graph->n_arcs, sizeof(*trial->arcs));
	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		const struct arc *arc = &graph->arcs[i];

		if (graph->nodes[arc->from].component == component &&
		    graph->nodes[arc->to].component == component && arc->from != arc->to)
			trial->arcs[trial->n_arcs++] =
				(struct arc){numbers[arc->from], numbers[arc->to], arc->calls};
	}
	trial->graph.arcs = allocate(trial->n_arcs, sizeof(*trial->arcs));
	trial->is_out = allocate(trial->n_arcs, sizeof(*trial->is_out));
	free(numbers);
}

static void trial_end(struct trial *trial)
{
	graph_free(&trial->graph);
	free(trial->names);
	free(trial->arcs);
	free(trial->is_out);
}

static void take_out(struct graph *graph, const struct trial *trial, const struct arc *inner)
{
	uint32_t from = trial->names[inner->from];
	uint32_t to = trial->names[inner->to];
	uint32_t i = graph->nodes[from].first_out;

	while (graph->arcs[i].from != from || graph->arcs[i].to != to)
		i++;
	printf("-C: arc taken out: %s calls %s (%" PRIu64 ")\n", graph->nodes[from].name,
	       graph->nodes[to].name, inner->calls);
	graph->n_arcs--;
	memmove(&graph->arcs[i], &graph->arcs[i + 1], (graph->n_arcs - i) * sizeof(*graph->arcs));
	graph_index_arcs(graph);
}

static void break_one(struct graph *graph, uint32_t component, uint32_t size)
{
	struct trial trial = {.size = size, .left = TRIALS_MAX};
	bool is_done = false;

	trial_begin(&trial, graph, component);
	if (trial.n_arcs > ARCS_MAX)
		trial.left = 0;
	for (unsigned n = 1; !is_done && trial.left > 0 && n <= trial.n_arcs; n++)
		is_done = try_sets(&trial, 0, n);
	if (!is_done)
		take_best(&trial);
	for (uint32_t i = 0; i < trial.n_arcs; i++)
		if (trial.is_out[i])
			take_out(graph, &trial, &trial.arcs[i]);
	trial_end(&trial);
	cycles_find(graph);
}

void cycles_break(struct graph *graph, unsigned size)
{
	uint32_t least = size < 2 ? 2 : size;
	uint32_t large;

	while ((large = find_large(graph, least)) != NODE_NONE)
		break_one(graph, large, least);
}
