/* SPDX-License-Identifier: MIT */
/* Who may do what with a file, by its mode, owner and group. */
#include <sys/unistd.h>

#include "fs/ext2.h"

#define ANY_X (S_IXUSR | S_IXGRP | S_IXOTH)

_Static_assert(R_OK == S_IROTH && W_OK == S_IWOTH && X_OK == S_IXOTH, "modes are tested by these");

/* The three bits of the mode that hold for somebody. */
static int access_permissions(const struct vnode *vnode, const struct credentials *who)
{
	if (who->euid == vnode->uid)
		return vnode->mode >> 6 & 7;
	if (is_in_group(who, vnode->gid))
		return vnode->mode >> 3 & 7;
	return vnode->mode & 7;
}

/* A device or a pipe is not written where its name is. */
static bool access_is_read_only(const struct vnode *vnode)
{
	return vnode->file_system->is_read_only &&
	       (S_ISREG(vnode->mode) || S_ISDIR(vnode->mode) || S_ISLNK(vnode->mode));
}

int vnode_access(const struct vnode *vnode, const struct credentials *who, int wanted)
{
	int granted = access_permissions(vnode, who);

	if ((wanted & W_OK) != 0 && access_is_read_only(vnode))
		return EROFS;

	if (who->euid == 0) {
		granted = R_OK | W_OK;
		if (S_ISDIR(vnode->mode) || (vnode->mode & ANY_X) != 0)
			granted |= X_OK;
	}
	return (wanted & ~granted) == 0 ? 0 : EACCES;
}

bool vnode_changes_user(const struct vnode *vnode, const struct credentials *who)
{
	return ((vnode->mode & S_ISUID) != 0 && vnode->uid != who->euid) ||
	       ((vnode->mode & S_ISGID) != 0 && vnode->gid != who->egid);
}

int vnode_may_remove(const struct vnode *directory, const struct vnode *victim,
		     const struct credentials *who)
{
	int error = vnode_access(directory, who, W_OK | X_OK);

	if (error != 0 || (directory->mode & S_ISVTX) == 0)
		return error;
	if (who->euid == 0 || who->euid == victim->uid || who->euid == directory->uid)
		return 0;
	return EPERM;
}
