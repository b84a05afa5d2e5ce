/* SPDX-License-Identifier: MIT */
/*
 * Files that profiles are written to.
 *
 * What is in an older file stays until something whole takes its place: that is written beside it,
 * and renamed.  Where that cannot be, it is overwritten: a file with several names or behind a
 * symbolic link stays what it is for all of them, and in a folder that may not be written to, or of
 * another owner, there is no other way.  A device is just written to.
 */
#ifndef MONCTL_OUTPUT_H
#define MONCTL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct output {
	const char *path;
	int descriptor; /* -1: there is no such file yet. */
	bool is_new;    /* We have made it. */
	bool is_begun;  /* Something has been put into it, */
	off_t size;     /* so much. */
};

/* Opens a file that is there; what is in it stays.  False with errno if it may not be written. */
bool output_open(struct output *output, const char *path);

/* Opens it so, or makes an empty one if there is none. */
bool output_make(struct output *output, const char *path);

/*
 * Puts bytes behind those that were put before: the first in place of what was in the file.  False
 * with errno if they are not in it, and none of them is.
 */
bool output_put(struct output *output, const void *data, size_t size);

/* Closes it as if it had never been opened: nothing was put into it. */
void output_undo(struct output *output);

/* False with errno if what was put is perhaps not in the file. */
bool output_close(struct output *output);

/* Makes a file of these bytes alone; false with errno. */
bool output_write(const char *path, const void *data, size_t size);

/*
 * Writes the profile of a process that has ended, which cannot be asked for it again: if it cannot
 * be written to `path`, it is kept in another file, and a report says where.  Answers the path of
 * the file that it is in, in memory of its own; NULL if there is none.
 */
char *output_keep(const char *path, int pid, const void *data, size_t size);

#endif
