/* SPDX-License-Identifier: MIT */
/* env: runs a command in a changed environment, or prints the environment. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE     "env [-i] [-u NAME]... [NAME=VALUE]... [COMMAND [ARGUMENT...]]"
#define NOT_RUN   126
#define NOT_FOUND 127

extern char **environ;

int main(int count, char **arguments)
{
	static char *nothing[] = {NULL};
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "iu:")) != -1) {
		if (option == '?')
			usage(USAGE);
		if (option == 'i')
			environ = nothing;
		else if (unsetenv(optarg) != 0)
			report_exit(1, "%s: %s", optarg, strerror(errno));
	}
	for (; optind < count && strchr(arguments[optind], '=') != NULL; optind++)
		if (putenv(arguments[optind]) != 0)
			report_exit(1, "%s: %s", arguments[optind], strerror(errno));
	if (optind < count) {
		execvp(arguments[optind], arguments + optind);
		report_errno(arguments[optind]);
		return errno == ENOENT ? NOT_FOUND : NOT_RUN;
	}
	for (char **entry = environ; *entry != NULL; entry++)
		puts(*entry);
	return program_end(0);
}
