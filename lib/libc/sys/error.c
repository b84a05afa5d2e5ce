/* SPDX-License-Identifier: MIT */
/* errno, and what errors of Mach's mean to a program that knows only Unix. */
#include <mach/message.h>
#include <string.h>

#include "../internal.h"
#include "call.h"

int *__errno_location(void)
{
	return &tcb_self()->error;
}

int __thread_id(void)
{
	return tcb_self()->id;
}

int __path_error(const char *path)
{
	if (is_bad(path, 1))
		return EFAULT;
	return strnlen(path, PATH_MAX) < PATH_MAX ? 0 : ENAMETOOLONG;
}

int __error_of(kern_return_t result)
{
	if (result > 0 && result <= ELAST)
		return result;
	/* What was sent back did not fit into the kernel's memory or the task's. */
	if ((result & ~MACH_MSG_MASK) == MACH_RCV_BODY_ERROR)
		return ENOMEM;
	switch (result) {
	case MACH_SEND_INVALID_MEMORY:
	case MACH_SEND_INVALID_DATA:
	case MACH_RCV_INVALID_DATA:
		return EFAULT;
	case MACH_SEND_NO_BUFFER:
	case MACH_SEND_INVALID_REPLY: /* There was no memory for a port to answer to. */
		return ENOMEM;
	default:
		return EIO; /* The server is gone, or does not know the call. */
	}
}
