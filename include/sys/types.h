/* SPDX-License-Identifier: MIT */
/* Types of Unix calls, of which UX and programs must have the same idea. */
#ifndef SYS_TYPES_H
#define SYS_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t pid_t;
typedef uint32_t uid_t;
typedef uint32_t gid_t;
typedef uint32_t id_t;
typedef uint32_t mode_t;
typedef uint32_t dev_t;
typedef uint32_t ino_t;
typedef uint32_t nlink_t;
typedef int64_t off_t;
typedef int32_t blksize_t;
typedef int64_t blkcnt_t;
typedef int32_t time_t;
typedef int32_t suseconds_t;
typedef uint32_t useconds_t;
typedef int32_t clock_t;
typedef int32_t ssize_t;

typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long;

#define major(device)     ((device) >> 8 & 0xff)
#define minor(device)     ((device)&0xff)
#define makedev(maj, min) ((dev_t)((maj) << 8 | (min)))

#endif
