/* SPDX-License-Identifier: MIT */
/* The tables that gprof prints, each from a finished graph. */
#ifndef GPROF_PRINT_H
#define GPROF_PRINT_H

#include "graph.h"
#include "text.h"
#include "util.h"

#define SAMPLES_PER_SECOND_UNKNOWN 0.015 /* CMU's clock, if no file says which it was. */

struct report {
	const struct graph *graph;
	const struct choice *choice;
	const struct options *options;
	struct text *text; /* Rows that are not written yet: none at a table's end. */
};

/* How an amount is printed: times worth, with so many digits behind the point. */
struct scale {
	double worth;
	int decimals;
};

/* ---- summary.c ---- */

struct scale scale_of(const struct choice *choice, unsigned flavor);

/* "seconds" or "samples". */
const char *unit_of(const struct choice *choice, unsigned flavor);

/* What was sampled, how finely, and what is missing: the lines above each table. */
void print_summary(const struct report *report);

/* Of a function's time with its callees', what is measured and what is an estimate. */
void print_callers_of(const struct report *report);

/* ---- print_graph.c, print_entry.c ---- */

/* A node or a cycle that may have an entry in the graph. */
struct entry {
	uint32_t id;      /* Of the node, or the component. */
	const char *name; /* Of a cycle "". */
	bool is_cycle;
	bool is_hidden;
	double time; /* Own and inherited, by which entries are sorted. */
};

struct entries {
	struct entry *items;
	size_t n;
};

/* Chooses, sorts and numbers the entries. */
void entries_make(struct entries *entries, struct graph *graph, const struct options *options);

void print_graph(const struct report *report, const struct entries *entries);
void print_entry(const struct report *report, const struct entry *entry);

/* ---- by.c: --by ---- */

void print_by(struct profile *profile, const struct options *options);

/* ---- exact.c: -x; lines.c: -l; sources.c: -A; counts.c: --exec-counts; file_info.c: -i ---- */

void print_exact(const struct report *report);
void print_lines_table(const struct report *report);
void print_sources(const struct report *report);
void print_counts(const struct report *report);
void print_file_info(const struct file *file, unsigned address_bytes);

/* ---- print_flat.c, print_index.c, blurbs.c ---- */

void print_flat(const struct report *report);
void print_index(const struct report *report, const struct entries *entries);
void print_flat_blurb(void);
void print_graph_blurb(void);

#endif
