/* SPDX-License-Identifier: MIT */
/* The flat profile: functions by their own time.  Several flavors are columns side by side. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "marks.h"
#include "print.h"
#include "util.h"

struct row {
	const struct node *node;
	const double *self; /* For each flavor, */
	const double *child;
	double own; /* and of the first. */
};

static int flat_compare(const void *first, const void *second)
{
	const struct row *one = first;
	const struct row *other = second;

	if (one->own != other->own)
		return one->own > other->own ? -1 : 1;
	if (one->node->calls != other->node->calls)
		return one->node->calls > other->node->calls ? -1 : 1;
	if (strcmp(one->node->name, other->node->name) != 0)
		return strcmp(one->node->name, other->node->name);
	return (one->node > other->node) - (one->node < other->node);
}

static bool flat_is_used(const struct graph *graph, uint32_t index)
{
	const struct node *node = &graph->nodes[index];
	double samples = 0;

	for (unsigned i = 0; i < graph->n_flavors; i++)
		samples += graph->self[(size_t)index * graph->n_flavors + i];
	return samples > 0 || node->calls + node->self_calls > 0;
}

/* Functions that were not chosen have no part in the totals either. */
static struct row *flat_make_rows(const struct report *report, size_t *n, double *totals)
{
	const struct graph *graph = report->graph;
	bool *is_chosen = marks_of_selection(graph, report->options, "-p", &report->options->flat);
	struct row *rows = allocate(graph->n_nodes, sizeof(*rows));

	*n = 0;
	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		size_t at = (size_t)i * graph->n_flavors;

		if (graph->nodes[i].kind == NODE_SPONTANEOUS ||
		    (is_chosen != NULL && !is_chosen[i]))
			continue;
		for (unsigned flavor = 0; flavor < graph->n_flavors; flavor++)
			totals[flavor] += graph->self[at + flavor];
		if (flat_is_used(graph, i) ||
		    (report->options->shows_unused && graph->nodes[i].kind == NODE_FUNCTION))
			rows[(*n)++] = (struct row){&graph->nodes[i], &graph->self[at],
						    &graph->child[at], graph->self[at]};
	}
	free(is_chosen);
	sort(rows, *n, sizeof(*rows), flat_compare);
	return rows;
}

/* Events come in whole numbers, unless a histogram's bin was divided. */
static int flat_decimals_of(const struct report *report, const struct row *rows, size_t n,
			    unsigned flavor)
{
	if (!report->choice->is_event[flavor])
		return scale_of(report->choice, flavor).decimals;
	for (size_t i = 0; i < n; i++)
		if (rows[i].self[flavor] != floor(rows[i].self[flavor]))
			return 2;
	return 0;
}

static double flat_share_of(double samples, double total)
{
	return total > 0 ? 100 * samples / total : 0;
}

static void flat_print_calls(struct text *text, uint64_t calls)
{
	text_blank(text, 1);
	if (calls > 0)
		text_count(text, calls, 8);
	else
		text_blank(text, 8);
}

static void flat_print_name(struct text *text, const struct node *node)
{
	text_blank(text, 2);
	text_string(text, node->name);
	text_end_line(text);
}

/* ---------------- One flavor: as in 4.2BSD ---------------- */

static void flat_print_head(const struct report *report)
{
	const char *unit = unit_of(report->choice, 0);
	bool is_event = report->choice->is_event[0];

	printf("%5s %10s %9s %8s %8s %8s\n", "%  ", "cumulative", "self  ", "", "self  ", "total ");
	printf("%5s %10s %9s %8s %8s %8s  %s\n", is_event ? "" : "time", unit, unit, "calls",
	       is_event ? "/call" : "ms/call", is_event ? "/call" : "ms/call", "name");
}

static void print_per_call(struct text *text, const struct row *row, double worth)
{
	double calls = (double)row->node->calls;

	if (row->node->calls == 0) {
		text_blank(text, 1 + 8 + 1 + 8);
		return;
	}
	text_blank(text, 1);
	text_fixed(text, row->self[0] * worth / calls, 2, 8);
	text_blank(text, 1);
	text_fixed(text, (row->self[0] + row->child[0]) * worth / calls, 2, 8);
}

static void flat_print_row(const struct report *report, const struct row *row, double sum,
			   double total, int decimals)
{
	struct text *text = report->text;
	struct scale scale = scale_of(report->choice, 0);
	double per_call = report->choice->is_event[0] ? 1 : scale.worth * 1000;

	text_fixed(text, flat_share_of(row->self[0], total), 1, 5);
	text_blank(text, 1);
	text_fixed(text, sum * scale.worth, decimals, 10);
	text_blank(text, 1);
	text_fixed(text, row->self[0] * scale.worth, decimals, 9);
	flat_print_calls(text, row->node->calls);
	print_per_call(text, row, per_call);
	flat_print_name(text, row->node);
}

static void print_single(const struct report *report, const struct row *rows, size_t n,
			 const double *totals)
{
	int decimals = flat_decimals_of(report, rows, n, 0);
	double sum = 0;

	flat_print_head(report);
	for (size_t i = 0; i < n; i++) {
		sum += rows[i].self[0];
		flat_print_row(report, &rows[i], sum, totals[0], decimals);
	}
}

/* ---------------- Several flavors ---------------- */

static void print_columns(const struct report *report, const struct row *rows, size_t n,
			  const double *totals)
{
	const struct choice *choice = report->choice;
	struct text *text = report->text;
	int decimals[PROFILE_FLAVORS];

	for (unsigned i = 0; i < choice->n; i++)
		decimals[i] = flat_decimals_of(report, rows, n, i);
	for (unsigned i = 0; i < choice->n; i++)
		printf(" %16s", choice->flavors[i]->name);
	printf("\n");
	for (unsigned i = 0; i < choice->n; i++)
		printf(" %5s %10s", "%", unit_of(choice, i));
	printf(" %8s  name\n", "calls");
	for (size_t i = 0; i < n; i++) {
		for (unsigned flavor = 0; flavor < choice->n; flavor++) {
			double samples = rows[i].self[flavor];

			text_blank(text, 1);
			text_fixed(text, flat_share_of(samples, totals[flavor]), 1, 5);
			text_blank(text, 1);
			text_fixed(text, samples * choice->worth[flavor], decimals[flavor], 10);
		}
		flat_print_calls(text, rows[i].node->calls);
		flat_print_name(text, rows[i].node);
	}
}

void print_flat(const struct report *report)
{
	size_t n;
	double totals[PROFILE_FLAVORS] = {0};
	struct row *rows = flat_make_rows(report, &n, totals);

	printf("Flat profile\n\n");
	if (!report->options->is_brief)
		print_flat_blurb();
	print_summary(report);
	if (report->choice->n == 1 && report->choice->profile->n_arcs > 0)
		print_callers_of(report);
	if (report->choice->n == 1)
		print_single(report, rows, n, totals);
	else
		print_columns(report, rows, n, totals);
	text_end_line(report->text);
	text_write(report->text);
	free(rows);
}
