/* SPDX-License-Identifier: MIT */
/* What the readers of several kinds of gmon.out share, and the choice among them (read.c). */
#ifndef GPROF_READ_H
#define GPROF_READ_H

#include "model.h"
#include "util.h"

#define GMON_BIN_BYTES 2u

extern const char read_other_rate[];
extern const char read_overlap[];

/*
 * Notes at how many samples a second the flavor was sampled; 0: the file does not say.  False if
 * an earlier file said something else.
 */
bool read_rate(struct profile_flavor *flavor, double rate);

/* Whether it has single samples, and not counts. */
bool read_is_recording(const unsigned char *bytes, size_t size);

/* Adds a file of any kind.  Returns NULL, or what is wrong. */
const char *read_profile(struct profile *profile, const unsigned char *bytes, size_t size,
			 unsigned address_bytes);

static inline uint64_t load_address(const unsigned char *bytes, unsigned address_bytes)
{
	return address_bytes == 8 ? load_u64(bytes) : load_u32(bytes);
}

#endif
