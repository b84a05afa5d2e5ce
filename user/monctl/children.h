/* SPDX-License-Identifier: MIT */
/* A profile for each program that a job runs: -children, where a gmon.out is written. */
#ifndef MONCTL_CHILDREN_H
#define MONCTL_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mach/prof.h>

#include "monctl.h"

struct program;
struct child_profile;

/* All of one job; zeroes before it begins. */
struct children {
	struct child_profile *profiles; /* In the order in which they came. */
	const struct program *first_program;
	struct prof_begin begin;
	uint64_t samples; /* All, */
	uint64_t unknown; /* and those of a task that nobody knows any more. */
};

/* The program with which the job begins has a profile, with or without samples. */
void children_begin(struct children *children, const struct program *first);

/* Sees all records of the job's stream. */
void children_watch(void *children, const uint32_t *words, size_t count);

/*
 * Writes them: that of the first program to `file`, and others to `file.NAME`, no two to one.  Says
 * of each what it has.  False with a report if one is not where it belongs.
 */
bool children_write(struct children *children, FILE *to, const char *file,
		    enum gprof_format format);

#endif
