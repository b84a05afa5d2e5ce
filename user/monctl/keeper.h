/* SPDX-License-Identifier: MIT */
/* What was collected, and fits in no file. */
#ifndef MONCTL_KEEPER_H
#define MONCTL_KEEPER_H

#include <stdbool.h>

/*
 * Leaves it to a process in the background, which tries again and again until `write` has done it,
 * and says which process that is.  `what` is kept for the file `path`.
 */
void keeper_leave(const char *what, const char *path, bool (*write)(void));

#endif
