/* SPDX-License-Identifier: MIT */
/* The compiler's limits of integer types, and the system's. */
#ifndef _LIBC_LIMITS_H_
#define _LIBC_LIMITS_H_

#include_next <limits.h>

#define PATH_MAX        1024 /* Bytes of a path, with the zero at its end. */
#define NAME_MAX        255  /* Bytes of one name in a folder. */
#define PIPE_BUF        4096 /* A write to a pipe of so many bytes is never torn. */
#define ARG_MAX         65536
#define OPEN_MAX        64
#define LINE_MAX        2048
#define IOV_MAX         16
#define NGROUPS_MAX     16
#define SSIZE_MAX       LONG_MAX
#define _POSIX_PATH_MAX 256

#endif
