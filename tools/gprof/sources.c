/* SPDX-License-Identifier: MIT */
/* -A: the sources, with samples beside their lines, and calls where functions begin. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "marks.h"
#include "util.h"

#define CALLS_WIDTH 10
#define NAME_END    "-ann" /* As GNU's calls files with sources (-y). */

struct source {
	const struct report *report;
	FILE *out;
	struct hit *hits; /* In the order of their lines. */
	size_t n;
};

/* ---------------- Lines ---------------- */

static void sources_print_calls(FILE *out, uint64_t calls)
{
	if (calls > 0)
		fprintf(out, " %*" PRIu64, CALLS_WIDTH, calls);
	else
		fprintf(out, " %*s", CALLS_WIDTH, "");
}

static void sources_print_line(const struct source *source, const struct hit *hit, const char *text)
{
	int blank = 17 * (int)source->report->choice->n;

	sources_print_calls(source->out, hit->calls);
	if (hit->counts[0] > 0)
		lines_print_counts(source->out, source->report, hit);
	else
		fprintf(source->out, "%*s", blank, "");
	fprintf(source->out, " %5u  %s\n", hit->line, text);
}

/* What all functions have on that line; `*at` is the first hit from there on. */
static struct hit sources_sum_line(const struct source *source, unsigned line, size_t *at)
{
	struct hit sum = {.line = line};

	for (; *at < source->n && source->hits[*at].line <= line; ++*at) {
		sum.calls += source->hits[*at].calls;
		for (unsigned i = 0; i < source->report->choice->n; i++)
			sum.counts[i] += source->hits[*at].counts[i];
	}
	return sum;
}

static void sources_print_text(const struct source *source)
{
	FILE *file = fopen(source->hits[0].file, "r");
	char *text = NULL;
	size_t room = 0, at = 0;

	if (file == NULL)
		fprintf(source->out,
			"  (no such source from this folder; debug information names it so)\n");
	for (unsigned line = 1; file != NULL && getline(&text, &room, file) > 0; line++) {
		struct hit sum = sources_sum_line(source, line, &at);

		text[strcspn(text, "\n")] = '\0';
		sources_print_line(source, &sum, text);
	}
	fprintf(source->out, "\n");
	free(text);
	if (file != NULL)
		fclose(file);
}

/* The lines with most samples, and of those with as many with most calls. */
static void sources_print_top(const struct source *source)
{
	struct hit *sums = allocate(source->n, sizeof(*sums));
	size_t n = 0, most = source->report->options->top_lines;

	for (size_t at = 0; at < source->n;)
		sums[n++] = sources_sum_line(source, source->hits[at].line, &at);
	sort(sums, n, sizeof(*sums), lines_compare_counts);
	if (most > n)
		most = n;
	if (most > 0)
		fprintf(source->out, "Top %zu lines:\n\n", most);
	for (size_t i = 0; i < most; i++)
		sources_print_line(source, &sums[i], "");
	if (most > 0)
		fprintf(source->out, "\n");
	free(sums);
}

/* ---------------- Files ---------------- */

static void sources_print_head(FILE *out, const struct report *report)
{
	lines_print_head(out, report, "      calls");
	fprintf(out, "  line\n\n");
}

static void sources_print_source(const struct source *source)
{
	fprintf(source->out, "%s:\n", lines_file_name(source->report, source->hits[0].file));
	sources_print_text(source);
	sources_print_top(source);
}

/* Two sources may have one name in different folders: then the first one is there already. */
static void sources_write_source(struct source *source, bool is_first)
{
	const char *file = file_part(source->hits[0].file);
	size_t bytes = strlen(file) + sizeof(NAME_END);
	char *name = allocate(bytes, 1);

	snprintf(name, bytes, "%s" NAME_END, file);
	source->out = fopen(name, is_first ? "w" : "a");
	if (source->out == NULL)
		fail("%s: cannot be written: %s", name, strerror(errno));
	sources_print_head(source->out, source->report);
	sources_print_source(source);
	if (fclose(source->out) != 0)
		fail("%s: cannot be written: %s", name, strerror(errno));
	printf("%s\n", name);
	free(name);
}

static bool sources_is_first_of_name(const struct hits *hits, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(file_part(hits->items[i].file), file_part(hits->items[index].file)) == 0)
			return false;
	return true;
}

/* Only what the functions have that were chosen. */
static void sources_choose(struct hits *hits, const bool *is_chosen)
{
	size_t n = 0;

	for (size_t i = 0; i < hits->n; i++)
		if (is_chosen == NULL || is_chosen[hits->items[i].node])
			hits->items[n++] = hits->items[i];
	hits->n = n;
}

static struct hits sources_gather(const struct report *report)
{
	const struct options *options = report->options;
	bool *is_chosen = marks_of_selection(report->graph, options, "-A", &options->sources);
	struct hits hits = {0};

	for (uint32_t i = 0; i < report->graph->n_functions; i++)
		if (report->graph->nodes[i].calls >= options->least_calls)
			lines_add_calls(&hits, report, i);
	lines_find(&hits, report, 'A');
	sources_choose(&hits, is_chosen);
	free(is_chosen);
	return hits;
}

void print_sources(const struct report *report)
{
	struct hits hits = sources_gather(report);

	print_summary(report);
	if (!report->options->separates_sources)
		sources_print_head(stdout, report);
	for (size_t i = 0, end; i < hits.n && hits.items[i].file != NULL; i = end) {
		struct source source = {report, stdout, &hits.items[i], 0};

		for (end = i; end < hits.n &&
			      lines_compare_files(hits.items[end].file, hits.items[i].file) == 0;)
			end++;
		source.n = end - i;
		if (report->options->separates_sources)
			sources_write_source(&source, sources_is_first_of_name(&hits, i));
		else
			sources_print_source(&source);
	}
	lines_free(&hits);
}
