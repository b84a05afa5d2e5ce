/* SPDX-License-Identifier: MIT */
/* Profiles on their way into files. */
#ifndef MONCTL_OUTPUT_H
#define MONCTL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens a file for output_replace(), and makes it if there is none; -1 with errno. */
int output_open(const char *path, bool *is_new);

/*
 * Writes these bytes in place of what is in the file, and goes to their end.  False with errno; if
 * it was for want of room, the file has what it had.
 */
bool output_replace(int descriptor, const void *data, size_t size);

/* Both for a file of this name; false with errno. */
bool output_write(const char *path, const void *data, size_t size);

/*
 * Writes the profile of a process that has ended, which cannot be asked for it again: if it cannot
 * be written to `path`, it is kept in another file, and a report says where.  Answers the path of
 * the file that it is in, in memory of its own; NULL if there is none.
 */
char *output_keep(const char *path, int pid, const void *data, size_t size);

/* Warns if the gmon.out says that its clock was not exact. */
void output_warn(const void *data, size_t size);

/* The warning itself. */
void output_warn_of_clock(void);

#endif
