/* SPDX-License-Identifier: MIT */
/* Dates and clocks.  All times are UTC. */
#ifndef _TIME_H
#define _TIME_H

#include <stddef.h>
#include <sys/time.h>
#include <sys/types.h>

#define CLOCKS_PER_SEC 1000000

struct tm {
	int tm_sec;
	int tm_min;
	int tm_hour;
	int tm_mday;
	int tm_mon;
	int tm_year; /* Since 1900. */
	int tm_wday;
	int tm_yday;
	int tm_isdst;
};

typedef int clockid_t;

#define CLOCK_REALTIME  0
#define CLOCK_MONOTONIC 1

time_t time(time_t *now);
clock_t clock(void);
double difftime(time_t end, time_t start);
int clock_gettime(clockid_t clock, struct timespec *now);
int nanosleep(const struct timespec *wanted, struct timespec *left);

struct tm *gmtime(const time_t *when);
struct tm *gmtime_r(const time_t *when, struct tm *result);
struct tm *localtime(const time_t *when);
struct tm *localtime_r(const time_t *when, struct tm *result);
time_t mktime(struct tm *date);
time_t timegm(struct tm *date);
char *asctime(const struct tm *date);
char *asctime_r(const struct tm *date, char *text);
char *ctime(const time_t *when);
char *ctime_r(const time_t *when, char *text);
size_t strftime(char *text, size_t room, const char *format, const struct tm *date);

#endif
