/* SPDX-License-Identifier: MIT */
/* Opening files. */
#ifndef _FCNTL_H
#define _FCNTL_H

#include <sys/fcntl.h>
#include <sys/stat.h>
#include <sys/unistd.h>

int open(const char *path, int flags, ...);
int creat(const char *path, mode_t mode);
int fcntl(int fd, int command, ...);

#endif
