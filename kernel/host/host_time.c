/* SPDX-License-Identifier: MIT */
/*
 * The time of day for users: routines of defs/mach/mach_host.defs on top of base/clock.h.  There
 * are two forms of each: seconds and microseconds in words, and seconds and nanoseconds in 64 bits.
 */
#include <stdbool.h>

#include <mach/time_value.h>

#include "base/clock.h"
#include "base/divide.h"
#include "host/host.h"
#include "mach/mach_host_server.h"

#define NS_PER_MICROSECOND 1000

/* More than these and nanoseconds do not fit into 64 bits, with a sign for adjustments. */
#define SECONDS_MAX    (1ll << 34)
#define ADJUSTMENT_MAX (1ll << 32)

static time_value64_t host_time_split(uint64_t ns)
{
	uint64_t seconds = divide(ns, NS_PER_SECOND);

	return (time_value64_t){.seconds = (int64_t)seconds,
				.nanoseconds = (int64_t)(ns - seconds * NS_PER_SECOND)};
}

static time_value64_t host_time_split_signed(int64_t ns)
{
	time_value64_t time = host_time_split((uint64_t)(ns < 0 ? -ns : ns));

	if (ns < 0) {
		time.seconds = -time.seconds;
		time.nanoseconds = -time.nanoseconds;
	}
	return time;
}

static time_value_t host_time_narrow(time_value64_t time)
{
	return (time_value_t){.seconds = (long_integer_t)time.seconds,
			      .microseconds = (integer_t)time.nanoseconds / NS_PER_MICROSECOND};
}

/* The parts need not be normal: a multiplication cannot overflow what `microseconds` holds. */
static time_value64_t host_time_widen(time_value_t time)
{
	return (time_value64_t){.seconds = time.seconds,
				.nanoseconds = (int64_t)time.microseconds * NS_PER_MICROSECOND};
}

/* ---------------- Reading ---------------- */

kern_return_t host_get_time(host_t host, time_value_t *time)
{
	if (host == NULL)
		return KERN_INVALID_HOST;
	*time = host_time_narrow(host_time_split(clock_wall()));
	return KERN_SUCCESS;
}

kern_return_t host_get_time64(host_t host, time_value64_t *time)
{
	if (host == NULL)
		return KERN_INVALID_HOST;
	*time = host_time_split(clock_wall());
	return KERN_SUCCESS;
}

kern_return_t host_get_uptime64(host_t host, time_value64_t *uptime)
{
	if (host == NULL)
		return KERN_INVALID_HOST;
	*uptime = host_time_split(clock_now());
	return KERN_SUCCESS;
}

/* ---------------- Setting ---------------- */

kern_return_t host_set_time64(host_t host, time_value64_t time)
{
	if (host == NULL)
		return KERN_INVALID_HOST;
	if (time.seconds < 0 || time.seconds >= SECONDS_MAX || time.nanoseconds < 0 ||
	    time.nanoseconds >= TIME_NANOS_MAX)
		return KERN_INVALID_ARGUMENT;
	clock_set_wall((uint64_t)time.seconds * NS_PER_SECOND + (uint64_t)time.nanoseconds);
	return KERN_SUCCESS;
}

kern_return_t host_set_time(host_t host, time_value_t time)
{
	return host_set_time64(host, host_time_widen(time));
}

static bool host_time_is_adjustment(time_value64_t time)
{
	return time.seconds > -ADJUSTMENT_MAX && time.seconds < ADJUSTMENT_MAX &&
	       time.nanoseconds > -ADJUSTMENT_MAX * NS_PER_MICROSECOND &&
	       time.nanoseconds < ADJUSTMENT_MAX * NS_PER_MICROSECOND;
}

kern_return_t host_adjust_time64(host_t host, time_value64_t adjustment, time_value64_t *old)
{
	if (host == NULL)
		return KERN_INVALID_HOST;
	if (!host_time_is_adjustment(adjustment))
		return KERN_INVALID_ARGUMENT;
	*old = host_time_split_signed(
		clock_adjust_wall(adjustment.seconds * NS_PER_SECOND + adjustment.nanoseconds));
	return KERN_SUCCESS;
}

kern_return_t host_adjust_time(host_t host, time_value_t adjustment, time_value_t *old)
{
	time_value64_t wide;
	kern_return_t result = host_adjust_time64(host, host_time_widen(adjustment), &wide);

	if (result == KERN_SUCCESS)
		*old = host_time_narrow(wide);
	return result;
}
