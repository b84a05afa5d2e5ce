/* SPDX-License-Identifier: MIT */
/* The programs of a recording, from a folder that has them where the machine had them. */
#ifndef GPROF_PROGRAMS_H
#define GPROF_PROGRAMS_H

#include <stddef.h>

#include "../model.h"

struct programs {
	struct opened *items;
	size_t n;
	size_t room;
};

/*
 * Gives the profile's images symbols, as far as the folder has their programs; says of which it has
 * another one.
 */
void programs_open(struct programs *programs, struct profile *profile, const char *folder);
void programs_close(struct programs *programs);

#endif
