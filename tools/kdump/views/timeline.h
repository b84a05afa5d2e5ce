/* SPDX-License-Identifier: MIT */
/* What a view is of, and all views. */
#ifndef KDUMP_TIMELINE_H
#define KDUMP_TIMELINE_H

#include <stdio.h>

#include "samples.h"
#include "spans.h"

struct timeline {
	struct spans spans;
	struct samples samples; /* All zeros: there is no recording. */
};

typedef void timeline_writer(const struct timeline *timeline, FILE *out);

timeline_writer timeline_write_chrome;
timeline_writer timeline_write_perf;
timeline_writer timeline_write_speedscope;

#endif
