/* SPDX-License-Identifier: MIT */
/*
 * Sampling by monctl itself, by the collector of libprof (libprof/core/collector.h), whose thread
 * is monctl's only one.
 */
#ifndef MONCTL_STREAM_H
#define MONCTL_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mach/prof.h>

#include "monctl.h"
#include "target.h"

/* Whom or what is sampled. */
struct stream {
	const struct arguments *arguments;
	const struct target *target;         /* NULL: a host's stream. */
	const struct executable *executable; /* Its text is the histogram's; NULL: there is none. */
	bool is_owners;                      /* What it exports is for our user and root. */
	void (*watch)(const uint32_t *words, size_t count); /* NULL, or sees all records. */
};

/* Finds threads and labels, makes ports; nothing is sampled yet.  False with a report. */
bool stream_prepare(const struct stream *stream);

/* With -for, what is done for whom it says, and with -pid only what the target does of it. */
bool stream_wants(const struct prof_sample *sample);

/* From now on a signal ends the wait for messages, and not monctl. */
void stream_watch_signals(void);

/* Ends the wait for messages, from a handler too. */
void stream_wake(void);

/* Begins with the flavors and the rate that the arguments say; false with a report. */
bool stream_begin(sampled_pc_flavor_t flavors);

/* Ends it; what was taken has been seen and counted when this returns. */
void stream_end(void);

/*
 * Handles messages until the target has ended, a signal has come, or, unless it is 0, the time of
 * CLOCK_MONOTONIC in milliseconds; false for the last.
 */
bool stream_serve_until(uint64_t deadline_ms);

/* Handles one message; false if the target has ended or a signal has come. */
bool stream_serve_once(void);

/* As long as that is true. */
void stream_serve(void);

/* The time that deadlines are of. */
uint64_t now_ms(void);

#endif
