/* SPDX-License-Identifier: MIT */
/* sleep: does nothing for some seconds. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE       "sleep SECONDS[.FRACTION]"
#define NANO_DIGITS 9
#define SECONDS_MAX 1000000000

/* Digits, perhaps a point and more digits; without floating point, so that 0.1 is exact. */
static bool parse_seconds(const char *text, struct timespec *time)
{
	size_t whole = strspn(text, "0123456789");
	const char *fraction = text[whole] == '.' ? text + whole + 1 : "";
	size_t digits = strspn(fraction, "0123456789");

	if (whole + digits == 0 || fraction[digits] != '\0' ||
	    (text[whole] != '\0' && text[whole] != '.'))
		return false;
	time->tv_sec = time->tv_nsec = 0;
	for (size_t i = 0; i < whole && time->tv_sec < SECONDS_MAX; i++)
		time->tv_sec = time->tv_sec * 10 + (text[i] - '0');
	if (time->tv_sec > SECONDS_MAX)
		time->tv_sec = SECONDS_MAX;
	for (size_t i = 0; i < NANO_DIGITS; i++)
		time->tv_nsec = time->tv_nsec * 10 + (i < digits ? fraction[i] - '0' : 0);
	return true;
}

int main(int count, char **arguments)
{
	struct timespec time;

	program_start(arguments);
	if (count != 2)
		usage(USAGE);
	if (!parse_seconds(arguments[1], &time)) {
		report("%s: not a number of seconds", arguments[1]);
		usage(USAGE);
	}
	while (nanosleep(&time, &time) != 0)
		if (errno != EINTR) {
			report_errno(arguments[1]);
			return 1;
		}
	return 0;
}
