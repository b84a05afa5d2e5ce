/* SPDX-License-Identifier: MIT */
/* Whose the clients are, and the processes that names are about: what the Unix server says. */
#ifndef SNAMES_USERS_H
#define SNAMES_USERS_H

#include <mach.h>
#include <stdbool.h>
#include <sys/types.h>

#define USERS_ROOT    ((uid_t)0)
#define USERS_UNKNOWN ((uid_t)-1) /* Whoever has not said who he is. */

/* A process, or whoever shares what those have who do not say who they are. */
struct client {
	natural_t number;
	uid_t user;
};

/* Who shows this signature: a process if it is the port by which one calls the Unix server. */
struct client users_who(mach_port_t signature);

/* Whether that is known, and the same. */
bool users_are_same(const struct client *one, const struct client *other);

/*
 * Whether a name can be this user's.  One that ends in a dot and the number of a process is for
 * that process's user and for root.  Of those that begin with `gprof.`, number 0, the Unix server,
 * is for root and the group kmem, and whatever is no number for root alone.  Others are for
 * everybody.
 */
bool users_may_have(uid_t user, const char *name);

#endif
