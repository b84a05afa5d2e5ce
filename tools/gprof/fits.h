/* SPDX-License-Identifier: MIT */
/* Whether what was read is a profile of the program: see fits.c. */
#ifndef GPROF_FITS_H
#define GPROF_FITS_H

#include "model.h"

/* How far a profile was filled before one more file was read. */
struct profile_mark {
	size_t arcs;
	size_t bins[PROFILE_FLAVORS];
	size_t counts[PROFILE_FLAVORS];
};

enum profile_fit {
	PROFILE_SAME_CODE,    /* The file proves it. */
	PROFILE_MAY_FIT,      /* Nothing speaks against it. */
	PROFILE_OTHER_CODE,   /* The file proves that it is not. */
	PROFILE_OTHER_PLACES, /* Addresses that the program has not; */
	PROFILE_OTHER_CALLS,  /* or calls counted where it counts none. */
};

/* Before a file is read; */
void profile_mark(struct profile *profile, struct profile_mark *mark);

/* and when it was. */
enum profile_fit profile_fits(const struct profile *profile, const struct profile_mark *mark,
			      const struct elfsym *elf);

/* Of single samples, which say what program was mapped where, of what the profile calls it. */
enum profile_fit profile_fits_images(const struct profile *profile, const struct elfsym *elf,
				     const char *program);

/*
 * What the profile calls the program: if none of its images has that name, then like the one whose
 * code lay exactly where this one has it.  (The Unix server is loaded as /mach_servers/startup.)
 */
const char *profile_name_of(const struct profile *profile, const struct elfsym *elf,
			    const char *program);

#endif
