/* SPDX-License-Identifier: MIT */
/* A gmon.out beside a recording: what of it adds to the recording's samples.  See beside.c. */
#ifndef GPROF_BESIDE_H
#define GPROF_BESIDE_H

#include "model.h"

enum beside {
	BESIDE_ADDS,    /* Of another run, or of whatever run: its samples are others. */
	BESIDE_CALLS,   /* Of the same run, or stacks say more: its calls alone are added. */
	BESIDE_NOTHING, /* Of another run: what has stacks and what has none do not add up. */
};

/* The recordings that were read so far, and what one gmon.out has. */
enum beside beside_what(const struct profile *recorded, const struct profile *counted);

/* Adds the calls, and notes how many samples are not added and why. */
void beside_take_calls(struct profile *recorded, struct profile *counted);

#endif
