/* SPDX-License-Identifier: MIT */
/* Places in directories: where calls make, find and remove entries, and who may do that. */
#ifndef UX_FILE_PLACE_H
#define UX_FILE_PLACE_H

#include "fs/vnode.h"
#include "process/process.h"

struct place {
	struct process *process;
	struct vnode *directory; /* With a reference. */
	char name[NAME_MAX + 1];
	bool names_directory; /* With a slash behind it, it is nothing else's. */
};

/* Whether a slash is behind the path's last part. */
bool path_names_directory(const char *path);

/* Where the path's last part is, or would be.  Unlocks, as all here. */
int place_find(struct process *process, const char *path, struct place *place);
void place_release(struct place *place);

/* "." and "..", and the root itself: no entries that a call could make or remove. */
bool place_is_special(const struct place *place);

/* 0 if the process may make an entry here, and there is none: EEXIST or EACCES. */
int place_check_free(struct place *place);

/* The entry's file, with a reference, if the process may remove it from the directory. */
int place_removable(struct place *place, struct vnode **vnode);

#endif
