/* SPDX-License-Identifier: MIT */
/* The call graph: its nodes, and its arcs from the profile's.  See graph.h. */
#include "graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

const char *const graph_counting_names[COUNTING_NAMES] = {
	"mcount", "_mcount", "__mcount", "mcountaux", "__fentry__",
};

static const char *const special_names[NODE_EXTRA] = {
	"<kernel>",
	"<outside>",
	"<profiler>",
	"<spontaneous>",
};

static bool graph_counts_calls(const char *name)
{
	for (unsigned i = 0; i < COUNTING_NAMES; i++)
		if (strcmp(name, graph_counting_names[i]) == 0)
			return true;
	return false;
}

/* ---------------- Nodes ---------------- */

static void graph_make_nodes(struct graph *graph)
{
	graph->n_functions = (uint32_t)graph->elf->n_functions;
	graph->n_nodes = graph->n_functions + NODE_EXTRA;
	if (graph->kernel_elf != NULL)
		graph->n_nodes += (uint32_t)graph->kernel_elf->n_functions;
	/* One more, whose arcs begin where those of the last one end. */
	graph->nodes = allocate((size_t)graph->n_nodes + 1, sizeof(*graph->nodes));
	for (uint32_t i = 0; i < graph->n_functions; i++) {
		struct node *node = &graph->nodes[i];

		node->function = &graph->elf->functions[i];
		node->name = node->function->name;
		node->is_left_out = graph_counts_calls(node->name);
		node->fraction = 1;
	}
	for (unsigned i = 0; i < NODE_EXTRA; i++) {
		struct node *node = &graph->nodes[graph->n_functions + i];

		node->name = special_names[i];
		node->kind = (uint8_t)(NODE_KERNEL + i);
		node->fraction = 1;
	}
}

/* A function of the kernel may have the name of one of the program's. */
static void graph_name_kernel(struct graph *graph)
{
	const struct elfsym *kernel = graph->kernel_elf;

	graph->kernel_names = allocate(kernel->n_functions, sizeof(*graph->kernel_names));
	for (size_t i = 0; i < kernel->n_functions; i++) {
		struct node *node = &graph->nodes[graph->n_functions + NODE_EXTRA + i];
		size_t bytes = strlen(KERNEL_NAME) + strlen(kernel->functions[i].name) + 1;

		graph->kernel_names[i] = allocate(bytes, 1);
		snprintf(graph->kernel_names[i], bytes, KERNEL_NAME "%s",
			 kernel->functions[i].name);
		node->name = graph->kernel_names[i];
		node->function = &kernel->functions[i];
		node->kind = NODE_OF_KERNEL;
		node->fraction = 1;
	}
}

/* Static functions belong to the global one before them, as far as there is one. */
static void graph_hide_static(struct graph *graph)
{
	uint32_t owner = NODE_NONE;

	graph->owners = allocate(graph->n_functions, sizeof(*graph->owners));
	for (uint32_t i = 0; i < graph->n_functions; i++) {
		if (graph->nodes[i].function->binding != ELFSYM_LOCAL || owner == NODE_NONE)
			owner = i;
		graph->owners[i] = owner;
	}
}

static uint32_t graph_node_of(const struct graph *graph, const struct elfsym_function *function)
{
	uint32_t index = (uint32_t)(function - graph->elf->functions);

	return graph->owners == NULL ? index : graph->owners[index];
}

uint32_t graph_node(const struct graph *graph, uint64_t address)
{
	const struct elfsym_function *function = elfsym_find(graph->elf, address, NULL);

	return function == NULL ? graph_special(graph, NODE_OUTSIDE)
				: graph_node_of(graph, function);
}

uint32_t graph_kernel_node(const struct graph *graph, uint64_t address)
{
	const struct elfsym *kernel = graph->kernel_elf;
	const struct elfsym_function *function =
		kernel == NULL ? NULL : elfsym_find(kernel, address, NULL);

	if (function == NULL)
		return graph_special(graph, NODE_KERNEL);
	return graph->n_functions + NODE_EXTRA + (uint32_t)(function - kernel->functions);
}

/* ---------------- Arcs ---------------- */

/*
 * Whether the instruction before `from` calls the function.  A call of a function that does not
 * return may be its caller's last instruction; then `from` is the first of the next function.
 */
static bool graph_is_called_before(const struct graph *graph, uint64_t from,
				   const struct elfsym_function *callee)
{
	const unsigned char *call = elfsym_bytes(graph->elf, from - 5, 5);
	uint64_t mask = graph->elf->is_64 ? UINT64_MAX : UINT32_MAX;

	if (call == NULL || call[0] != 0xe8)
		return false;
	return ((from + (uint64_t)(int64_t)(int32_t)load_u32(call + 1)) & mask) == callee->start;
}

static uint32_t graph_caller_of(const struct graph *graph, uint64_t from,
				const struct elfsym_function *callee)
{
	const struct elfsym_function *caller = elfsym_find(graph->elf, from, NULL);

	if ((caller == NULL || caller->start == from) && from >= 5 &&
	    graph_is_called_before(graph, from, callee))
		caller = elfsym_find(graph->elf, from - 1, NULL);
	return caller == NULL ? graph_special(graph, NODE_SPONTANEOUS)
			      : graph_node_of(graph, caller);
}

void graph_add_arc(struct graph *graph, uint32_t from, uint32_t to, uint64_t calls)
{
	graph->arcs = grow(graph->arcs, graph->n_arcs, &graph->arcs_room, sizeof(*graph->arcs));
	graph->arcs[graph->n_arcs++] = (struct arc){from, to, calls};
}

static bool graph_is_cut(const struct options *options, const char *from, const char *to)
{
	for (size_t i = 0; i < options->cut_from.n; i++)
		if (strcmp(options->cut_from.items[i], from) == 0 &&
		    strcmp(options->cut_to.items[i], to) == 0)
			return true;
	return false;
}

static void graph_add_profile_arcs(struct graph *graph, const struct profile *profile)
{
	graph->arcs_room = profile->n_arcs + 1;
	graph->arcs = allocate(graph->arcs_room, sizeof(*graph->arcs));
	for (size_t i = 0; i < profile->n_arcs; i++) {
		const struct profile_arc *arc = &profile->arcs[i];
		const struct elfsym_function *callee = elfsym_find(graph->elf, arc->self, NULL);

		if (callee == NULL)
			graph->unknown_calls += arc->count;
		else
			graph_add_arc(graph, graph_caller_of(graph, arc->from, callee),
				      graph_node_of(graph, callee), arc->count);
	}
}

static void graph_add_kernel_arcs(struct graph *graph)
{
	for (uint32_t i = 0; graph->kernel != NULL && i < graph->n_nodes; i++)
		for (unsigned flavor = 0; flavor < graph->n_flavors; flavor++)
			if (graph->kernel[(size_t)i * graph->n_flavors + flavor] > 0) {
				graph_add_arc(graph, i, graph_special(graph, NODE_KERNEL), 0);
				break;
			}
}

static int graph_compare_arcs(const void *first, const void *second)
{
	const struct arc *one = first;
	const struct arc *other = second;

	if (one->from != other->from)
		return one->from < other->from ? -1 : 1;
	return (one->to > other->to) - (one->to < other->to);
}

/* In order, each pair once, without those that are not to be in the graph. */
static void graph_sum_arcs(struct graph *graph, const struct options *options)
{
	struct arc *arcs = graph->arcs;
	uint32_t n = 0;

	sort(arcs, graph->n_arcs, sizeof(*arcs), graph_compare_arcs);
	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		const struct node *from = &graph->nodes[arcs[i].from];
		const struct node *to = &graph->nodes[arcs[i].to];

		if (n > 0 && graph_compare_arcs(&arcs[n - 1], &arcs[i]) == 0)
			arcs[n - 1].calls += arcs[i].calls;
		else if (!from->is_left_out && !to->is_left_out &&
			 !graph_is_cut(options, from->name, to->name))
			arcs[n++] = arcs[i];
	}
	graph->n_arcs = n;
}

static void graph_count_calls(struct graph *graph)
{
	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		const struct arc *arc = &graph->arcs[i];

		if (arc->from == arc->to)
			graph->nodes[arc->to].self_calls += arc->calls;
		else
			graph->nodes[arc->to].calls += arc->calls;
	}
}

/* Where each node's arcs are, by caller in arcs, by callee in by_callee. */
void graph_index_arcs(struct graph *graph)
{
	uint32_t *next = allocate((size_t)graph->n_nodes + 1, sizeof(*next));

	for (uint32_t i = 0; i <= graph->n_nodes; i++)
		graph->nodes[i].first_out = graph->nodes[i].first_in = 0;
	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		graph->nodes[graph->arcs[i].from + 1].first_out++;
		graph->nodes[graph->arcs[i].to + 1].first_in++;
	}
	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		graph->nodes[i + 1].first_out += graph->nodes[i].first_out;
		graph->nodes[i + 1].first_in += graph->nodes[i].first_in;
		next[i] = graph->nodes[i].first_in;
	}
	graph->by_callee = reallocate(graph->by_callee, graph->n_arcs, sizeof(*graph->by_callee));
	for (uint32_t i = 0; i < graph->n_arcs; i++)
		graph->by_callee[next[graph->arcs[i].to]++] = i;
	free(next);
}

static void graph_find_cycles(struct graph *graph, const struct options *options)
{
	cycles_find(graph);
	if (options->cycle_size > 0)
		cycles_break(graph, options->cycle_size);
}

void graph_make(struct graph *graph, const struct elfsym *elf, const struct choice *choice,
		const struct options *options)
{
	bool has_stacks = stacks_are_there(choice->profile);

	*graph = (struct graph){.elf = elf, .n_flavors = choice->n};
	graph->kernel_elf = choice->profile->kernel;
	graph_make_nodes(graph);
	if (graph->kernel_elf != NULL)
		graph_name_kernel(graph);
	select_check(graph, options);
	if (options->hides_static)
		graph_hide_static(graph);
	assign_samples(graph, choice);
	graph_add_profile_arcs(graph, choice->profile);
	if (has_stacks)
		stacks_add_arcs(graph, choice->profile);
	graph_add_kernel_arcs(graph);
	if (options->scans_calls)
		static_arcs_add(graph);
	graph_sum_arcs(graph, options);
	graph_index_arcs(graph);
	if (has_stacks)
		cycles_ignore(graph);
	else
		graph_find_cycles(graph, options);
	graph_count_calls(graph);
	select_nodes(graph, options);
	if (has_stacks)
		stacks_count(graph, choice);
	else
		propagate(graph);
}

void graph_free(struct graph *graph)
{
	for (size_t i = 0; graph->kernel_names != NULL && i < graph->kernel_elf->n_functions; i++)
		free(graph->kernel_names[i]);
	free(graph->kernel_names);
	free(graph->nodes);
	free(graph->owners);
	free(graph->arcs);
	free(graph->by_callee);
	free(graph->components);
	free(graph->members);
	free(graph->self);
	free(graph->child);
	free(graph->kernel);
	free(graph->own);
	free(graph->inherited);
	free(graph->estimated);
	free(graph->stacks);
	*graph = (struct graph){0};
}
