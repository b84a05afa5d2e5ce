/* SPDX-License-Identifier: MIT */
/* Times of Unix calls, and the interval timers. */
#ifndef SYS_TIME_H
#define SYS_TIME_H

#include <sys/types.h>

struct timeval {
	time_t tv_sec;
	suseconds_t tv_usec;
};

struct timespec {
	time_t tv_sec;
	long tv_nsec;
};

struct itimerval {
	struct timeval it_interval; /* 0: the timer expires once. */
	struct timeval it_value;    /* 0: it does not run. */
};

#define ITIMER_REAL    0 /* SIGALRM to the process. */
#define ITIMER_VIRTUAL 1 /* SIGVTALRM to the thread that ran, by time in user mode; */
#define ITIMER_PROF    2 /* SIGPROF, by time in user mode and in the kernel. */
#define ITIMERS        3

#ifndef UX_SERVER
struct timezone;

int gettimeofday(struct timeval *now, struct timezone *zone);
int setitimer(int which, const struct itimerval *new_value, struct itimerval *old_value);
int getitimer(int which, struct itimerval *value);
int utimes(const char *path, const struct timeval times[2]);
#endif

#endif
