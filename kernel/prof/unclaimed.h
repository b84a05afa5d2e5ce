/* SPDX-License-Identifier: MIT */
/*
 * Unclaimed work: what was done before anybody knew for whom.
 *
 * Bytes come on a line before a program has asked for them.  What they cost is somebody's, who will
 * be known when they are taken: until then it is done on behalf of an event, a label that is no
 * task's, and one day the whole of it is attributed to a label that is.  Until then its samples are
 * held back, and its calls are counted apart.
 *
 * Guarded by the kernel lock.
 */
#ifndef PROF_UNCLAIMED_H
#define PROF_UNCLAIMED_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/prof.h>

struct stream;

/* How many events there can be. */
#define UNCLAIMED_EVENTS 4u

static inline bool unclaimed_is_event(uint32_t label)
{
	return label >= PROF_LABEL_EVENTS;
}

/* The label of one more event: at boot, for good. */
uint32_t unclaimed_add_event(void);

/* How many there are: their labels are PROF_LABEL_EVENTS and those behind it. */
uint32_t unclaimed_events(void);

/* All that was done for `event` until now was done for `label`.  No event: nothing to do. */
void unclaimed_attribute(uint32_t event, uint32_t label);

/*
 * Keeps a sample of an event's, which is complete, until it is known whose it is.  False without
 * room: then nobody will know, and it is the system's.
 */
bool unclaimed_hold(struct stream *stream, struct prof_sample *sample);

/* The stream gets the samples of its own that are held: nobody will know any more whose. */
void unclaimed_flush(struct stream *stream);

#endif
