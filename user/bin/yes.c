/* SPDX-License-Identifier: MIT */
/* yes: prints a line again and again. */
#include <stdio.h>

#include "common/common.h"

static bool print_line(int count, char **arguments)
{
	if (count < 2)
		return puts("y") >= 0;
	for (int i = 1; i < count; i++)
		if (fputs(arguments[i], stdout) < 0 || putchar(i + 1 < count ? ' ' : '\n') < 0)
			return false;
	return true;
}

int main(int count, char **arguments)
{
	program_start(arguments);
	while (print_line(count, arguments))
		continue;
	return program_end(1);
}
