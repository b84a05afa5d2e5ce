/* SPDX-License-Identifier: MIT */
/* One entry of the call graph: its callers, itself, its callees; or a cycle and its members. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "util.h"

#define NAME_INDENT 5u /* Of callers' and callees' names. */

/* A caller's or a callee's line. */
struct line {
	const struct arc *arc;
	uint32_t node;
	double time;
};

static void print_number(struct text *text, uint32_t index, bool is_hidden)
{
	if (index == 0)
		return;
	text_string(text, is_hidden ? " (" : " [");
	text_count(text, index, 0);
	text_string(text, is_hidden ? ")" : "]");
}

/* Name, cycle and number. */
static void entry_print_name(const struct report *report, uint32_t index)
{
	const struct node *node = &report->graph->nodes[index];
	uint32_t cycle = graph_component(report->graph, index)->cycle;

	text_string(report->text, node->name);
	if (cycle > 0) {
		text_string(report->text, " <cycle ");
		text_count(report->text, cycle, 0);
		text_string(report->text, ">");
	}
	print_number(report->text, node->index, node->is_hidden);
}

static void print_cycle_name(const struct report *report, const struct component *component)
{
	text_string(report->text, "<cycle ");
	text_count(report->text, component->cycle, 0);
	text_string(report->text, " as a whole>");
	print_number(report->text, component->index, false);
}

/* ---------------- Columns ---------------- */

static void print_share(struct text *text, uint32_t index, double percent)
{
	char number[16];

	snprintf(number, sizeof(number), "[%" PRIu32 "]", index);
	text_left(text, number, 7);
	text_blank(text, 1);
	text_fixed(text, percent, 1, 5);
}

static void print_no_share(struct text *text)
{
	text_blank(text, 7 + 1 + 5);
}

static void entry_print_amounts(const struct report *report, unsigned flavor,
				struct amounts amounts)
{
	struct scale scale = scale_of(report->choice, flavor);

	text_blank(report->text, 1);
	text_fixed(report->text, amounts.self * scale.worth, scale.decimals, 9);
	text_blank(report->text, 1);
	text_fixed(report->text, amounts.child * scale.worth, scale.decimals, 11);
}

static void print_no_amounts(const struct report *report)
{
	text_blank(report->text, report->choice->n * (1 + 9 + 1 + 11));
}

/* Two numbers with something between them. */
static void entry_print_calls(struct text *text, uint64_t calls, const char *between,
			      uint64_t others)
{
	text_blank(text, 1);
	text_count(text, calls, 7);
	text_string(text, between);
	text_count_left(text, others, 7);
}

static void print_calls_alone(struct text *text, uint64_t calls)
{
	text_blank(text, 1);
	text_count(text, calls, 7);
	text_blank(text, 1 + 7);
}

static void print_no_calls(struct text *text)
{
	text_blank(text, 1 + 7 + 1 + 7);
}

/* ---------------- Callers and callees ---------------- */

static int entry_compare_lines(const void *first, const void *second)
{
	const struct line *one = first;
	const struct line *other = second;

	if (one->time != other->time)
		return one->time < other->time ? -1 : 1;
	if (one->arc->calls != other->arc->calls)
		return one->arc->calls < other->arc->calls ? -1 : 1;
	return (one->node < other->node) - (one->node > other->node);
}

static struct line entry_line_of(const struct graph *graph, const struct arc *arc, uint32_t node)
{
	struct line line = {.arc = arc, .node = node};

	for (unsigned i = 0; i < graph->n_flavors; i++) {
		struct amounts amounts = arc_amounts(graph, arc, i);

		line.time += amounts.self + amounts.child;
	}
	return line;
}

/* What stacks showed need not have been counted. */
static bool entry_is_counted(const struct graph *graph, const struct arc *arc)
{
	return graph->nodes[arc->to].kind != NODE_KERNEL &&
	       (graph->stacks == NULL || arc->calls > 0);
}

/* Calls of a function, or of a cycle, from outside. */
static uint64_t entry_calls_of(const struct graph *graph, uint32_t node)
{
	return graph->stacks != NULL ? graph->nodes[node].calls
				     : graph_component(graph, node)->calls;
}

static void entry_print_line(const struct report *report, const struct line *line)
{
	const struct graph *graph = report->graph;
	const struct arc *arc = line->arc;

	print_no_share(report->text);
	if (graph_same_cycle(graph, arc)) {
		print_no_amounts(report);
		print_calls_alone(report->text, arc->calls);
	} else {
		for (unsigned i = 0; i < graph->n_flavors; i++)
			entry_print_amounts(report, i, arc_amounts(graph, arc, i));
		if (entry_is_counted(graph, arc))
			entry_print_calls(report->text, arc->calls, "/",
					  entry_calls_of(graph, arc->to));
		else
			print_no_calls(report->text);
	}
	text_blank(report->text, NAME_INDENT);
	entry_print_name(report, line->node);
	text_end_line(report->text);
}

static void print_lines(const struct report *report, struct line *lines, size_t n,
			bool largest_last)
{
	sort(lines, n, sizeof(*lines), entry_compare_lines);
	for (size_t i = 0; i < n; i++)
		entry_print_line(report, &lines[largest_last ? i : n - 1 - i]);
}

static void print_spontaneous(const struct report *report)
{
	print_no_share(report->text);
	print_no_amounts(report);
	print_no_calls(report->text);
	text_blank(report->text, NAME_INDENT);
	text_string(report->text, "<spontaneous>");
	text_end_line(report->text);
}

static void print_callers(const struct report *report, uint32_t index)
{
	const struct graph *graph = report->graph;
	const struct node *node = &graph->nodes[index];
	struct line *lines = allocate(node[1].first_in - node[0].first_in, sizeof(*lines));
	size_t n = 0;

	for (uint32_t i = node[0].first_in; i < node[1].first_in; i++) {
		const struct arc *arc = &graph->arcs[graph->by_callee[i]];

		lines[n++] = entry_line_of(graph, arc, arc->from);
	}
	if (n == 0)
		print_spontaneous(report);
	print_lines(report, lines, n, true);
	free(lines);
}

static void print_callees(const struct report *report, uint32_t index)
{
	const struct graph *graph = report->graph;
	const struct node *node = &graph->nodes[index];
	struct line *lines = allocate(node[1].first_out - node[0].first_out, sizeof(*lines));
	size_t n = 0;

	for (uint32_t i = node[0].first_out; i < node[1].first_out; i++)
		lines[n++] = entry_line_of(graph, &graph->arcs[i], graph->arcs[i].to);
	print_lines(report, lines, n, false);
	free(lines);
}

/* ---------------- A function ---------------- */

static struct amounts entry_node_amounts(const struct graph *graph, uint32_t index, unsigned flavor)
{
	size_t at = (size_t)index * graph->n_flavors + flavor;
	double fraction = graph->nodes[index].fraction;

	return (struct amounts){graph->self[at] * fraction, graph->child[at] * fraction};
}

static double entry_percent_of(const struct graph *graph, struct amounts amounts)
{
	double total = graph->graph_total[0];

	return total > 0 ? 100 * (amounts.self + amounts.child) / total : 0;
}

static void print_own_calls(struct text *text, uint64_t calls, uint64_t inner)
{
	if (calls + inner == 0)
		print_no_calls(text);
	else if (inner > 0)
		entry_print_calls(text, calls, "+", inner);
	else
		print_calls_alone(text, calls);
	text_blank(text, 1);
}

static void entry_print_function(const struct report *report, uint32_t index)
{
	const struct graph *graph = report->graph;
	const struct node *node = &graph->nodes[index];

	print_callers(report, index);
	print_share(report->text, node->index,
		    entry_percent_of(graph, entry_node_amounts(graph, index, 0)));
	for (unsigned i = 0; i < graph->n_flavors; i++)
		entry_print_amounts(report, i, entry_node_amounts(graph, index, i));
	print_own_calls(report->text, node->calls, node->self_calls);
	entry_print_name(report, index);
	text_end_line(report->text);
	print_callees(report, index);
}

/* ---------------- A cycle ---------------- */

static void print_cycle_callers(const struct report *report, const struct component *component)
{
	const struct graph *graph = report->graph;
	struct line *lines = NULL;
	size_t room = 0;
	size_t n = 0;

	for (uint32_t i = component[0].first; i < component[1].first; i++) {
		const struct node *node = &graph->nodes[graph->members[i]];

		for (uint32_t j = node[0].first_in; j < node[1].first_in; j++) {
			const struct arc *arc = &graph->arcs[graph->by_callee[j]];

			if (graph_same_cycle(graph, arc))
				continue;
			lines = grow(lines, n, &room, sizeof(*lines));
			lines[n++] = entry_line_of(graph, arc, arc->from);
		}
	}
	if (n == 0)
		print_spontaneous(report);
	print_lines(report, lines, n, true);
	free(lines);
}

struct member {
	uint32_t node;
	double time;
};

static int entry_compare_members(const void *first, const void *second)
{
	const struct member *one = first;
	const struct member *other = second;

	if (one->time != other->time)
		return one->time > other->time ? -1 : 1;
	return (one->node > other->node) - (one->node < other->node);
}

static void print_member(const struct report *report, uint32_t index)
{
	const struct graph *graph = report->graph;
	const struct node *node = &graph->nodes[index];

	print_no_share(report->text);
	for (unsigned i = 0; i < graph->n_flavors; i++)
		entry_print_amounts(report, i, entry_node_amounts(graph, index, i));
	print_own_calls(report->text, node->calls, node->self_calls);
	text_blank(report->text, NAME_INDENT - 1);
	entry_print_name(report, index);
	text_end_line(report->text);
}

static struct amounts entry_cycle_amounts(const struct graph *graph,
					  const struct component *component, unsigned flavor)
{
	struct amounts sum = {0};

	for (uint32_t i = component[0].first; i < component[1].first; i++) {
		struct amounts amounts = entry_node_amounts(graph, graph->members[i], flavor);

		sum.self += amounts.self;
		sum.child += amounts.child;
	}
	return sum;
}

/* The members, the one with the most time first. */
static void print_members(const struct report *report, const struct component *component)
{
	const struct graph *graph = report->graph;
	uint32_t n = component[1].first - component[0].first;
	struct member *members = allocate(n, sizeof(*members));

	for (uint32_t i = 0; i < n; i++) {
		members[i].node = graph->members[component->first + i];
		for (unsigned flavor = 0; flavor < graph->n_flavors; flavor++) {
			struct amounts amounts = entry_node_amounts(graph, members[i].node, flavor);

			members[i].time += amounts.self + amounts.child;
		}
	}
	sort(members, n, sizeof(*members), entry_compare_members);
	for (uint32_t i = 0; i < n; i++)
		print_member(report, members[i].node);
	free(members);
}

static void print_cycle(const struct report *report, uint32_t index)
{
	const struct graph *graph = report->graph;
	const struct component *component = &graph->components[index];

	print_cycle_callers(report, component);
	print_share(report->text, component->index,
		    entry_percent_of(graph, entry_cycle_amounts(graph, component, 0)));
	for (unsigned i = 0; i < graph->n_flavors; i++)
		entry_print_amounts(report, i, entry_cycle_amounts(graph, component, i));
	print_own_calls(report->text, component->calls, component->inner);
	print_cycle_name(report, component);
	text_end_line(report->text);
	print_members(report, component);
}

void print_entry(const struct report *report, const struct entry *entry)
{
	if (entry->is_cycle)
		print_cycle(report, entry->id);
	else
		entry_print_function(report, entry->id);
	text_string(report->text, "-----------------------------------------------");
	text_end_line(report->text);
}
