/* SPDX-License-Identifier: MIT */
/* How the shell says that something is wrong, and how it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "prompt.h"
#include "sh.h"

#define MESSAGE_ROOM 1024

jmp_buf prompt_jump;
bool prompt_is_set;

/* One write, so that the lines of several processes do not mix. */
static void say(const char *format, va_list arguments)
{
	char message[MESSAGE_ROOM];
	int length;

	if (shell.file != NULL)
		length = snprintf(message, sizeof(message), "sh: %s: %d: ", shell.file, shell.line);
	else
		length = snprintf(message, sizeof(message), "sh: ");
	if (length > MESSAGE_ROOM / 2)
		length = MESSAGE_ROOM / 2;
	vsnprintf(message + length, sizeof(message) - (size_t)length - 1, format, arguments);
	strcat(message, "\n");
	/* There is nowhere to report that reporting failed. */
	if (write(STDERR_FILENO, message, strlen(message)) < 0)
		return;
}

void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

void die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	_exit(STATUS_SYNTAX);
}

void abandon(int status)
{
	shell.status = status;
	if (prompt_is_set && !shell.is_forked)
		longjmp(prompt_jump, 1);
	shell_exit(status);
}

void fail(int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	abandon(status);
}

void shell_exit(int status)
{
	shell.status = status;
	shell.skip = SKIP_NOTHING;
	traps_run_exit();
	fflush(stdout);
	_exit(shell.status & 0xff);
}
