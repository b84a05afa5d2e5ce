/* SPDX-License-Identifier: MIT */
/* basename: the last part of a path. */
#include <stdio.h>
#include <string.h>

#include "common/common.h"

int main(int count, char **arguments)
{
	char *last;
	size_t length, suffix;

	program_start(arguments);
	if (count != 2 && count != 3)
		usage("basename PATH [SUFFIX]");
	last = path_last(arguments[1]);
	length = strlen(last);
	suffix = count == 3 ? strlen(arguments[2]) : 0;
	if (suffix > 0 && suffix < length && strcmp(last + length - suffix, arguments[2]) == 0)
		last[length - suffix] = '\0';
	puts(last);
	return program_end(0);
}
