/* SPDX-License-Identifier: MIT */
/* What -proxy, -record, -live and -run have in common. */
#ifndef MONCTL_SESSION_H
#define MONCTL_SESSION_H

#include <stdbool.h>

#include "monctl.h"
#include "stream.h"
#include "target.h"

#define NOT_WRITTEN "not written" /* For the name of a file. */

/* Called when all is ready, and what is to be sampled from the beginning is. */
typedef void (*started_t)(void);

/*
 * Each samples until the target has ended or a signal has come, and writes what it has; false with
 * a report if something failed.  `target` is NULL for the whole machine; `executable` is its
 * program, whose owner the caller stays.
 */
bool proxy_sample(const struct arguments *arguments, const struct target *target,
		  struct executable *executable, started_t started);
bool record_sample(const struct arguments *arguments, const struct target *target,
		   struct executable *executable, started_t started);
bool live_sample(const struct arguments *arguments, const struct target *target,
		 struct executable *executable, started_t started);

/* All is ready, and no name is to be checked in any more: tells those who wait for one. */
void session_started(struct stream *stream, started_t started);

/* The flavors of -on, or what is sampled if nothing was said. */
sampled_pc_flavor_t session_flavors(const struct arguments *arguments);

/*
 * Finds the process, its program, and samples it by one of the above: in the background, if -bg
 * says so, and then returns when it has started.  The exit status.
 */
int session_run(const struct arguments *arguments,
		bool (*sample)(const struct arguments *, const struct target *, struct executable *,
			       started_t));

/* Prints `process N: ... samples, ... lost, FILE` for what its collector has; "": no file. */
void session_summary(FILE *file, const struct stream *stream, const char *path);

#endif
