/* SPDX-License-Identifier: MIT */
/*
 * Takes arcs out of a cycle of very many arcs (-C).
 *
 * The members get depths, so that few calls lead upward: each in turn goes to where, on average,
 * those want it whom it calls although they are higher, or who call it although they are lower.
 * The cycle is then split at a depth around the middle over which the fewest calls lead upward:
 * these are taken out, and each cycle that is left in a part is split in the same way until it is
 * small enough.  So the cost is that of the arcs, times how often halves can be halved.  What turns
 * out not to close a circle after all is put back, as long as that takes not too long.
 */
#include <stdlib.h>

#include "breaking.h"
#include "util.h"

#define LEVEL        (INT64_C(1) << 20) /* How much lower what is called should be. */
#define SWEEPS_FIRST 256u               /* Over all members, before the first split, */
#define SWEEPS       32u                /* and before the next ones. */
#define WORK_PER_ARC 200u /* Arcs that are looked at to put arcs back, for each that there is. */

/* ---------------- Splitting ---------------- */

struct split {
	struct trial *trial;
	uint32_t *active;  /* Indices of the trial's arcs that are in its graph. */
	int64_t *depths;   /* Of each node: what it calls should have more. */
	uint32_t *ranks;   /* Of a node among its cycle's, by depths. */
	uint32_t *borders; /* Of the cycle of each component: before that rank. */
	int64_t *
		crossing; /* Calls that lead back over each border, of one cycle after the other. */
};

static bool splitting_is_large(const struct split *split, uint32_t component)
{
	const struct component *components = split->trial->graph.components;

	return components[component + 1].first - components[component].first >= split->trial->size;
}

/* What pulls at a node: the depth that it should have for the sake of others, if it has not. */
struct pull {
	int64_t sum;
	int64_t n;
};

static void splitting_settle(struct split *split, uint32_t node)
{
	const struct graph *graph = &split->trial->graph;
	const struct node *at = &graph->nodes[node];
	int64_t depth = split->depths[node];
	struct pull pull = {0};

	for (uint32_t i = at[0].first_out; i < at[1].first_out; i++) {
		int64_t most = split->depths[graph->arcs[i].to] - LEVEL;

		pull.sum += depth > most ? most : 0;
		pull.n += depth > most;
	}
	for (uint32_t i = at[0].first_in; i < at[1].first_in; i++) {
		int64_t least = split->depths[graph->arcs[graph->by_callee[i]].from] + LEVEL;

		pull.sum += depth < least ? least : 0;
		pull.n += depth < least;
	}
	if (pull.n > 0)
		split->depths[node] = pull.sum / pull.n;
}

static void splitting_find_depths(struct split *split, unsigned sweeps)
{
	uint32_t n = split->trial->graph.n_nodes;

	for (unsigned sweep = 0; sweep < sweeps; sweep++)
		for (uint32_t i = 0; i < n; i++)
			splitting_settle(split, sweep % 2 == 0 ? i : n - 1 - i);
}

struct place {
	int64_t depth;
	uint32_t node;
};

static int splitting_compare_places(const void *first, const void *second)
{
	const struct place *one = first;
	const struct place *other = second;

	if (one->depth != other->depth)
		return one->depth < other->depth ? -1 : 1;
	return (one->node > other->node) - (one->node < other->node);
}

/* Ranks in each cycle, by going over all nodes in their order. */
static void splitting_find_ranks(struct split *split)
{
	const struct graph *graph = &split->trial->graph;
	struct place *places = allocate(graph->n_nodes, sizeof(*places));
	uint32_t *used = allocate(graph->n_components, sizeof(*used));

	for (uint32_t i = 0; i < graph->n_nodes; i++)
		places[i] = (struct place){split->depths[i], i};
	sort(places, graph->n_nodes, sizeof(*places), splitting_compare_places);
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		split->ranks[places[i].node] = used[graph->nodes[places[i].node].component]++;
	free(places);
	free(used);
}

/* Each cycle has as many borders as members, from where its members begin. */
static void splitting_count_crossing(struct split *split)
{
	const struct graph *graph = &split->trial->graph;

	for (uint32_t i = 0; i < graph->n_nodes; i++)
		split->crossing[i] = 0;
	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		const struct arc *arc = &graph->arcs[i];
		uint32_t first = graph_component(graph, arc->to)->first;

		if (!graph_same_cycle(graph, arc) ||
		    split->ranks[arc->from] < split->ranks[arc->to])
			continue;
		split->crossing[first + split->ranks[arc->to] + 1]++;
		if (split->ranks[arc->from] + 1 < graph_component(graph, arc->to)[1].first - first)
			split->crossing[first + split->ranks[arc->from] + 1]--;
	}
}

/* The border that the fewest cross, with a quarter of the members on either side. */
static void splitting_choose_borders(struct split *split)
{
	const struct graph *graph = &split->trial->graph;

	for (uint32_t i = 0; i < graph->n_components; i++) {
		uint32_t first = graph->components[i].first;
		uint32_t n = graph->components[i + 1].first - first;
		int64_t crossing = 0, fewest = INT64_MAX;

		for (uint32_t j = 1; j < n; j++) {
			crossing += split->crossing[first + j];
			if (j >= n / 4 && j <= n - n / 4 && crossing < fewest) {
				fewest = crossing;
				split->borders[i] = j;
			}
		}
	}
}

/* Takes out what crosses; keeps what is in one part of a cycle.  False if there is none. */
static bool splitting_cut(struct split *split)
{
	struct trial *trial = split->trial;
	struct graph *graph = &trial->graph;
	uint32_t n = 0;

	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		const struct arc *arc = &graph->arcs[i];
		uint32_t component = graph->nodes[arc->to].component;
		uint32_t border;

		if (!graph_same_cycle(graph, arc) || !splitting_is_large(split, component))
			continue;
		border = split->borders[component];
		if (split->ranks[arc->from] >= border && split->ranks[arc->to] < border)
			trial->is_out[split->active[i]] = true;
		else if ((split->ranks[arc->from] < border) == (split->ranks[arc->to] < border))
			split->active[n++] = split->active[i];
	}
	for (uint32_t i = 0; i < n; i++)
		graph->arcs[i] = trial->arcs[split->active[i]];
	graph->n_arcs = n;
	return n > 0;
}

static void splitting_split_all(struct trial *trial)
{
	struct graph *graph = &trial->graph;
	uint32_t n = graph->n_nodes;
	bool is_first = true;
	struct split split = {
		.trial = trial,
		.active = allocate(trial->n_arcs, sizeof(uint32_t)),
		.depths = allocate(n, sizeof(int64_t)),
		.ranks = allocate(n, sizeof(uint32_t)),
		.borders = allocate(n, sizeof(uint32_t)),
		.crossing = allocate((size_t)n + 1, sizeof(int64_t)),
	};

	for (uint32_t i = 0; i < trial->n_arcs; i++) {
		graph->arcs[i] = trial->arcs[i];
		split.active[i] = i;
	}
	graph->n_arcs = trial->n_arcs;
	do {
		graph_index_arcs(graph);
		cycles_find(graph);
		splitting_find_depths(&split, is_first ? SWEEPS_FIRST : SWEEPS);
		is_first = false;
		splitting_find_ranks(&split);
		splitting_count_crossing(&split);
		splitting_choose_borders(&split);
	} while (splitting_cut(&split));
	free(split.active);
	free(split.depths);
	free(split.ranks);
	free(split.borders);
	free(split.crossing);
}

/* ---------------- Putting back ---------------- */

/* A search from both ends of an arc, a node at a time from either. */
struct search {
	const struct graph *graph;
	const bool *is_out;
	uint32_t *seen[2]; /* By node: the arc, from 1, for which it was reached from that end. */
	uint32_t *queue[2];
	uint32_t taken[2];
	uint32_t n[2];
	uint64_t work; /* That is left. */
};

static bool splitting_reach(struct search *search, unsigned end, uint32_t node, uint32_t number)
{
	if (search->seen[end][node] != number) {
		search->seen[end][node] = number;
		search->queue[end][search->n[end]++] = node;
	}
	return search->seen[!end][node] == number;
}

/* Whether the next node of one end leads to where the other end has come. */
static bool splitting_search_on(struct search *search, unsigned end, uint32_t number)
{
	const struct graph *graph = search->graph;
	uint32_t at = search->queue[end][search->taken[end]++];
	const struct node *node = &graph->nodes[at];
	uint32_t first = end == 0 ? node[0].first_out : node[0].first_in;
	uint32_t last = end == 0 ? node[1].first_out : node[1].first_in;

	for (uint32_t i = first; i < last; i++) {
		uint32_t arc = end == 0 ? i : graph->by_callee[i];
		uint32_t next = end == 0 ? graph->arcs[arc].to : graph->arcs[arc].from;

		search->work -= search->work > 0;
		if (!search->is_out[arc] && splitting_reach(search, end, next, number))
			return true;
	}
	return false;
}

/* Whether the called function leads to the calling one again, or that would take too long. */
static bool splitting_closes_circle(struct search *search, const struct arc *arc, uint32_t number)
{
	for (unsigned end = 0; end < 2; end++)
		search->taken[end] = search->n[end] = 0;
	splitting_reach(search, 0, arc->to, number);
	if (splitting_reach(search, 1, arc->from, number))
		return true;
	while (search->taken[0] < search->n[0] && search->taken[1] < search->n[1]) {
		if (search->work == 0 || splitting_search_on(search, 0, number) ||
		    splitting_search_on(search, 1, number))
			return true;
	}
	return false;
}

struct candidate {
	uint32_t arc;
	uint64_t calls;
};

static int splitting_compare(const void *first, const void *second)
{
	const struct candidate *one = first;
	const struct candidate *other = second;

	if (one->calls != other->calls)
		return one->calls > other->calls ? -1 : 1;
	return (one->arc > other->arc) - (one->arc < other->arc);
}

/* The most frequent calls first. */
static void splitting_put_back(struct trial *trial)
{
	struct graph *graph = &trial->graph;
	struct candidate *candidates = allocate(trial->n_arcs, sizeof(*candidates));
	struct search search = {.graph = graph, .is_out = trial->is_out};
	uint32_t n = 0;

	search.work = (uint64_t)WORK_PER_ARC * trial->n_arcs;
	for (unsigned end = 0; end < 2; end++) {
		search.seen[end] = allocate(graph->n_nodes, sizeof(uint32_t));
		search.queue[end] = allocate(graph->n_nodes, sizeof(uint32_t));
	}
	for (uint32_t i = 0; i < trial->n_arcs; i++) {
		graph->arcs[i] = trial->arcs[i];
		if (trial->is_out[i])
			candidates[n++] = (struct candidate){i, trial->arcs[i].calls};
	}
	graph->n_arcs = trial->n_arcs;
	graph_index_arcs(graph);
	sort(candidates, n, sizeof(*candidates), splitting_compare);
	for (uint32_t i = 0; i < n; i++)
		trial->is_out[candidates[i].arc] =
			splitting_closes_circle(&search, &trial->arcs[candidates[i].arc], i + 1);
	for (unsigned end = 0; end < 2; end++) {
		free(search.seen[end]);
		free(search.queue[end]);
	}
	free(candidates);
}

void breaking_split(struct trial *trial)
{
	splitting_split_all(trial);
	splitting_put_back(trial);
}
