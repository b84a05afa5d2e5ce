/* SPDX-License-Identifier: MIT */
/* What the command line asks for. */
#ifndef GPROF_OPTIONS_H
#define GPROF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names {
	const char **items;
	size_t n;
};

struct options {
	bool hides_static;     /* -a: static functions count for the one before them. */
	bool is_brief;         /* -b: no explanations. */
	bool scans_calls;      /* -c: arcs of calls that the code has, executed or not. */
	unsigned cycle_size;   /* -C: arcs of cycles that large are taken out; 0: none. */
	bool counts_events;    /* -N: samples are events. */
	double period;         /* -r: seconds a sample; 0: what the file says. */
	bool sums;             /* -s: writes gmon.sum. */
	bool shows_unused;     /* -z */
	bool annotates;        /* -A: the source, with counts. */
	bool shows_lines;      /* -l: counts by line. */
	bool ignores_dates;    /* --any-date */
	struct names routines; /* -x */
	struct names hidden;   /* -e: not in the graph; */
	struct names left_out; /* -E: nor is their time in its total. */
	struct names shown;    /* -f: these only; */
	struct names counted;  /* -F: and the total is of their time. */
	struct names cut_from; /* -k: arcs to leave out, */
	struct names cut_to;   /* each of the same index. */
	const char *flavor;    /* --flavor; NULL: all. */
	const uint32_t *label; /* --for; NULL: all. */
	bool splits;           /* --for=each: on whose behalf as columns. */
	const char *kernel;    /* --kernel: whose functions the kernel has; NULL: it is one line. */
	const char *programs;  /* --programs: a folder of a recording's programs; NULL: none. */
	const char *view;      /* --view; NULL: the tables. */
	const char *output;    /* -o: where the view goes; NULL: standard output. */
	const char *program;
	struct names profiles;
};

/* Ends the program if they are wrong. */
void options_read(struct options *options, int count, char **arguments);

bool names_contain(const struct names *names, const char *name);

#endif
