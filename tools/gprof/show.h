/* SPDX-License-Identifier: MIT */
/* The forms of other programs (--view), which only the host's gprof writes. */
#ifndef GPROF_SHOW_H
#define GPROF_SHOW_H

#include "model.h"
#include "options.h"

/* Writes the view that the options name; fails if there is none such, or none at all here. */
void show_view(const struct options *options, struct profile *profile,
	       const struct elfsym *program);

#endif
