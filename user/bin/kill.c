/* SPDX-License-Identifier: MIT */
/* kill: sends a signal to processes. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "common/common.h"

#define USAGE "kill [-s NAME | -NAME | -NUMBER] PID... or kill -l [STATUS]"

static int signal_or_exit(const char *name)
{
	int number = name != NULL ? signal_number(name) : -1;

	if (number >= 0)
		return number;
	if (name != NULL)
		report("%s: no such signal", name);
	usage(USAGE);
}

/* All names, or the one that the exit status of a program tells. */
static int list(const char *status)
{
	long long number;

	if (status != NULL) {
		if (!parse_number(status, &number) || signal_name((int)number & 127) == NULL)
			report_exit(1, "%s: no such signal", status);
		puts(signal_name((int)number & 127));
		return program_end(0);
	}
	for (int i = 1; signal_name(i) != NULL; i++)
		printf("%2d %s\n", i, signal_name(i));
	return program_end(0);
}

static bool send(const char *argument, int signal)
{
	long long pid;

	if (!parse_number(argument, &pid) || pid != (pid_t)pid) {
		report("%s: not a process", argument);
		return false;
	}
	if (kill((pid_t)pid, signal) == 0)
		return true;
	report_errno(argument);
	return false;
}

int main(int count, char **arguments)
{
	int signal = SIGTERM;
	int status = 0;
	int first = 1;

	program_start(arguments);
	if (count < 2)
		usage(USAGE);
	if (strcmp(arguments[1], "-l") == 0)
		return list(arguments[2]);
	if (strcmp(arguments[1], "-s") == 0) {
		signal = signal_or_exit(arguments[2]);
		first = 3;
	} else if (arguments[1][0] == '-' && strcmp(arguments[1], "--") != 0) {
		signal = signal_or_exit(arguments[1] + 1);
		first = 2;
	}
	if (first < count && strcmp(arguments[first], "--") == 0)
		first++;
	if (first == count)
		usage(USAGE);
	for (; first < count; first++)
		if (!send(arguments[first], signal))
			status = 1;
	return status;
}
