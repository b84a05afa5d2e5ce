/* SPDX-License-Identifier: MIT */
/* Labels: on whose behalf a thread runs.  Guarded by the kernel lock. */
#ifndef TASK_LABEL_H
#define TASK_LABEL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A thread of another task has been charged a tick while it ran on behalf of `label`: that task, if
 * it is there, has been served so long.
 */
void label_charge(uint32_t label, bool in_kernel);

#endif
