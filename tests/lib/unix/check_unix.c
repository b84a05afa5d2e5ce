/* SPDX-License-Identifier: MIT */
/* What checks print and count in a program that runs under the Unix server: see check_unix.h. */
#include "check_unix.h"

int check_failures;

void check_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("  ");
	vprintf(format, arguments);
	printf("\n");
	va_end(arguments);
	check_failures++;
}

bool check_failed(void)
{
	return check_failures != 0;
}

bool check_true(const char *file, int line, const char *text, bool passed)
{
	if (!passed)
		check_fail("%s:%d: expected %s (errno %d)", file, line, text, errno);
	return passed;
}

bool check_values(const char *file, int line, const char *text, bool passed, long long a,
		  long long b)
{
	if (!passed)
		check_fail("%s:%d: expected %s, got %lld and %lld (errno %d)", file, line, text, a,
			   b, errno);
	return passed;
}

bool check_strings(const char *file, int line, const char *text, const char *a, const char *b)
{
	bool passed = strcmp(a, b) == 0;

	if (!passed)
		check_fail("%s:%d: expected %s, got \"%s\" and \"%s\"", file, line, text, a, b);
	return passed;
}

bool check_error(const char *file, int line, const char *text, long long result, int error)
{
	int was = errno;
	bool passed = result == -1 && was == error;

	if (!passed)
		check_fail("%s:%d: expected %s, got %lld and errno %d", file, line, text, result,
			   was);
	return passed;
}
