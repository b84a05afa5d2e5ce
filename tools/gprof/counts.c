/* SPDX-License-Identifier: MIT */
/* --exec-counts: functions by address with how often others called them, as GNU's -C has it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "debug.h"
#include "lines.h"
#include "marks.h"
#include "util.h"

static void counts_print_function(const struct report *report, const struct node *node,
				  const struct debug_line *line)
{
	if (line->file != NULL)
		printf("%s:%u", lines_file_name(report, line->file), line->line);
	else
		printf("<unknown>:0");
	printf(": (%s:%#" PRIx64 ") %" PRIu64 " executions\n", node->name, node->function->start,
	       node->calls);
}

void print_counts(const struct report *report)
{
	const struct graph *graph = report->graph;
	bool *is_chosen = marks_of_selection(graph, report->options, "--exec-counts",
					     &report->options->counts);
	uint64_t *addresses = allocate(graph->n_functions, sizeof(*addresses));
	struct debug_line *lines;

	for (uint32_t i = 0; i < graph->n_functions; i++)
		addresses[i] = graph->nodes[i].function->start;
	lines = debug_lines(report->options->program, addresses, graph->n_functions);
	for (uint32_t i = 0; i < graph->n_functions; i++)
		if ((is_chosen == NULL || is_chosen[i]) &&
		    graph->nodes[i].calls >= report->options->least_calls)
			counts_print_function(report, &graph->nodes[i], &lines[i]);
	debug_lines_free(lines, graph->n_functions);
	free(addresses);
	free(is_chosen);
}
