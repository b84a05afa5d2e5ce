/* SPDX-License-Identifier: MIT */
/* Reading directories. */
#ifndef _DIRENT_H
#define _DIRENT_H

#include <sys/dirent.h>

typedef struct directory DIR;

DIR *opendir(const char *path);
struct dirent *readdir(DIR *directory); /* NULL at the end, or with errno set. */
void rewinddir(DIR *directory);
int closedir(DIR *directory);
int dirfd(DIR *directory);

#endif
