/* SPDX-License-Identifier: MIT */
/* Whose the clients are, and the processes that names are about: what the Unix server says. */
#ifndef SNAMES_USERS_H
#define SNAMES_USERS_H

#include <mach.h>
#include <stdbool.h>
#include <sys/types.h>

#define USERS_ROOT    ((uid_t)0)
#define USERS_UNKNOWN ((uid_t)-1) /* A task that is no process's. */

/* The user of the process whose task has this label. */
uid_t users_of_task(natural_t label);

/*
 * Whether a name can be this user's.  One that ends in a dot and the number of a process is for
 * that process's user and for root.  Of those that begin with `gprof.`, number 0, the Unix server,
 * is for root and the group kmem, and whatever is no number for root alone.  Others are for
 * everybody.
 */
bool users_may_have(uid_t user, const char *name);

#endif
