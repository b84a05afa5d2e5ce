/* SPDX-License-Identifier: MIT */
/* What a process has used, and what it may have. */
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

/* Limits, by Linux's numbers.  Those that are kept are told in docs/owners.md. */
#define RLIMIT_CPU        0
#define RLIMIT_FSIZE      1
#define RLIMIT_DATA       2
#define RLIMIT_STACK      3
#define RLIMIT_CORE       4
#define RLIMIT_RSS        5
#define RLIMIT_NPROC      6 /* Processes of the real user. */
#define RLIMIT_NOFILE     7 /* Descriptors: the lowest number that is none. */
#define RLIMIT_MEMLOCK    8
#define RLIMIT_AS         9 /* Bytes of memory. */
#define RLIMIT_LOCKS      10
#define RLIMIT_SIGPENDING 11
#define RLIMIT_MSGQUEUE   12
#define RLIMIT_NICE       13
#define RLIMIT_RTPRIO     14
#define RLIM_NLIMITS      16

#define RLIM_INFINITY (~0ul)

typedef unsigned long rlim_t;

struct rlimit {
	rlim_t rlim_cur;
	rlim_t rlim_max; /* So far it can be raised by who is not root. */
};

#ifndef UX_SERVER
int getrlimit(int which, struct rlimit *limit);
int setrlimit(int which, const struct rlimit *limit);
int getrusage(int who, struct rusage *usage);
#endif

#endif
