/* SPDX-License-Identifier: MIT */
/* What libFuzzer throws at praudit and auditreduce: tests/trace/fuzz/run. */
#include "bsm/made.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
	made_read_all(bytes, size);
	return 0;
}
