/* SPDX-License-Identifier: MIT */
/* Numbers that calls on files take. */
#ifndef SYS_UNISTD_H
#define SYS_UNISTD_H

#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

#define F_OK 0
#define X_OK 1
#define W_OK 2
#define R_OK 4

#endif
