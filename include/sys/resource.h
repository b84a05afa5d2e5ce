/* SPDX-License-Identifier: MIT */
/* What a process has used. */
#ifndef SYS_RESOURCE_H
#define SYS_RESOURCE_H

#include <sys/time.h>

#define RUSAGE_SELF     0
#define RUSAGE_CHILDREN (-1)

/*
 * Times are the process's own, and those of servers while they worked for it.  Linux's layout, and
 * behind it what Linux does not count.  Travels in messages as 32-bit words.
 */
struct rusage {
	struct timeval ru_utime;
	struct timeval ru_stime;
	int32_t ru_maxrss;
	int32_t ru_ixrss; /* Not counted, nor are the next two, */
	int32_t ru_idrss;
	int32_t ru_isrss;
	int32_t ru_minflt; /* Faults that needed no pager, */
	int32_t ru_majflt; /* and those that asked one. */
	int32_t ru_nswap;  /* nor these three, */
	int32_t ru_inblock;
	int32_t ru_oublock;
	int32_t ru_msgsnd;
	int32_t ru_msgrcv;
	int32_t ru_nsignals;
	int32_t ru_nvcsw; /* nor these two. */
	int32_t ru_nivcsw;
	int32_t ru_zfill; /* Of ru_minflt: pages zeroed, */
	int32_t ru_cow;   /* pages copied, */
	int32_t ru_reactivations;
};

#ifndef UX_SERVER
int getrusage(int who, struct rusage *usage);
#endif

#endif
