/* SPDX-License-Identifier: MIT */
/* The number of the last error, one for each thread; the numbers are in <sys/errno.h>. */
#ifndef _ERRNO_H
#define _ERRNO_H

#include <sys/errno.h>

int *__errno_location(void) __attribute__((const));

#define errno (*__errno_location())

#endif
