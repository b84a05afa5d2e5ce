/* SPDX-License-Identifier: MIT */
/*
 * Sampling by monctl itself, by a collector of libprof (<prof/collector.h>), whose thread is
 * monctl's only one.
 */
#ifndef MONCTL_STREAM_H
#define MONCTL_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mach/prof.h>
#include <prof/collector.h>

#include "monctl.h"
#include "registration.h"
#include "target.h"

/* Whom or what is sampled. */
struct stream {
	const struct arguments *arguments;
	const struct target *target;         /* NULL: a host's stream. */
	const struct executable *executable; /* Its text is the histogram's; NULL: there is none. */
	bool is_owners;                      /* What it exports is for our user and root. */

	/* NULL, or sees all records. */
	void (*watch)(void *context, const uint32_t *words, size_t count);
	void *context;

	/* What stream_prepare() adds, in what is zeroes before. */
	struct prof_collector *collector;
	struct registration registration;
	mach_port_t thread;   /* If one alone is sampled. */
	mach_port_t host;     /* If it is the host's stream, */
	uint32_t label;       /* of this label; 0: of all, */
	struct target served; /* which is this process's. */
	bool has_warned;
};

/* Finds threads and labels, makes ports; nothing is sampled yet.  False with a report. */
bool stream_prepare(struct stream *stream);

/* With -for, what is done for whom it says, and with -pid only what the target does of it. */
bool stream_wants(const struct stream *stream, const struct prof_sample *sample);

/* From now on a signal ends the wait for messages, and not monctl. */
void stream_watch_signals(const struct stream *stream);

/* Ends the wait for messages, from a handler too. */
void stream_wake(void);

/* Begins with the flavors and the rate that the arguments say; false with a report. */
bool stream_begin(struct stream *stream, sampled_pc_flavor_t flavors);

/* Ends it; what was taken has been seen and counted when this returns. */
void stream_end(struct stream *stream);

/*
 * Handles messages until the target has ended, a signal has come, or, unless it is 0, the time of
 * CLOCK_MONOTONIC in milliseconds; false for the last.
 */
bool stream_serve_until(struct stream *stream, uint64_t deadline_ms);

/* Handles one message; false if the target has ended or a signal has come. */
bool stream_serve_once(struct stream *stream);

/* As long as that is true. */
void stream_serve(struct stream *stream);

/* The time that deadlines are of. */
uint64_t now_ms(void);

#endif
