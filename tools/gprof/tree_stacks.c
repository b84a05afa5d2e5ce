/* SPDX-License-Identifier: MIT */
/* A call tree out of samples with stacks: each sample is on one path.  See tree.h. */
#include <stdlib.h>

#include "tree.h"

/* Calls of itself are no deeper. */
static size_t tree_stacks_without_repeats(const struct tree *tree, struct chain *chain)
{
	size_t n = 0;

	for (size_t i = 0; i < chain->n; i++)
		if (!tree->report->graph->nodes[chain->nodes[i]].is_left_out &&
		    (n == 0 || chain->nodes[n - 1] != chain->nodes[i]))
			chain->nodes[n++] = chain->nodes[i];
	return n;
}

static bool tree_stacks_is_above(const struct chain *chain, size_t n, size_t at)
{
	for (size_t i = at + 1; i < n; i++)
		if (chain->nodes[i] == chain->nodes[at])
			return true;
	return false;
}

static void tree_stacks_add_path(struct tree *tree, struct chain *chain, double weight)
{
	size_t n = tree_stacks_without_repeats(tree, chain);
	uint32_t at = 0;

	tree->items[0].total += weight;
	for (size_t i = n; i-- > 0;) {
		at = tree_child(tree, at, chain->nodes[i], false);
		tree->items[at].total += weight;
		tree->items[at].is_again = tree_stacks_is_above(chain, n, i);
	}
	tree->items[at].self += weight;
}

void tree_from_stacks(struct tree *tree)
{
	const struct choice *choice = tree->report->choice;
	const struct profile *profile = choice->profile;
	struct chain chain = {0};

	for (size_t i = 0; i < profile->n_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		if (sample->is_strange || stacks_column(choice, sample) != tree->flavor)
			continue;
		stacks_chain(&chain, tree->report->graph, profile, sample);
		if (!tree->report->graph->nodes[chain.nodes[0]].is_left_out)
			tree_stacks_add_path(tree, &chain, (double)sample->weight);
	}
	free(chain.nodes);
}
