/* SPDX-License-Identifier: MIT */
/* --diff: two profiles, function by function.  See diff.c. */
#ifndef GPROF_DIFF_H
#define GPROF_DIFF_H

#include "print.h"

/* What is compared: of each side a program and its profiles. */
struct diff_sides {
	struct options before;
	struct options after;
};

/* Takes the words of the command line apart: programs are ELF files, all else are profiles. */
struct diff_sides diff_sides_of(const struct options *options);

void print_differences(const struct report *before, const struct report *after);

#endif
