/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a word of memory to change: what locks in user programs are made of.
 *
 * The calls themselves, gsync_wait(), gsync_wake() and gsync_requeue(), are declared by the stubs.
 */
#ifndef TASK_GSYNC_H
#define TASK_GSYNC_H

void gsync_module_init(void);

#endif
