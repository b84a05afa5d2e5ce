/* SPDX-License-Identifier: MIT */
/*
 * What a collector is made of (<prof/collector.h>): collector.c has its ports and its thread,
 * sampling.c its stream and what is asked of it, control.c the requests' routines.
 */
#ifndef LIBPROF_COLLECTOR_H
#define LIBPROF_COLLECTOR_H

#include <prof/collector.h>

#include "collection.h"

struct prof_collector {
	struct prof_collector *next; /* Of those with ports: collector.c guards it. */
	struct prof_collector_target target;
	mach_port_t set;         /* Its own, or the target's. */
	mach_port_t samples;     /* Where the kernel sends them. */
	mach_port_t control;     /* Where requests come, */
	mach_port_t known;       /* and where everybody's come: perhaps the same. */
	gprof_options_t options; /* For the next beginning, */
	gprof_options_t chosen;  /* and those that the last one was with. */
	uint32_t flavors;        /* Of the stream under way; 0: none is. */
	uint32_t beginnings;
	bool target_died;  /* Its task is gone, */
	bool target_ended; /* and all its samples have come. */
	struct collection collection;

	/* Of its own thread, if it has one. */
	void *stack;
	mach_port_t thread;
	mach_port_t asker; /* Where its end is waited for: there from its start, so that it can. */
	mach_port_t ended; /* Whom to tell that it serves no more; MACH_PORT_NULL: it serves. */
};

/* The one that has this port; NULL: none.  Only its own thread may use what it gets. */
struct prof_collector *__collector_of(mach_port_t port);

/* Whether whoever brings this token may ask. */
bool __collector_admits(const struct prof_collector *collector, const char *token);

/* ---- sampling.c ---- */

/*
 * What prof_collector_end() sends to that port, for a collector's own thread.  No kernel sends such
 * a message.
 */
#define ID_END_THREAD 1

/* What came to the port of the samples. */
void __collector_take(struct prof_collector *collector, mach_msg_header_t *message);

/* Counts calls from now on, or no more, if it is this collector that has them. */
void __collector_count_calls(const struct prof_collector *collector, bool is_on);

/* Ends the stream under way; what was taken has been counted when this returns. */
void __collector_end_stream(struct prof_collector *collector);

#endif
