/* SPDX-License-Identifier: MIT */
/* Copying of files and directories. */
#ifndef COMMON_COPY_H
#define COMMON_COPY_H

#include <stdbool.h>

enum copy_flag {
	COPY_RECURSIVE = 1, /* Directories with what is in them. */
	COPY_PRESERVE = 2,  /* Times, mode and, for root, the owner. */
};

/* Copies a file, or a directory, to this very name; false with a report. */
bool copy_path(const char *from, const char *to, unsigned flags);

#endif
