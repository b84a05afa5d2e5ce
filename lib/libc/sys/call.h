/* SPDX-License-Identifier: MIT */
/*
 * How each call of Unix's is made: a stub of <ux/bsd.h>, with the calling thread's port; its result
 * is 0, an error, or ERESTARTSYS, which means that nothing was done and that the call is to be made
 * again.
 *
 * Pointers do not travel: it is the stub that reads and writes what they point to.  So a call looks
 * first whether they can be a program's at all.
 */
#ifndef LIBC_CALL_H
#define LIBC_CALL_H

#include <errno.h>
#include <mach/kern_return.h>
#include <mach/vm_param.h>
#include <stddef.h>
#include <stdint.h>
#include <ux/bsd.h>

#include "../start/tcb.h"

/* The error that a result of the server or of the way to it stands for. */
int __error_of(kern_return_t result);

/* 0 if `path` can be sent; ENAMETOOLONG, or EFAULT. */
int __path_error(const char *path);

/* Sets errno if `result` is not 0; 0 or -1. */
static inline int finish(kern_return_t result)
{
	if (result == 0)
		return 0;
	errno = __error_of(result);
	return -1;
}

/*
 * Whether `size` bytes at `place` are certainly not the program's: in the first page, or in the
 * kernel's part.  What is neither, and not there, is the program's own fault (SIGSEGV).
 */
static inline int is_bad(const void *place, size_t size)
{
	uintptr_t address = (uintptr_t)place;

	if (size == 0)
		return 0;
	return address < PAGE_SIZE || address >= VM_MAX_ADDRESS || size > VM_MAX_ADDRESS - address;
}

/* The same where a null pointer means that there is nothing to read or write. */
static inline int is_bad_option(const void *place, size_t size)
{
	return place != NULL && is_bad(place, size);
}

/* Makes a call, again as long as it is to be restarted.  The value is its result. */
#define CALL(stub, ...)                                           \
	({                                                        \
		kern_return_t result_;                            \
		do {                                              \
			result_ = stub(ux_port(), ##__VA_ARGS__); \
		} while (result_ == ERESTARTSYS);                 \
		result_;                                          \
	})

/* The same for a call whose first argument is a path. */
#define PATH_CALL(stub, path, ...)                                      \
	({                                                              \
		int wrong_ = __path_error(path);                        \
		wrong_ != 0 ? wrong_ : CALL(stub, path, ##__VA_ARGS__); \
	})

#endif
