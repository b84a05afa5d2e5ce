/* SPDX-License-Identifier: MIT */
/*
 * -l and -A: samples by line of the source, as a table or beside the source.
 *
 * Both need debug information and a machine that can read it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug.h"
#include "print.h"
#include "util.h"

struct hit {
	const char *file; /* NULL: not known. */
	unsigned line;
	const char *function;
	double counts[PROFILE_FLAVORS];
};

struct hits {
	struct hit *items;
	size_t n;
	size_t room;
	uint64_t *addresses; /* As many as items, until lines are known. */
	size_t addresses_room;
	struct debug_line *lines;
	size_t n_lines;
};

/* ---------------- Gathering ---------------- */

static void add(struct hits *hits, const struct graph *graph, uint64_t address, unsigned flavor,
		double count)
{
	struct hit *hit;

	hits->items = grow(hits->items, hits->n, &hits->room, sizeof(*hits->items));
	hits->addresses =
		grow(hits->addresses, hits->n, &hits->addresses_room, sizeof(*hits->addresses));
	hits->addresses[hits->n] = address;
	hit = &hits->items[hits->n++];
	*hit = (struct hit){.function = graph->nodes[graph_node(graph, address)].name};
	hit->counts[flavor] = count;
}

static void add_flavor(struct hits *hits, const struct report *report, unsigned index)
{
	const struct profile_flavor *flavor = report->choice->flavors[index];
	const struct profile_counts *counts = &flavor->counts[PROFILE_USER];

	for (size_t i = 0; i < counts->n; i++)
		add(hits, report->graph, counts->items[i].pc, index,
		    (double)counts->items[i].count);
	for (size_t i = 0; i < flavor->n_bins; i++) {
		const struct profile_bins *bins = &flavor->bins[i];

		for (uint32_t bin = 0; bin < bins->n; bin++)
			if (profile_bins_get(bins, bin) > 0)
				add(hits, report->graph, profile_bins_start(bins, bin), index,
				    (double)profile_bins_get(bins, bin));
	}
}

static int compare_texts(const char *one, const char *other)
{
	if (one == NULL || other == NULL)
		return (one == NULL) - (other == NULL);
	return strcmp(one, other);
}

static int compare_places(const void *first, const void *second)
{
	const struct hit *one = first;
	const struct hit *other = second;
	int order = compare_texts(one->file, other->file);

	if (order == 0)
		order = (one->line > other->line) - (one->line < other->line);
	return order != 0 ? order : strcmp(one->function, other->function);
}

static int compare_counts(const void *first, const void *second)
{
	const struct hit *one = first;
	const struct hit *other = second;

	if (one->counts[0] != other->counts[0])
		return one->counts[0] > other->counts[0] ? -1 : 1;
	return compare_places(first, second);
}

static void sum(struct hits *hits)
{
	size_t n = 0;

	sort(hits->items, hits->n, sizeof(*hits->items), compare_places);
	for (size_t i = 0; i < hits->n; i++) {
		if (n == 0 || compare_places(&hits->items[n - 1], &hits->items[i]) != 0) {
			hits->items[n++] = hits->items[i];
			continue;
		}
		for (unsigned flavor = 0; flavor < PROFILE_FLAVORS; flavor++)
			hits->items[n - 1].counts[flavor] += hits->items[i].counts[flavor];
	}
	hits->n = n;
}

static struct hits gather(const struct report *report, char option)
{
	struct hits hits = {0};
	bool is_known = false;

	if (!debug_is_here())
		fail("-%c: lines are not known here: take the profile to the host", option);
	for (unsigned i = 0; i < report->choice->n; i++)
		add_flavor(&hits, report, i);
	hits.n_lines = hits.n;
	hits.lines = debug_lines(report->options->program, hits.addresses, hits.n);
	for (size_t i = 0; i < hits.n; i++) {
		hits.items[i].file = hits.lines[i].file;
		hits.items[i].line = hits.lines[i].line;
		is_known |= hits.lines[i].file != NULL;
	}
	if (hits.n > 0 && !is_known)
		fail("-%c: %s has no line numbers: compile it with -g", option,
		     report->options->program);
	sum(&hits);
	return hits;
}

static void hits_free(struct hits *hits)
{
	debug_lines_free(hits->lines, hits->n_lines);
	free(hits->items);
	free(hits->addresses);
}

/* ---------------- Printing ---------------- */

static void print_counts(const struct report *report, const struct hit *hit)
{
	for (unsigned i = 0; i < report->choice->n; i++) {
		double total = report->graph->total[i];

		printf(" %6.2f %9.*f", total > 0 ? 100 * hit->counts[i] / total : 0,
		       report->choice->is_event[i] ? 0 : scale_of(report->choice, i).decimals,
		       hit->counts[i] * report->choice->worth[i]);
	}
}

static void print_head(const struct report *report)
{
	if (report->choice->n > 1) {
		for (unsigned i = 0; i < report->choice->n; i++)
			printf(" %16s", report->choice->flavors[i]->name);
		printf("\n");
	}
	for (unsigned i = 0; i < report->choice->n; i++)
		printf(" %6s %9s", "%", unit_of(report->choice, i));
}

void print_lines_table(const struct report *report)
{
	struct hits hits = gather(report, 'l');

	printf("Flat profile by line\n\n");
	print_summary(report);
	print_head(report);
	printf("  line\n");
	sort(hits.items, hits.n, sizeof(*hits.items), compare_counts);
	for (size_t i = 0; i < hits.n; i++) {
		const struct hit *hit = &hits.items[i];

		print_counts(report, hit);
		if (hit->file != NULL)
			printf("  %s:%u (%s)\n", hit->file, hit->line, hit->function);
		else
			printf("  ? (%s)\n", hit->function);
	}
	printf("\n");
	hits_free(&hits);
}

/* One source, with the hits [hit, end), which are in the order of their lines. */
static void print_source(const struct report *report, const struct hit *hit, const struct hit *end)
{
	FILE *file = fopen(hit->file, "r");
	int blank = 17 * (int)report->choice->n;
	char *text = NULL;
	size_t room = 0;

	printf("%s:\n", hit->file);
	if (file == NULL)
		printf("  (no such source from this folder; debug information names it so)\n");
	for (unsigned line = 1; file != NULL && getline(&text, &room, file) > 0; line++) {
		struct hit at = {.line = line};

		for (; hit < end && hit->line <= line; hit++)
			for (unsigned i = 0; i < report->choice->n; i++)
				at.counts[i] += hit->counts[i];
		text[strcspn(text, "\n")] = '\0';
		if (at.counts[0] > 0)
			print_counts(report, &at);
		else
			printf("%*s", blank, "");
		printf(" %5u  %s\n", line, text);
	}
	printf("\n");
	free(text);
	if (file != NULL)
		fclose(file);
}

void print_sources(const struct report *report)
{
	struct hits hits = gather(report, 'A');

	print_summary(report);
	print_head(report);
	printf("\n\n");
	for (size_t i = 0, end; i < hits.n && hits.items[i].file != NULL; i = end) {
		for (end = i;
		     end < hits.n && compare_texts(hits.items[end].file, hits.items[i].file) == 0;)
			end++;
		print_source(report, &hits.items[i], &hits.items[end]);
	}
	hits_free(&hits);
}
