/* SPDX-License-Identifier: MIT */
/* -l, and what -A prints beside the source: samples by line.  See lines.h. */
#include "lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug.h"
#include "print.h"
#include "util.h"

/* ---------------- Gathering ---------------- */

static void lines_add(struct hits *hits, const struct graph *graph, uint64_t address,
		      unsigned flavor, double count)
{
	struct hit *hit;

	hits->items = grow(hits->items, hits->n, &hits->room, sizeof(*hits->items));
	hits->addresses =
		grow(hits->addresses, hits->n, &hits->addresses_room, sizeof(*hits->addresses));
	hits->addresses[hits->n] = address;
	hit = &hits->items[hits->n++];
	*hit = (struct hit){.node = graph_node(graph, address)};
	hit->function = graph->nodes[hit->node].name;
	hit->counts[flavor] = count;
}

static void lines_add_flavor(struct hits *hits, const struct report *report, unsigned index)
{
	const struct profile_flavor *flavor = report->choice->flavors[index];
	const struct profile_counts *counts = &flavor->counts[PROFILE_USER];

	for (size_t i = 0; i < counts->n; i++)
		lines_add(hits, report->graph, counts->items[i].pc, index,
			  (double)counts->items[i].count);
	for (size_t i = 0; i < flavor->n_bins; i++) {
		const struct profile_bins *bins = &flavor->bins[i];

		for (uint32_t bin = 0; bin < bins->n; bin++)
			if (profile_bins_get(bins, bin) > 0)
				lines_add(hits, report->graph, profile_bins_start(bins, bin), index,
					  (double)profile_bins_get(bins, bin));
	}
}

int lines_compare_files(const char *one, const char *other)
{
	if (one == NULL || other == NULL)
		return (one == NULL) - (other == NULL);
	return strcmp(one, other);
}

static int lines_compare_places(const void *first, const void *second)
{
	const struct hit *one = first;
	const struct hit *other = second;
	int order = lines_compare_files(one->file, other->file);

	if (order == 0)
		order = (one->line > other->line) - (one->line < other->line);
	return order != 0 ? order : strcmp(one->function, other->function);
}

int lines_compare_counts(const void *first, const void *second)
{
	const struct hit *one = first;
	const struct hit *other = second;

	if (one->counts[0] != other->counts[0])
		return one->counts[0] > other->counts[0] ? -1 : 1;
	if (one->calls != other->calls)
		return one->calls > other->calls ? -1 : 1;
	return lines_compare_places(first, second);
}

static void lines_sum(struct hits *hits)
{
	size_t n = 0;

	sort(hits->items, hits->n, sizeof(*hits->items), lines_compare_places);
	for (size_t i = 0; i < hits->n; i++) {
		if (n == 0 || lines_compare_places(&hits->items[n - 1], &hits->items[i]) != 0) {
			hits->items[n++] = hits->items[i];
			continue;
		}
		for (unsigned flavor = 0; flavor < PROFILE_FLAVORS; flavor++)
			hits->items[n - 1].counts[flavor] += hits->items[i].counts[flavor];
		hits->items[n - 1].calls += hits->items[i].calls;
	}
	hits->n = n;
}

void lines_add_calls(struct hits *hits, const struct report *report, uint32_t node)
{
	const struct node *called = &report->graph->nodes[node];

	if (called->kind != NODE_FUNCTION || called->calls == 0)
		return;
	lines_add(hits, report->graph, called->function->start, 0, 0);
	hits->items[hits->n - 1].calls = called->calls;
}

void lines_find(struct hits *hits, const struct report *report, char option)
{
	bool is_known = false;

	if (!debug_is_here())
		fail("-%c: lines are not known here: take the profile to the host", option);
	for (unsigned i = 0; i < report->choice->n; i++)
		lines_add_flavor(hits, report, i);
	hits->n_lines = hits->n;
	hits->lines = debug_lines(report->options->program, hits->addresses, hits->n);
	for (size_t i = 0; i < hits->n; i++) {
		hits->items[i].file = hits->lines[i].file;
		hits->items[i].line = hits->lines[i].line;
		is_known |= hits->lines[i].file != NULL;
	}
	if (hits->n > 0 && !is_known)
		fail("-%c: %s has no line numbers: compile it with -g", option,
		     report->options->program);
	lines_sum(hits);
}

void lines_free(struct hits *hits)
{
	debug_lines_free(hits->lines, hits->n_lines);
	free(hits->items);
	free(hits->addresses);
}

/* ---------------- Printing ---------------- */

const char *lines_file_name(const struct report *report, const char *file)
{
	return report->options->shows_paths ? file : file_part(file);
}

void lines_print_counts(FILE *out, const struct report *report, const struct hit *hit)
{
	for (unsigned i = 0; i < report->choice->n; i++) {
		double total = report->graph->total[i];

		fprintf(out, " %6.2f %9.*f", total > 0 ? 100 * hit->counts[i] / total : 0,
			report->choice->is_event[i] ? 0 : scale_of(report->choice, i).decimals,
			hit->counts[i] * report->choice->worth[i]);
	}
}

void lines_print_head(FILE *out, const struct report *report, const char *first)
{
	if (report->choice->n > 1) {
		fprintf(out, "%*s", (int)strlen(first), "");
		for (unsigned i = 0; i < report->choice->n; i++)
			fprintf(out, " %16s", report->choice->flavors[i]->name);
		fprintf(out, "\n");
	}
	fputs(first, out);
	for (unsigned i = 0; i < report->choice->n; i++)
		fprintf(out, " %6s %9s", "%", unit_of(report->choice, i));
}

void print_lines_table(const struct report *report)
{
	struct hits hits = {0};

	lines_find(&hits, report, 'l');
	printf("Flat profile by line\n\n");
	print_summary(report);
	lines_print_head(stdout, report, "");
	printf("  line\n");
	sort(hits.items, hits.n, sizeof(*hits.items), lines_compare_counts);
	for (size_t i = 0; i < hits.n; i++) {
		const struct hit *hit = &hits.items[i];

		lines_print_counts(stdout, report, hit);
		if (hit->file != NULL)
			printf("  %s:%u (%s)\n", lines_file_name(report, hit->file), hit->line,
			       hit->function);
		else
			printf("  ? (%s)\n", hit->function);
	}
	printf("\n");
	lines_free(&hits);
}
