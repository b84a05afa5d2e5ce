/* SPDX-License-Identifier: MIT */
/* The command line of kdump. */
#ifndef KDUMP_OPTIONS_H
#define KDUMP_OPTIONS_H

#include <stdbool.h>

#include "view.h"

struct options {
	const char *path;
	struct timeline_choice view;
	bool follows;
	struct ktrace_print print; /* What is printed and how; its file is not set. */
};

/* Prints what is wrong, or how it should be, and exits with status 2. */
void options_read(struct options *options, int count, char **words);

#endif
