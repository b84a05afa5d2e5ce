/* SPDX-License-Identifier: MIT */
/*
 * What has a name that is in no directory: shared memory and semaphores of POSIX.
 *
 * Each kind has names of its own, `/` and up to 255 characters.  A thing lives until it has no name
 * and no open file any more; that has an owner and a mode, as files have.  An open file of one is a
 * descriptor: inherited by fork, closed by exec and by a process's end.
 *
 * Guarded by the server's lock; none of these unlocks.
 */
#ifndef UX_NAMED_H
#define UX_NAMED_H

#include <assay/list.h>

#include "file/descriptors.h"

/* So many there are in the machine, and of one user, who is not root. */
#define NAMED_MAX  256
#define NAMED_USER 64

enum named_kind {
	NAMED_MEMORY,
	NAMED_SEMAPHORE,
	NAMED_KINDS,
};

struct named {
	struct list link;
	enum named_kind kind;
	char *name;          /* Null when it has been removed. */
	unsigned references; /* One of the name, and those of open files. */
	inumber_t number;
	uid_t uid; /* Whose it is, */
	gid_t gid;
	mode_t mode;
	uid_t payer; /* and who is charged: the real user who made it. */
	time_t made;
	off_t size;         /* Of memory, in bytes; 0: it has none yet. */
	mach_port_t memory; /* A send right to its proxy, null exactly then. */
	unsigned value;     /* Of a semaphore; who waits for it sleeps on this. */
};

/* What is to be opened. */
struct named_opening {
	enum named_kind kind;
	const char *name;
	int flags; /* Of open(): O_CREAT and O_EXCL, and whether it is to be written to. */
	mode_t mode;
	unsigned value; /* Of a new semaphore. */
};

/*
 * An open file of it, and its descriptor, which exec closes: EINVAL and ENAMETOOLONG for the name,
 * ENOENT, EEXIST, EACCES, ENOSPC for what is over the limits, EMFILE, ENOMEM.
 */
int named_open(struct process *process, const struct named_opening *opening,
	       const struct file_operations *operations, int *fd, struct named **named);

/* Takes the name away: for its owner and root, EACCES for others. */
int named_unlink(const struct process *process, enum named_kind kind, const char *name);

/* Bytes of shared memory that are charged to the user, or to all but root with `all_users`. */
uint64_t named_bytes_of(uid_t payer, bool all_users);

/* Of struct file_operations. */
void named_stat(struct open_file *file, struct stat *result);
void named_close(struct open_file *file);

#endif
