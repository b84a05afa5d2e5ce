/* SPDX-License-Identifier: MIT */
/*
 * Which functions an option means (GNU's symspecs).
 *
 * A name is a function's; else SOURCE:FUNCTION, SOURCE:LINE, SOURCE: or SOURCE with a point in it
 * are all functions of the source, or that one, or those that begin on the line.  A name that means
 * none is a mistake and ends the program.
 */
#ifndef GPROF_MARKS_H
#define GPROF_MARKS_H

#include "graph.h"
#include "options.h"

/* For each node whether one of the names means it; NULL if there are no names. */
bool *marks_of_names(const struct graph *graph, const struct options *options, const char *option,
		     const struct names *names);

/* For each node whether it is in the table; NULL: all are. */
bool *marks_of_selection(const struct graph *graph, const struct options *options,
			 const char *option, const struct selection *selection);

#endif
