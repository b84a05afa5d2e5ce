/* SPDX-License-Identifier: MIT */
/*
 * Samples of a recording beside a timeline: what `monctl -record` took of the trace's processes
 * while it was made.
 *
 * A recording's clock begins with the kernel, a trace's with 1970; the recording says how far they
 * are apart.  It numbers the kernel's threads and the trace the server's, and nobody says which is
 * which: what is known of both is the process.  So each thread that was sampled has a *row* of its
 * own, beside those of the process's calls.
 *
 * Profiles are read, and functions named, by gprof's parts (tools/gprof); what is here belongs to
 * those that write views.
 */
#ifndef KDUMP_SAMPLES_H
#define KDUMP_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "../../gprof/views/programs.h"
#include "../../gprof/views/view.h"
#include "spans.h"

struct sample_row {
	int32_t pid;
	uint32_t thread;     /* The kernel's number. */
	uint32_t of_calls;   /* The process's only thread in the trace, or SPAN_NONE. */
	const char *command; /* "" if nobody said it. */
};

struct sample {
	uint32_t row;
	int64_t start; /* Microseconds since the trace's first record. */
	int64_t end;   /* Of a clock's sample: that of the row's next one, or one interval later. */
	const struct view_stack *stack;
};

struct samples {
	struct profile profile;
	struct programs programs;
	struct view view;
	struct sample_row *rows;
	uint32_t n_rows;
	struct sample *items; /* Row by row, in the order of time. */
	uint32_t n;
};

/*
 * Those in the file that are of the timeline's processes and lie within it, with the names of the
 * functions that the programs in the folder have, unless it is NULL.  Ends the program with a
 * message if the file cannot be read, or does not say what its clock's time is.
 */
void samples_read(struct samples *samples, const struct spans *spans, const char *path,
		  const char *folder);
void samples_free(struct samples *samples);

/* The process that a task was; -1 if it was none, or nobody says. */
int32_t samples_pid_of(const struct samples *samples, uint32_t task);

/* When that was on the timeline, by the recording's clock: before its begin it is below 0. */
int64_t samples_time(const struct samples *samples, const struct spans *spans, uint64_t time);

static inline const struct profile_flavor *samples_flavor(const struct samples *samples,
							  const struct sample *sample)
{
	return &samples->profile.flavors[sample->stack->flavor];
}

/* A name for people: `cat 12 samples`, with the kernel's thread if there are several such. */
#define SAMPLES_NAME_ROOM 96u
void samples_name_row(const struct samples *samples, uint32_t row, char name[SAMPLES_NAME_ROOM]);

#endif
