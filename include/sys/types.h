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
typedef uint64_t dev_t;
typedef uint64_t ino_t;
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

/* Of devices' numbers: 12 bits of major and 20 of minor, whose upper 12 lie above. */
#define major(device)     ((unsigned)((device) >> 8 & 0xfff))
#define minor(device)     ((unsigned)(((device)&0xff) | ((device) >> 12 & 0xfff00)))
#define makedev(maj, min) ((dev_t)((maj) << 8 | ((min)&0xff) | ((min)&0xfff00u) << 12))

#endif
