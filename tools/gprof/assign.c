/* SPDX-License-Identifier: MIT */
/*
 * Gives samples to the functions that they were taken in.
 *
 * An exact address belongs to one function, or to none.  A histogram's bin may touch several: its
 * count is divided by how much of the bin each has.  Code has gaps between functions where nothing
 * runs; so only a bin that touches no function at all counts as outside.
 */
#include "gmon.h"
#include "graph.h"
#include "util.h"

static void assign_give(struct graph *graph, uint32_t node, unsigned flavor, double samples)
{
	graph->self[(size_t)node * graph->n_flavors + flavor] += samples;
}

static void assign_user(struct graph *graph, const struct profile_counts *counts, unsigned flavor)
{
	for (size_t i = 0; i < counts->n; i++)
		assign_give(graph, graph_node(graph, counts->items[i].pc), flavor,
			    (double)counts->items[i].count);
}

static void assign_kernel(struct graph *graph, const struct profile_counts *counts, unsigned flavor)
{
	if (counts->n > 0 && graph->kernel == NULL)
		graph->kernel = allocate((size_t)graph->n_nodes * graph->n_flavors, sizeof(double));
	for (size_t i = 0; i < counts->n; i++) {
		uint32_t node = graph_node(graph, counts->items[i].pc);
		double samples = (double)counts->items[i].count;

		graph->kernel[(size_t)node * graph->n_flavors + flavor] += samples;
		assign_give(graph, graph_special(graph, NODE_KERNEL), flavor, samples);
	}
}

/* To the kernel's functions; of which profile->samples know. */
static void assign_in_kernel(struct graph *graph, const struct choice *choice, unsigned flavor)
{
	const struct profile *profile = choice->profile;

	for (size_t i = 0; i < profile->n_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		if (sample->is_kernel && !sample->is_strange &&
		    choice->flavors[flavor] == &profile->flavors[sample->flavor])
			assign_give(graph, graph_kernel_node(graph, sample->kernel_pc), flavor,
				    (double)sample->weight);
	}
}

/* How many of the addresses [low, high) are in functions. */
static uint64_t assign_bytes_in_functions(const struct graph *graph, uint64_t low, uint64_t high)
{
	uint64_t bytes = 0;
	uint64_t end;

	for (; low < high; low = end) {
		const struct elfsym_function *function = elfsym_find(graph->elf, low, &end);

		if (end > high)
			end = high;
		if (function != NULL)
			bytes += end - low;
	}
	return bytes;
}

static void assign_bin(struct graph *graph, uint64_t low, uint64_t high, unsigned flavor,
		       double samples)
{
	uint64_t covered = assign_bytes_in_functions(graph, low, high);
	uint64_t end;

	if (covered == 0)
		assign_give(graph, graph_special(graph, NODE_OUTSIDE), flavor, samples);
	for (; covered > 0 && low < high; low = end) {
		const struct elfsym_function *function = elfsym_find(graph->elf, low, &end);

		if (end > high)
			end = high;
		if (function != NULL)
			assign_give(graph, graph_node(graph, low), flavor,
				    samples * (double)(end - low) / (double)covered);
	}
}

/* Most bins lie in the function that the one before them lay in; then nothing is looked for. */
static void assign_bins(struct graph *graph, const struct profile_bins *bins, unsigned flavor)
{
	uint32_t whole = 0; /* The bins before this one are all `node`'s. */
	uint32_t node = 0;

	for (uint32_t i = 0; i < bins->n; i++) {
		uint64_t count = profile_bins_get(bins, i);
		uint64_t end;

		if (count > 0 && i >= whole) {
			node = graph_node(graph, profile_bins_start(bins, i));
			elfsym_find(graph->elf, profile_bins_start(bins, i), &end);
			whole = profile_bins_before(bins, i, end);
		}
		if (count > 0 && i < whole)
			assign_give(graph, node, flavor, (double)count);
		else if (count > 0)
			assign_bin(graph, profile_bins_start(bins, i),
				   profile_bins_start(bins, i + 1), flavor, (double)count);
	}
}

void assign_samples(struct graph *graph, const struct choice *choice)
{
	const struct profile *profile = choice->profile;

	graph->self = allocate((size_t)graph->n_nodes * graph->n_flavors, sizeof(double));
	for (unsigned flavor = 0; flavor < choice->n; flavor++) {
		const struct profile_flavor *from = choice->flavors[flavor];

		assign_user(graph, &from->counts[PROFILE_USER], flavor);
		if (graph->kernel_elf != NULL)
			assign_in_kernel(graph, choice, flavor);
		else
			assign_kernel(graph, &from->counts[PROFILE_KERNEL], flavor);
		for (size_t i = 0; i < from->n_bins; i++)
			assign_bins(graph, &from->bins[i], flavor);
		if (from == &profile->flavors[0])
			assign_give(graph, graph_special(graph, NODE_PROFILER), flavor,
				    (double)profile->values[GMON_PROFILER]);
	}
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		for (unsigned flavor = 0; flavor < graph->n_flavors; flavor++)
			graph->total[flavor] += graph->self[(size_t)i * graph->n_flavors + flavor];
}
