/* SPDX-License-Identifier: MIT */
/* The time of day for records, without a call of the kernel for each. */
#ifndef UX_TRACE_CLOCK_H
#define UX_TRACE_CLOCK_H

#include <sys/time.h>

/* To the microsecond; who sets the time of day is heard of a moment later. */
struct timeval trace_clock_now(void);

#endif
