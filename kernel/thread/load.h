/* SPDX-License-Identifier: MIT */
/*
 * How busy the machine has been of late: averages that decay over 5, 30 and 60 seconds.
 *
 * Each second a timer looks how many threads run or could.  Guarded by the kernel lock.
 */
#ifndef THREAD_LOAD_H
#define THREAD_LOAD_H

struct host_load_info;

void load_init(void);

/* The averages as they are now; `info` is the kernel's memory. */
void load_read(struct host_load_info *info);

#endif
