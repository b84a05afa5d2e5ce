/* SPDX-License-Identifier: MIT */
/* What the system calls itself. */
#ifndef _SYS_UTSNAME_H
#define _SYS_UTSNAME_H

#define _UTSNAME_SIZE 64

struct utsname {
	char sysname[_UTSNAME_SIZE];
	char nodename[_UTSNAME_SIZE];
	char release[_UTSNAME_SIZE];
	char version[2 * _UTSNAME_SIZE]; /* Of the kernel. */
	char machine[_UTSNAME_SIZE];
};

int uname(struct utsname *names);

#endif
