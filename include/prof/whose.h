/* SPDX-License-Identifier: MIT */
/*
 * Whose profile a file is, lest one program's take the place of another's that nobody has read.
 *
 * A `path` has PATH_MAX bytes.  Only system calls are made, so all may be called in a handler of a
 * signal.
 */
#ifndef PROF_WHOSE_H
#define PROF_WHOSE_H

#include <stdbool.h>
#include <stdint.h>

#include <gmon.h>

/* Of whom a profile in the GNU form says it is. */
struct whose {
	uint32_t task;
	uint32_t pid;
	char name[GMON_NAME_ROOM];
};

/*
 * Where a profile of `own` goes whose usual place is `usual`: there, or beside it if what is there
 * is another program's, or was written while `own` ran.  False in that case, and `other` has it.
 */
bool prof_whose_choose(const char *usual, const struct whose *own, char *path, struct whose *other);

/*
 * Gives a file that is whole the name that is chosen so, whoever does that at the same time: what
 * may not be replaced is never gone.  0, when `path` is its name, or an errno.
 */
int prof_whose_place(const char *file, const char *usual, const struct whose *own, char *path,
		     struct whose *other, bool *is_beside);

#endif
