/* SPDX-License-Identifier: MIT */
/* Profiles in the forms that other programs show. */
#ifndef GPROF_VIEWS_H
#define GPROF_VIEWS_H

#include <stdbool.h>
#include <stdio.h>

#include "../model.h"

/* The names of the views, with blanks between them. */
#define VIEW_NAMES "callgrind folded json perf-data perf-script pprof speedscope"

/* What is shown. */
struct view_source {
	const struct profile *profile; /* Finished. */
	const struct elfsym *program;  /* NULL: only images of the profile have symbols. */
	const char *path;              /* Where the program is on this host. */
	const char *kernel;            /* And the profile's kernel; NULL: it is not at hand. */
	const char *flavor;            /* The only one to show, which the profile has; NULL: all. */
};

/*
 * Writes it in the form of that name; false if there is none such.  Whether the file took it all is
 * for the caller to ask (ferror()).
 */
bool view_write(const char *name, const struct view_source *source, FILE *out);

#endif
