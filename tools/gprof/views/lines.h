/* SPDX-License-Identifier: MIT */
/* The source lines of a view's places, as far as its programs have debug information. */
#ifndef GPROF_LINES_H
#define GPROF_LINES_H

#include "../debug.h"
#include "view.h"

struct lines {
	const struct view *view;
	struct lines_place *items; /* By program and address, each once. */
	size_t n;
	size_t room;
};

void lines_find(struct lines *lines, const struct view *view);
void lines_free(struct lines *lines);

/*
 * Of an instruction, of the call before a return address, and of a function's beginning.  All are
 * in the function's own source: what was inlined into it is at the line that called it.  The line
 * is 0 where none is known.
 */
unsigned lines_of_frame(const struct lines *lines, const struct view_frame *frame);
unsigned lines_of_function(const struct lines *lines, uint32_t function);

/* The source that a function is in; NULL. */
const char *lines_file(const struct lines *lines, uint32_t function);

#endif
