/* SPDX-License-Identifier: MIT */
/* The source lines of a view's places, as far as its programs have debug information. */
#ifndef GPROF_VIEW_LINES_H
#define GPROF_VIEW_LINES_H

#include "../debug.h"
#include "view.h"

struct view_lines {
	const struct view *view;
	struct view_lines_place *items; /* By program and address, each once. */
	size_t n;
	size_t room;
};

void view_lines_find(struct view_lines *lines, const struct view *view);
void view_lines_free(struct view_lines *lines);

/*
 * Of an instruction, of the call before a return address, and of a function's beginning.  All are
 * in the function's own source: what was inlined into it is at the line that called it.  The line
 * is 0 where none is known.
 */
unsigned view_lines_of_frame(const struct view_lines *lines, const struct view_frame *frame);
unsigned view_lines_of_function(const struct view_lines *lines, uint32_t function);

/* The source that a function is in; NULL. */
const char *view_lines_file(const struct view_lines *lines, uint32_t function);

#endif
