/* SPDX-License-Identifier: MIT */
/* ktrace() and utrace(): what processes do, recorded into files. */
#include <sys/ktrace.h>

#include "../internal.h"
#include "call.h"

/* Without an operation that needs the file its path does not matter, and may be null. */
int ktrace(const char *path, int operation, int facilities, int pid)
{
	if (KTROP(operation) == KTROP_CLEAR)
		path = "";
	return finish(PATH_CALL(bsd_ktrace, path, operation, (unsigned)facilities, pid));
}

int utrace(const void *data, uint32_t length)
{
	if (length > KTR_USER_MAX)
		return finish(EINVAL);
	if (is_bad(data, length))
		return finish(EFAULT);
	return finish(CALL(bsd_utrace, (char *)(uintptr_t)data, length));
}
