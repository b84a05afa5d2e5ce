/* SPDX-License-Identifier: MIT */
/* date: prints the time, in UTC, as a format says. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE     "date [-u] [+FORMAT]"
#define LINE_ROOM 1024

/* There is one time zone: -u is for those who are used to it. */
int main(int count, char **arguments)
{
	const char *format = "%a %b %e %H:%M:%S UTC %Y";
	char line[LINE_ROOM];
	struct tm *broken;
	time_t now = time(NULL);
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "u")) != -1)
		if (option == '?')
			usage(USAGE);
	if (optind < count) {
		if (arguments[optind][0] != '+' || optind + 1 < count)
			usage(USAGE);
		format = arguments[optind] + 1;
	}
	broken = gmtime(&now);
	line[0] = '\0';
	if (broken == NULL || (strftime(line, sizeof(line), format, broken) == 0 &&
			       *format != '\0' && line[0] != '\0'))
		report_exit(1, "%s: too long", format);
	puts(line);
	return program_end(0);
}
