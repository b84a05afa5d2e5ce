/* SPDX-License-Identifier: MIT */
/*
 * Samples and calls by line of the source: -l as a table, -A beside the source.
 *
 * Both need debug information and a machine that can read it.
 */
#ifndef GPROF_LINES_H
#define GPROF_LINES_H

#include <stdio.h>

#include "debug.h"
#include "print.h"

/* Of one line and function. */
struct hit {
	const char *file; /* NULL: not known. */
	unsigned line;
	const char *function;
	uint32_t node;
	double counts[PROFILE_FLAVORS];
	uint64_t calls; /* Of a function that begins there. */
};

/* All zeros: empty. */
struct hits {
	struct hit *items;
	size_t n;
	size_t room;
	uint64_t *addresses; /* As many as items, until lines are known. */
	size_t addresses_room;
	struct debug_line *lines;
	size_t n_lines;
};

/* Before the next: that the line where a function begins has its calls. */
void lines_add_calls(struct hits *hits, const struct report *report, uint32_t node);

/* Adds all samples, and then finds the lines: in their order, each once for each function. */
void lines_find(struct hits *hits, const struct report *report, char option);
void lines_free(struct hits *hits);

/* Orders: files by name, NULL last; hits by their counts, the largest first. */
int lines_compare_files(const char *one, const char *other);
int lines_compare_counts(const void *first, const void *second);

/* The name to show: without folders, unless -L asks for them. */
const char *lines_file_name(const struct report *report, const char *file);

/* Shares and amounts of each flavor, and what stands above them behind a first column. */
void lines_print_counts(FILE *out, const struct report *report, const struct hit *hit);
void lines_print_head(FILE *out, const struct report *report, const char *first);

#endif
