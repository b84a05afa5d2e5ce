/* SPDX-License-Identifier: MIT */
/* A profile for each program that a job runs: -children, where a gmon.out is written. */
#ifndef MONCTL_CHILDREN_H
#define MONCTL_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monctl.h"

struct program;

/* The program with which the job begins has a profile, with or without samples. */
void children_begin(const struct program *first);

/* Sees all records of the job's stream. */
void children_watch(const uint32_t *words, size_t count);

/*
 * Writes them: that of the first program to `file`, and others to `file.NAME`, no two to one.  Says
 * of each what it has.  False with a report if one is not where it belongs.
 */
bool children_write(FILE *to, const char *file, enum gprof_format format);

#endif
