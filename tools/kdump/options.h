/* SPDX-License-Identifier: MIT */
/* The command line of kdump. */
#ifndef KDUMP_OPTIONS_H
#define KDUMP_OPTIONS_H

#include <stdbool.h>

#include "ktrace/print.h"

struct options {
	const char *path;
	const char *view; /* NULL: lines. */
	bool follows;
	struct ktrace_print print; /* What is printed and how; its file is not set. */
};

/* Prints what is wrong, or how it should be, and exits with status 2. */
void options_read(struct options *options, int count, char **words);

#endif
