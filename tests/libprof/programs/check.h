/* SPDX-License-Identifier: MIT */
/* What programs check themselves, and how many of it was not so. */
#ifndef LIBPROF_CHECK_H
#define LIBPROF_CHECK_H

#include <stdio.h>

static int failures;

#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			printf("line %d: not so: %s\n", __LINE__, #condition); \
			failures++;                                            \
		}                                                              \
	} while (0)

#endif
