/* SPDX-License-Identifier: MIT */
/* Who calls a function how often, in a list in which all can be looked up. */
#ifndef GPROF_CALLERS_H
#define GPROF_CALLERS_H

#include "view.h"

/* Calls of one function by another one, and from where one of them comes. */
struct caller {
	uint32_t callee;
	uint32_t function;
	uint64_t site;
	uint64_t calls;
	uint64_t before; /* Calls of those before it in the list. */
	bool is_known;   /* Else nobody knows who called. */
};

/* Some of the list in a row: all calls of a function, or part of them. */
struct row {
	size_t first;
	size_t end;
};

struct callers {
	struct caller *items; /* By callee, then by function; and one behind the last. */
	size_t n;
};

/*
 * Also makes the view's calls.  `sample` is one of the program whose calls they are, in a profile
 * of samples; else NULL.
 */
void callers_read(struct callers *callers, struct view *view, const struct profile_sample *sample);

/* The first call of that function, or of one behind it. */
size_t callers_of(const struct callers *callers, uint32_t callee);

/* In a row of calls of one function: the first by that function, or by one behind it. */
size_t callers_find(const struct callers *callers, const struct row *all, uint32_t function);

#endif
