/* SPDX-License-Identifier: MIT */
/* Processes in tables of samples (lib/rollup). */
#ifndef COMMON_ROLLED_H
#define COMMON_ROLLED_H

#include "lib/rollup/rollup.h"

/*
 * The task in the table, with what the Unix server knows of it and of those that it descends from.
 * Good until the next call.
 */
struct rollup_task *rolled_task(struct rollup *rollup, uint32_t task);

#endif
