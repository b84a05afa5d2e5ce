/* SPDX-License-Identifier: MIT */
/* Times, as interfaces tell them. */
#ifndef MACH_TIME_VALUE_H
#define MACH_TIME_VALUE_H

#include <stdint.h>

#include <mach/vm_types.h>

struct time_value {
	long_integer_t seconds;
	integer_t microseconds;
};

typedef struct time_value time_value_t;
typedef struct time_value rpc_time_value_t;

struct time_value64 {
	int64_t seconds;
	int64_t nanoseconds;
};

typedef struct time_value64 time_value64_t;

#define TIME_MICROS_MAX 1000000
#define TIME_NANOS_MAX  1000000000

/* What the time device's page shows. */
typedef struct mapped_time_value {
	integer_t seconds;
	integer_t microseconds;
	integer_t check_seconds;
} mapped_time_value_t;

#define TIME_VALUE_TO_TIMESPEC(tv, ts)                     \
	do {                                               \
		(ts)->tv_sec = (tv)->seconds;              \
		(ts)->tv_nsec = (tv)->microseconds * 1000; \
	} while (0)
#define TIMESPEC_TO_TIME_VALUE(tv, ts)                     \
	do {                                               \
		(tv)->seconds = (ts)->tv_sec;              \
		(tv)->microseconds = (ts)->tv_nsec / 1000; \
	} while (0)

#endif
