/* SPDX-License-Identifier: MIT */
/* Traces for other programs: the host's kdump can, the guest's says so. */
#ifndef KDUMP_VIEW_H
#define KDUMP_VIEW_H

#include "ktrace/print.h"

struct timeline_choice {
	const char *name;     /* The view; NULL: lines. */
	const char *samples;  /* A recording, to be beside the calls; NULL: none. */
	const char *programs; /* A folder of its programs; NULL: none. */
};

/* Writes the view of that name to print->out; false with a message if there is none. */
bool timeline_write(const struct timeline_choice *choice, struct ktrace_print *print);

#endif
