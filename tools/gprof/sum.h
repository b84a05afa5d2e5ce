/* SPDX-License-Identifier: MIT */
/* Writing a profile as gmon.sum: gmon_write.c. */
#ifndef GPROF_SUM_H
#define GPROF_SUM_H

#include "model.h"

/* Fails if the file cannot be written, or cannot hold such a profile. */
void gmon_write(const struct profile *profile, const struct elfsym *elf, const char *name);

#endif
