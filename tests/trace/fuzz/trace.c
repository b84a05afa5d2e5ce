/* SPDX-License-Identifier: MIT */
/* What libFuzzer throws at kdump: tests/trace/fuzz/run. */
#include <stdio.h>

#include "ktrace/made.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
	static FILE *nowhere;
	int is_damaged;

	if (nowhere == NULL)
		stderr = nowhere = fopen("/dev/null", "w");
	made_read(bytes, size, &is_damaged);
	return 0;
}
