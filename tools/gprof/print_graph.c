/* SPDX-License-Identifier: MIT */
/* The call graph: which functions have entries, in which order and under which numbers. */
#include <stdio.h>
#include <string.h>

#include "print.h"
#include "util.h"

/* ---------------- Entries ---------------- */

/* Own and inherited, of all flavors, as parts of their totals. */
static double graph_node_time(const struct graph *graph, uint32_t index)
{
	double time = 0;

	for (unsigned i = 0; i < graph->n_flavors; i++) {
		size_t at = (size_t)index * graph->n_flavors + i;

		if (graph->total[i] > 0)
			time += (graph->self[at] + graph->child[at]) / graph->total[i];
	}
	return time * graph->nodes[index].fraction;
}

static bool graph_is_in_graph(const struct graph *graph, uint32_t index, bool shows_unused)
{
	const struct node *node = &graph->nodes[index];

	if (node->is_left_out || node->kind == NODE_SPONTANEOUS)
		return false;
	return node->calls + node->self_calls > 0 || graph_node_time(graph, index) > 0 ||
	       (shows_unused && node->kind == NODE_FUNCTION);
}

static int graph_compare_entries(const void *first, const void *second)
{
	const struct entry *one = first;
	const struct entry *other = second;

	if (one->time != other->time)
		return one->time > other->time ? -1 : 1;
	if (one->is_cycle != other->is_cycle)
		return one->is_cycle ? -1 : 1;
	if (strcmp(one->name, other->name) != 0)
		return strcmp(one->name, other->name);
	return (one->id > other->id) - (one->id < other->id);
}

static void graph_add_cycles(struct entries *entries, const struct graph *graph)
{
	for (uint32_t i = 0; i < graph->n_components; i++) {
		const struct component *component = &graph->components[i];
		struct entry entry = {.id = i, .name = "", .is_cycle = true, .is_hidden = true};

		if (component->cycle == 0)
			continue;
		for (uint32_t j = component[0].first; j < component[1].first; j++) {
			entry.time += graph_node_time(graph, graph->members[j]);
			entry.is_hidden &= graph->nodes[graph->members[j]].is_hidden;
		}
		entries->items[entries->n++] = entry;
	}
}

void entries_make(struct entries *entries, struct graph *graph, const struct options *options)
{
	size_t most = (size_t)graph->n_nodes + graph->n_components;

	*entries = (struct entries){.items = allocate(most, sizeof(*entries->items))};
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		if (graph_is_in_graph(graph, i, options->shows_unused))
			entries->items[entries->n++] = (struct entry){
				.id = i,
				.name = graph->nodes[i].name,
				.is_hidden = graph->nodes[i].is_hidden,
				.time = graph_node_time(graph, i),
			};
	graph_add_cycles(entries, graph);
	sort(entries->items, entries->n, sizeof(*entries->items), graph_compare_entries);
	for (size_t i = 0; i < entries->n; i++) {
		const struct entry *entry = &entries->items[i];

		if (entry->is_cycle)
			graph->components[entry->id].index = (uint32_t)i + 1;
		else
			graph->nodes[entry->id].index = (uint32_t)i + 1;
	}
}

/* ---------------- The table ---------------- */

static void print_blank(const struct report *report)
{
	printf("%7s %5s", "", "");
	for (unsigned i = 0; i < report->choice->n; i++)
		printf(" %9s %11s", "", "");
}

static void graph_print_head(const struct report *report)
{
	const struct choice *choice = report->choice;

	if (choice->n > 1) {
		printf("%7s %5s", "", "");
		for (unsigned i = 0; i < choice->n; i++)
			printf(" %21s", choice->flavors[i]->name);
		printf("\n");
	}
	print_blank(report);
	printf(" %7s/%-7s     parents\n", "called", "total");
	printf("%-7s %5s", "index", choice->is_event[0] ? "%" : "%time");
	for (unsigned i = 0; i < choice->n; i++)
		printf(" %9s %11s", "self", "descendents");
	printf(" %7s+%-7s name        index\n", "called", "self");
	print_blank(report);
	printf(" %7s/%-7s     children\n\n", "called", "total");
}

void print_graph(const struct report *report, const struct entries *entries)
{
	printf("Call graph\n\n");
	if (!report->options->is_brief)
		print_graph_blurb();
	print_summary(report);
	print_callers_of(report);
	graph_print_head(report);
	for (size_t i = 0; i < entries->n; i++)
		if (!entries->items[i].is_hidden)
			print_entry(report, &entries->items[i]);
	text_end_line(report->text);
	text_write(report->text);
}
