/* SPDX-License-Identifier: MIT */
/* Time as it passed, of recordings that have waits: see wall.c. */
#ifndef GPROF_WALL_H
#define GPROF_WALL_H

#include "model.h"

#define WALL "wall" /* The flavor's name. */

/*
 * Makes one flavor of all samples that are times, and of waits what nothing else in the recording
 * tells more of.  False, and nothing has changed, if it has no waits.  Before profile_finish().
 */
bool profile_add_wall(struct profile *profile);

#endif
