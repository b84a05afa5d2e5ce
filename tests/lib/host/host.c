/* SPDX-License-Identifier: MIT */
/*
 * What check.c needs, for test programs that run on the host.
 *
 * There is no balance of a kernel here: AddressSanitizer finds what a test did not give back, and
 * the program then ends with a status that is not 0.
 */
#include "../check.h"
#include <stdio.h>

/* Written out at once: a sanitizer that ends the program leaves no time for it. */
void print(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	fflush(stdout);
}

size_t format_list(char *buffer, size_t room, const char *format, va_list arguments)
{
	return (size_t)vsnprintf(buffer, room, format, arguments);
}

void balance_note(void)
{
}

void balance_settle(void)
{
}
