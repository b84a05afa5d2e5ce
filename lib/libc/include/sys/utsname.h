/* SPDX-License-Identifier: MIT */
/* What the system calls itself, in Linux's layout. */
#ifndef _SYS_UTSNAME_H
#define _SYS_UTSNAME_H

#define _UTSNAME_SIZE 65 /* With the zero. */

struct utsname {
	char sysname[_UTSNAME_SIZE];
	char nodename[_UTSNAME_SIZE];
	char release[_UTSNAME_SIZE];
	char version[_UTSNAME_SIZE]; /* Of the kernel. */
	char machine[_UTSNAME_SIZE];
	char domainname[_UTSNAME_SIZE];
};

int uname(struct utsname *names);

#endif
