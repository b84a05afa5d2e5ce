/* SPDX-License-Identifier: MIT */
/* Groups: /etc/group. */
#ifndef _GRP_H
#define _GRP_H

#include <stddef.h>
#include <sys/types.h>

struct group {
	char *gr_name;
	char *gr_passwd;
	gid_t gr_gid;
	char **gr_mem; /* Ends with a null. */
};

/* NULL if there is none.  What is found stays until the next call of one of these. */
struct group *getgrnam(const char *name);
struct group *getgrgid(gid_t gid);

int setgroups(size_t count, const gid_t *groups);

/* Makes the caller a member of the group and of all that name the user. */
int initgroups(const char *user, gid_t group);

#endif
