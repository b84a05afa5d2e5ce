/* SPDX-License-Identifier: MIT */
/* What a name of sysctl() stands for.  Guarded by the server's lock. */
#ifndef SYSCTL_SYSCTL_H
#define SYSCTL_SYSCTL_H

#include <sys/sysctl.h>

#include "core/ux.h"

/* A value as it is now: it stays where it is as long as the lock is held. */
struct sysctl_value {
	const void *data;
	size_t size;
};

/* A node's name goes on by one number, of anything. */
struct sysctl_entry {
	struct sysctl_name name;
	bool is_secret; /* Only root may read it. */
	bool is_made;   /* Of pages, if of anything, which are freed when they have been sent. */

	/* `argument` is the entry's own; of a node, that number.  0 or an error. */
	int (*get)(uintptr_t argument, struct sysctl_value *value);

	/* Null: it cannot be set.  The caller may, and the size is right if it is an int. */
	int (*set)(uintptr_t argument, const char *data, size_t size);
	uintptr_t argument;
};

extern const struct sysctl_entry sysctl_entries[];
extern const size_t sysctl_n_entries;

#endif
