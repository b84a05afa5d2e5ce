/* SPDX-License-Identifier: MIT */
/* An entry of a directory: Linux's linux_dirent64, so many bytes of name, a zero, padding. */
#ifndef SYS_DIRENT_H
#define SYS_DIRENT_H

#include <sys/types.h>

#define NAME_MAX 255
#define PATH_MAX 1024 /* With the zero. */

#define DT_UNKNOWN 0
#define DT_FIFO    1
#define DT_CHR     2
#define DT_DIR     4
#define DT_BLK     6
#define DT_REG     8
#define DT_LNK     10
#define DT_SOCK    12

struct dirent {
	uint64_t d_ino;
	int64_t d_off;     /* Where lseek() goes to have the next entry read first. */
	uint16_t d_reclen; /* From this entry to the next: a multiple of 8. */
	uint8_t d_type;
	char d_name[NAME_MAX + 1];
};

/* The bytes that an entry with a name of `length` takes. */
#define DIRENT_SIZE(length) ((offsetof(struct dirent, d_name) + (length) + 1 + 7) & ~7u)

#endif
