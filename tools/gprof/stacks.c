/* SPDX-License-Identifier: MIT */
/*
 * The call graph of a profile whose samples have call stacks.
 *
 * Nothing is divided here and nothing assumed: a sample counts for every function on its stack, and
 * for every call on it, each once.  What a caller's line says is what was sampled below that very
 * call.  Counts of calls, if a gmon.out has them, stand beside that, and cycles need no treatment.
 */
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "util.h"

static void stacks_chain_add(struct chain *chain, uint32_t node)
{
	chain->nodes = grow(chain->nodes, chain->n, &chain->room, sizeof(*chain->nodes));
	chain->nodes[chain->n++] = node;
}

/* A frame is a return address: the call is before it. */
void stacks_chain(struct chain *chain, const struct graph *graph, const struct profile *profile,
		  const struct profile_sample *sample)
{
	const uint64_t *frames = &profile->frames[sample->frames];

	chain->n = 0;
	if (sample->is_kernel)
		stacks_chain_add(chain, graph_kernel_node(graph, sample->kernel_pc));
	for (unsigned i = 0; graph->kernel_elf != NULL && i < sample->kernel_frames; i++)
		stacks_chain_add(chain, graph_kernel_node(graph, frames[i] - 1));
	frames += sample->kernel_frames;
	stacks_chain_add(chain, graph_node(graph, sample->pc));
	for (unsigned i = 0; i < sample->user_frames; i++)
		stacks_chain_add(chain, graph_node(graph, frames[i] - 1));
}

bool stacks_are_there(const struct profile *profile)
{
	if (profile->kernel != NULL)
		return true;
	for (size_t i = 0; i < profile->n_samples; i++)
		if (profile->samples[i].user_frames > 0)
			return true;
	return false;
}

void stacks_add_arcs(struct graph *graph, const struct profile *profile)
{
	/* Calls of <kernel> are there already, unless it has functions. */
	uint32_t own = graph->kernel_elf != NULL ? NODE_NONE : graph_special(graph, NODE_KERNEL);
	struct chain chain = {0};

	for (size_t i = 0; i < profile->n_samples; i++) {
		if (profile->samples[i].is_strange)
			continue;
		stacks_chain(&chain, graph, profile, &profile->samples[i]);
		for (size_t j = 1; j < chain.n; j++)
			if (chain.nodes[j] != chain.nodes[j - 1] && chain.nodes[j - 1] != own)
				graph_add_arc(graph, chain.nodes[j], chain.nodes[j - 1], 0);
	}
	free(chain.nodes);
}

/* ---------------- Counting ---------------- */

struct count {
	struct graph *graph;
	struct chain chain;
	uint32_t *last_node; /* The sample, from 1, that each node was last counted for; */
	uint32_t *last_arc;  /* each arc. */
};

/* NODE_NONE if it was left out (-k, or in what counts calls). */
static uint32_t stacks_find_arc(const struct graph *graph, uint32_t from, uint32_t to)
{
	uint32_t low = graph->nodes[from].first_out;
	uint32_t end = graph->nodes[from + 1].first_out;
	uint32_t high = end;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (graph->arcs[middle].to < to)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end && graph->arcs[low].to == to ? low : NODE_NONE;
}

/* The call from the chain's jth function: of the innermost one it is its own time. */
static void stacks_count_arc(struct count *count, size_t j, uint32_t number, unsigned flavor,
			     double weight)
{
	struct graph *graph = count->graph;
	uint32_t callee = count->chain.nodes[j - 1];
	uint32_t arc = stacks_find_arc(graph, count->chain.nodes[j], callee);
	size_t at = (size_t)arc * graph->n_flavors + flavor;

	if (arc == NODE_NONE || count->last_arc[arc] == number)
		return;
	count->last_arc[arc] = number;
	if (callee == count->chain.nodes[0])
		graph->stacks[at].self += weight;
	else
		graph->stacks[at].child += weight;
}

static void stacks_count_sample(struct count *count, uint32_t number, unsigned flavor,
				double weight)
{
	struct graph *graph = count->graph;

	count->last_node[count->chain.nodes[0]] = number;
	for (size_t j = 1; j < count->chain.n; j++) {
		uint32_t node = count->chain.nodes[j];

		stacks_count_arc(count, j, number, flavor, weight);
		if (count->last_node[node] == number)
			continue;
		count->last_node[node] = number;
		graph->child[(size_t)node * graph->n_flavors + flavor] += weight;
	}
}

unsigned stacks_column(const struct choice *choice, const struct profile_sample *sample)
{
	unsigned column = 0;

	while (column < choice->n &&
	       choice->flavors[column] != &choice->profile->flavors[sample->flavor])
		column++;
	return column;
}

void stacks_count(struct graph *graph, const struct choice *choice)
{
	const struct profile *profile = choice->profile;
	size_t cells = (size_t)graph->n_arcs * graph->n_flavors;
	struct count count = {
		.graph = graph,
		.last_node = allocate(graph->n_nodes, sizeof(uint32_t)),
		.last_arc = allocate(graph->n_arcs, sizeof(uint32_t)),
	};

	graph->stacks = allocate(cells, sizeof(*graph->stacks));
	graph->child = allocate((size_t)graph->n_nodes * graph->n_flavors, sizeof(double));
	for (size_t i = 0; i < profile->n_samples; i++) {
		unsigned column = stacks_column(choice, &profile->samples[i]);

		if (profile->samples[i].is_strange || column == choice->n)
			continue;
		stacks_chain(&count.chain, graph, profile, &profile->samples[i]);
		if (!graph->nodes[count.chain.nodes[0]].is_left_out)
			stacks_count_sample(&count, (uint32_t)i + 1, column,
					    (double)profile->samples[i].weight);
	}
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		for (unsigned flavor = 0; !graph->nodes[i].is_left_out && flavor < choice->n;
		     flavor++)
			graph->graph_total[flavor] += graph->self[(size_t)i * choice->n + flavor] *
						      graph->nodes[i].fraction;
	free(count.chain.nodes);
	free(count.last_node);
	free(count.last_arc);
}
