/* SPDX-License-Identifier: MIT */
/* Numbers in arguments. */
#include <errno.h>
#include <stdlib.h>

#include "common/common.h"

bool parse_number(const char *text, long long *number)
{
	char *end;

	errno = 0;
	*number = strtoll(text, &end, 10);
	return end != text && *end == '\0' && errno == 0;
}
