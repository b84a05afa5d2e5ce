/* SPDX-License-Identifier: MIT */
/* Messages of commands. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/common.h"

#define MESSAGE_ROOM 1024

const char *program_name = "?";

void program_start(char **arguments)
{
	const char *slash;

	if (arguments[0] == NULL)
		return;
	slash = strrchr(arguments[0], '/');
	program_name = slash != NULL ? slash + 1 : arguments[0];
}

/* In one write, so that lines of several programs do not mix. */
static void say(const char *format, va_list arguments)
{
	char message[MESSAGE_ROOM];
	int length = snprintf(message, sizeof(message), "%.100s: ", program_name);

	vsnprintf(message + length, sizeof(message) - (size_t)length - 1, format, arguments);
	strcat(message, "\n");
	fflush(stdout);
	/* There is nowhere to report that reporting failed. */
	if (write(STDERR_FILENO, message, strlen(message)) < 0)
		return;
}

void report(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

void report_errno(const char *what)
{
	report("%s: %s", what, strerror(errno));
}

void report_exit(int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	exit(status);
}

void usage(const char *text)
{
	fprintf(stderr, "usage: %s\n", text);
	exit(2);
}

int program_end(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	report_errno("standard output");
	return status != 0 ? status : 1;
}
