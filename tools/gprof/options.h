/* SPDX-License-Identifier: MIT */
/* What the command line asks for. */
#ifndef GPROF_OPTIONS_H
#define GPROF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rollup/rollup.h"

struct names {
	const char **items;
	size_t n;
};

/*
 * Of one kind of table: whether it is printed, and of which functions.  It is asked for with names
 * that are in it or that are not, or without any; and refused.
 */
struct selection {
	bool is_asked;
	bool is_refused;
	struct names with; /* None: all but */
	struct names without;
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
	const char *served;    /* --for, a process or a name; NULL: all. */
	bool splits;           /* --for=each: on whose behalf as columns. */
	enum rollup_by by;     /* --by: samples by process, command, job or user. */
	const char *kernel;    /* --kernel: whose functions the kernel has; NULL: it is one line. */
	const char *programs;  /* --programs: a folder of a recording's programs; NULL: none. */
	const char *view;      /* --view; NULL: the tables. */
	const char *output;    /* -o: where the view goes; NULL: standard output. */
	/* GNU's, letters or long names: */
	struct selection flat;    /* -p, -P */
	struct selection graph;   /* -q, -Q */
	struct selection sources; /* -A, -J: with counts beside their lines. */
	struct selection counts;  /* --exec-counts: functions with their calls. */
	struct names timed;       /* -n: time of these is passed on; */
	struct names untimed;     /* --no-time: of these not. */
	bool separates_sources;   /* -y: each into a file. */
	bool shows_paths;         /* -L: of sources, whole ones. */
	bool ignores_labels;      /* -D: symbols that are no functions. */
	bool describes_files;     /* -i */
	bool only_sums;           /* --sum: no tables. */
	uint32_t top_lines;       /* -t: of each source. */
	uint32_t least_calls;     /* -m: of what is counted. */
	uint32_t width;           /* -w; 0: what there is room for. */

	uint32_t tree_depth; /* --tree: levels of a call tree; 0: none. */
	double least_share;  /* --min-share: percent of all. */

	bool diffs;        /* --diff: two profiles are compared, */
	bool diffs_shares; /* by shares of each instead of time. */

	const char *program;
	struct names profiles;
};

/* Ends the program if they are wrong. */
void options_read(struct options *options, int count, char **arguments);

bool names_contain(const struct names *names, const char *name);

/* Whether tables are printed when nothing is asked for; and that one of them is. */
bool options_print(const struct options *options, const struct selection *selection);

#endif
