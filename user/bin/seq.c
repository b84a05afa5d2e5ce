/* SPDX-License-Identifier: MIT */
/* seq: prints numbers in a row. */
#include <stdio.h>

#include "common/common.h"

#define USAGE "seq [FIRST [STEP]] LAST"

static long long number(const char *text)
{
	long long value;

	if (!parse_number(text, &value)) {
		report("%s: not a whole number", text);
		usage(USAGE);
	}
	return value;
}

int main(int count, char **arguments)
{
	long long first = 1, step = 1, last;

	program_start(arguments);
	if (count < 2 || count > 4)
		usage(USAGE);
	last = number(arguments[count - 1]);
	if (count > 2)
		first = number(arguments[1]);
	if (count > 3)
		step = number(arguments[2]);
	if (step == 0)
		report_exit(1, "a step of 0 leads nowhere");
	while (step > 0 ? first <= last : first >= last) {
		if (printf("%lld\n", first) < 0 || __builtin_add_overflow(first, step, &first))
			break;
	}
	return program_end(0);
}
