/* SPDX-License-Identifier: MIT */
/*
 * A collector of many streams at a time, which looks at each sample once and keeps none.  What
 * samples.h checks of messages is not checked again here, but that nothing was lost.
 */
#ifndef TEST_TALLY_H
#define TEST_TALLY_H

#include <mach.h>
#include <mach/prof.h>
#include <stdbool.h>
#include <stdint.h>

struct tally {
	mach_port_t port;
	void (*take)(struct tally *tally, const struct prof_sample *sample);
	void (*take_wait)(struct tally *tally, const struct prof_wait *wait); /* Or NULL. */
	void *data; /* For these functions. */
	bool ended;
	uint32_t samples;
	uint64_t due, missed; /* Of all CPUs, as the last message had it, */
	uint64_t taken, lost;
};

/* Makes the ports; then streams may be begun to them, by MACH_MSG_TYPE_MAKE_SEND. */
void tally_new(struct tally *tallies, uint32_t count,
	       void (*take)(struct tally *, const struct prof_sample *));

/* Receives until all of the streams have ended, and destroys the ports. */
void tally_all(struct tally *tallies, uint32_t count);

#endif
