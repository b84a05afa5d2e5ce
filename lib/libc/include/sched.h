/* SPDX-License-Identifier: MIT */
/* Giving up the CPU. */
#ifndef _SCHED_H
#define _SCHED_H

int sched_yield(void);

#endif
