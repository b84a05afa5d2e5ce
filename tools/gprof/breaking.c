/* SPDX-License-Identifier: MIT */
/*
 * Takes arcs out of large cycles (-C), since time is not divided among a cycle's members.
 *
 * Which are the fewest arcs that will do is a hard problem: all sets of one arc are tried, of two,
 * and so on, as long as that takes not too many trials; from then on the one arc is taken that
 * leaves the smallest cycle, and among such the one with the fewest calls.  A cycle of very many
 * arcs is split (splitting.c).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "breaking.h"
#include "util.h"

#define ARCS_MAX 200u     /* More are very many. */
#define WORK_MAX 1000000u /* Arcs that the trials of sets look at. */

static uint32_t breaking_size_of(const struct graph *graph, uint32_t component)
{
	return graph->components[component + 1].first - graph->components[component].first;
}

/* ---------------- Trials ---------------- */

/* The size of the largest cycle without the arcs that are out. */
static uint32_t breaking_largest_left(struct trial *trial)
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
		if (breaking_size_of(graph, i) > largest)
			largest = breaking_size_of(graph, i);
	if (trial->left > 0)
		trial->left--;
	return largest;
}

/* Whether `n` more arcs, from the index on, will do; they are then out. */
static bool breaking_try_sets(struct trial *trial, uint32_t from, unsigned n)
{
	if (n == 0)
		return breaking_largest_left(trial) < trial->size;
	for (uint32_t i = from; i < trial->n_arcs && trial->left > 0; i++) {
		trial->is_out[i] = true;
		if (breaking_try_sets(trial, i + 1, n - 1))
			return true;
		trial->is_out[i] = false;
	}
	return false;
}

static void breaking_take_best(struct trial *trial)
{
	uint32_t best = NODE_NONE;
	uint32_t best_size = 0;

	for (uint32_t i = 0; i < trial->n_arcs; i++) {
		uint32_t size;

		trial->is_out[i] = true;
		size = breaking_largest_left(trial);
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

/* `numbers` has room for each node of the graph. */
static void breaking_trial_begin(struct trial *trial, const struct graph *graph, uint32_t component,
				 uint32_t *numbers)
{
	const uint32_t *members = &graph->members[graph->components[component].first];
	uint32_t n = breaking_size_of(graph, component);
	size_t most = 0;

	trial->graph = (struct graph){.n_nodes = n};
	trial->graph.nodes = allocate((size_t)n + 1, sizeof(struct node));
	for (uint32_t i = 0; i < n; i++) {
		numbers[members[i]] = i;
		most += graph->nodes[members[i] + 1].first_out - graph->nodes[members[i]].first_out;
	}
	trial->arcs = allocate(most, sizeof(*trial->arcs));
	trial->places = allocate(most, sizeof(*trial->places));
	for (uint32_t i = 0; i < n; i++) {
		const struct node *node = &graph->nodes[members[i]];

		for (uint32_t j = node[0].first_out; j < node[1].first_out; j++) {
			const struct arc *arc = &graph->arcs[j];

			if (graph->nodes[arc->to].component != component || arc->from == arc->to)
				continue;
			trial->places[trial->n_arcs] = j;
			trial->arcs[trial->n_arcs++] =
				(struct arc){numbers[arc->from], numbers[arc->to], arc->calls};
		}
	}
	trial->graph.arcs = allocate(trial->n_arcs, sizeof(*trial->arcs));
	trial->is_out = allocate(trial->n_arcs, sizeof(*trial->is_out));
}

static void breaking_trial_end(struct trial *trial)
{
	graph_free(&trial->graph);
	free(trial->places);
	free(trial->arcs);
	free(trial->is_out);
}

/* Marks the arcs of one cycle that shall go. */
static void breaking_break_one(const struct graph *graph, uint32_t component, uint32_t size,
			       uint32_t *numbers, bool *is_out)
{
	struct trial trial = {.size = size};
	bool is_done = false;

	breaking_trial_begin(&trial, graph, component, numbers);
	trial.left = trial.n_arcs > ARCS_MAX ? 0 : WORK_MAX / trial.n_arcs;
	for (unsigned n = 1; !is_done && trial.left > 0 && n <= trial.n_arcs; n++)
		is_done = breaking_try_sets(&trial, 0, n);
	if (trial.n_arcs > ARCS_MAX)
		breaking_split(&trial);
	else if (!is_done)
		breaking_take_best(&trial);
	for (uint32_t i = 0; i < trial.n_arcs; i++)
		is_out[trial.places[i]] = trial.is_out[i];
	breaking_trial_end(&trial);
}

/* ---------------- All of them ---------------- */

static void breaking_take_out(struct graph *graph, const bool *is_out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		const struct arc arc = graph->arcs[i];

		if (is_out[i])
			printf("-C: arc taken out: %s calls %s (%" PRIu64 ")\n",
			       graph->nodes[arc.from].name, graph->nodes[arc.to].name, arc.calls);
		else
			graph->arcs[n++] = arc;
	}
	graph->n_arcs = n;
	graph_index_arcs(graph);
}

/* False if there was no cycle that large any more. */
static bool breaking_break_all(struct graph *graph, uint32_t size, uint32_t *numbers)
{
	bool *is_out = allocate(graph->n_arcs, sizeof(*is_out));
	bool is_any = false;

	for (uint32_t i = 0; i < graph->n_components; i++) {
		if (breaking_size_of(graph, i) < size)
			continue;
		breaking_break_one(graph, i, size, numbers, is_out);
		is_any = true;
	}
	if (is_any) {
		breaking_take_out(graph, is_out);
		cycles_find(graph);
	}
	free(is_out);
	return is_any;
}

void cycles_break(struct graph *graph, unsigned size)
{
	uint32_t *numbers = allocate(graph->n_nodes, sizeof(*numbers));

	while (breaking_break_all(graph, size < 2 ? 2 : size, numbers))
		;
	free(numbers);
}
