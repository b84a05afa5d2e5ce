/* SPDX-License-Identifier: MIT */
/* The end of a program whose assertion is false. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

void __assert_fail(const char *condition, const char *file, unsigned line, const char *function)
{
	fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, condition);
	abort();
}
