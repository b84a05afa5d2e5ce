/* SPDX-License-Identifier: MIT */
/* What time it is, and waiting for a later one. */
#include <mach.h>
#include <assay/traps.h>
#include <errno.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../sys/call.h"

#define NANOS_PER_SECOND  1000000000u
#define NANOS_PER_MICRO   1000u
#define NANOS_PER_MILLI   1000000u
#define MICROS_PER_SECOND 1000000
#define LONGEST_MS        0x7fffffffu /* Of one wait of the kernel's. */

kern_return_t assay_clock_read(enum assay_clock which, uint64_t *value);

static uint64_t nanoseconds(enum assay_clock which)
{
	uint64_t value = 0;

	assay_clock_read(which, &value);
	return value;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	uint64_t value;

	if (is_bad(now, sizeof *now))
		return finish(EFAULT);
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
		return finish(EINVAL);
	value = nanoseconds(clock == CLOCK_REALTIME ? ASSAY_CLOCK_WALL : ASSAY_CLOCK_MONOTONIC);
	now->tv_sec = (time_t)(value / NANOS_PER_SECOND);
	now->tv_nsec = (long)(value % NANOS_PER_SECOND);
	return 0;
}

int gettimeofday(struct timeval *now, struct timezone *zone)
{
	uint64_t value = nanoseconds(ASSAY_CLOCK_WALL);

	(void)zone; /* There are none. */
	if (is_bad(now, sizeof *now))
		return finish(EFAULT);
	now->tv_sec = (time_t)(value / NANOS_PER_SECOND);
	now->tv_usec = (suseconds_t)(value % NANOS_PER_SECOND / NANOS_PER_MICRO);
	return 0;
}

time_t time(time_t *now)
{
	time_t seconds = (time_t)(nanoseconds(ASSAY_CLOCK_WALL) / NANOS_PER_SECOND);

	if (now != NULL)
		*now = seconds;
	return seconds;
}

double difftime(time_t end, time_t start)
{
	return (double)end - (double)start;
}

clock_t clock(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) != 0)
		return -1;
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * MICROS_PER_SECOND +
	       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

/* ---------------- Sleeping ---------------- */

/*
 * Waits for a message that nobody sends, so that a signal ends the wait.  0, or EINTR.
 */
static int wait_ms(mach_port_t port, uint32_t milliseconds)
{
	mach_msg_header_t message;
	mach_msg_return_t result =
		mach_msg(&message, MACH_RCV_MSG | MACH_RCV_TIMEOUT | MACH_RCV_INTERRUPT, 0,
			 sizeof message, port, milliseconds, MACH_PORT_NULL);

	return result == MACH_RCV_INTERRUPTED ? EINTR : 0;
}

/* Until the monotonic clock says `deadline`. */
static int wait_until(uint64_t deadline)
{
	mach_port_t port = mig_get_reply_port();
	uint64_t now;
	int result = 0;

	while (result == 0 && (now = nanoseconds(ASSAY_CLOCK_MONOTONIC)) < deadline) {
		uint64_t left = (deadline - now + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI;

		result = wait_ms(port, left > LONGEST_MS ? LONGEST_MS : (uint32_t)left);
	}
	mig_put_reply_port(port);
	return result;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	uint64_t deadline, now;
	int result;

	if (is_bad(wanted, sizeof *wanted) || is_bad_option(left, sizeof *left))
		return finish(EFAULT);
	if (wanted->tv_sec < 0 || wanted->tv_nsec < 0 || wanted->tv_nsec >= (long)NANOS_PER_SECOND)
		return finish(EINVAL);
	deadline = nanoseconds(ASSAY_CLOCK_MONOTONIC) +
		   (uint64_t)wanted->tv_sec * NANOS_PER_SECOND + (uint64_t)wanted->tv_nsec;
	result = wait_until(deadline);
	if (result != 0 && left != NULL) {
		now = nanoseconds(ASSAY_CLOCK_MONOTONIC);
		now = now < deadline ? deadline - now : 0;
		left->tv_sec = (time_t)(now / NANOS_PER_SECOND);
		left->tv_nsec = (long)(now % NANOS_PER_SECOND);
	}
	return finish(result);
}

unsigned sleep(unsigned seconds)
{
	struct timespec wanted = {.tv_sec = (time_t)seconds}, left = {0};

	if (nanosleep(&wanted, &left) == 0)
		return 0;
	return (unsigned)left.tv_sec + (left.tv_nsec != 0);
}

int usleep(useconds_t microseconds)
{
	struct timespec wanted = {
		.tv_sec = (time_t)(microseconds / MICROS_PER_SECOND),
		.tv_nsec = (long)(microseconds % MICROS_PER_SECOND * NANOS_PER_MICRO),
	};

	return nanosleep(&wanted, NULL);
}

/* ---------------- Interval timers ---------------- */

int setitimer(int which, const struct itimerval *new_value, struct itimerval *old_value)
{
	struct itimerval old;

	if (is_bad(new_value, sizeof *new_value) || is_bad_option(old_value, sizeof old))
		return finish(EFAULT);
	if (finish(CALL(bsd_setitimer, which, 1, *new_value, &old)) != 0)
		return -1;
	if (old_value != NULL)
		*old_value = old;
	return 0;
}

int getitimer(int which, struct itimerval *value)
{
	static const struct itimerval none;

	if (is_bad(value, sizeof *value))
		return finish(EFAULT);
	return finish(CALL(bsd_setitimer, which, 0, none, value));
}

unsigned alarm(unsigned seconds)
{
	struct itimerval new = {.it_value.tv_sec = (time_t)seconds}, old = {0};

	setitimer(ITIMER_REAL, &new, &old);
	return (unsigned)old.it_value.tv_sec + (old.it_value.tv_usec != 0);
}
