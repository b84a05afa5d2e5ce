/* SPDX-License-Identifier: MIT */
/* Users: /etc/passwd. */
#ifndef _PWD_H
#define _PWD_H

#include <sys/types.h>

struct passwd {
	char *pw_name;
	char *pw_passwd;
	uid_t pw_uid;
	gid_t pw_gid;
	char *pw_gecos;
	char *pw_dir;
	char *pw_shell;
};

/* NULL if there is none.  What is found stays until the next call of one of these. */
struct passwd *getpwnam(const char *name);
struct passwd *getpwuid(uid_t uid);

#endif
