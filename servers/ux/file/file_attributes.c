/* SPDX-License-Identifier: MIT */
/*
 * Calls that change what is known of a file: mode, owner, times, size.  Routines of
 * defs/ux/bsd.defs, called with the server's lock held.
 */
#include <sys/unistd.h>
#include <ux/bsd_server.h>

#include "file/descriptors.h"

#define MODE_BITS ((mode_t)07777)
#define SAME_ID   0xffffffffu /* Of chown(): stays as it is. */
#define TIME_NOW  (-1)        /* Of utimes(). */

static bool attributes_owns(const struct process *process, const struct vnode *vnode)
{
	return is_root(process) || process->credentials.euid == vnode->uid;
}

/* ---------------- Mode and owner ---------------- */

/* Who is not in the file's group cannot have programs run with its rights. */
static int attributes_set_mode(const struct process *process, struct vnode *vnode, mode_t mode)
{
	if (!attributes_owns(process, vnode))
		return EPERM;
	mode &= MODE_BITS;
	if (!is_root(process) && !is_in_group(&process->credentials, vnode->gid))
		mode &= ~S_ISGID;
	return vnode_set_mode(vnode, mode);
}

kern_return_t ux_chmod(struct thread *caller, const char *path, unsigned mode)
{
	struct vnode *vnode;
	int error = path_lookup(caller->process, path, true, &vnode);

	if (error != 0)
		return error;
	error = attributes_set_mode(caller->process, vnode, mode);
	vnode_release(vnode);
	return error;
}

kern_return_t ux_fchmod(struct thread *caller, int fd, unsigned mode)
{
	struct open_file *file = descriptor_file(caller->process, fd);
	int error;

	if (file == NULL)
		return EBADF;
	error = file->vnode != NULL ? attributes_set_mode(caller->process, file->vnode, mode)
				    : EINVAL;
	open_file_release(file);
	return error;
}

/* An owner may give his file to a group that he is in, and to nobody else. */
static int attributes_set_owner(const struct process *process, struct vnode *vnode, uid_t uid,
				gid_t gid)
{
	const struct credentials *who = &process->credentials;
	mode_t privileges = S_ISUID | S_ISGID;
	int error = 0;

	if (!is_root(process) && (who->euid != vnode->uid || uid != vnode->uid ||
				  (gid != vnode->gid && !is_in_group(who, gid))))
		return EPERM;
	if (!is_root(process) && S_ISREG(vnode->mode) && (vnode->mode & privileges) != 0)
		error = vnode_set_mode(vnode, vnode->mode & MODE_BITS & ~privileges);
	return error == 0 ? vnode_set_owner(vnode, uid, gid) : error;
}

kern_return_t ux_chown(struct thread *caller, const char *path, unsigned uid, unsigned gid)
{
	struct vnode *vnode;
	int error = path_lookup(caller->process, path, true, &vnode);

	if (error != 0)
		return error;
	error = attributes_set_owner(caller->process, vnode, uid == SAME_ID ? vnode->uid : uid,
				     gid == SAME_ID ? vnode->gid : gid);
	vnode_release(vnode);
	return error;
}

/* ---------------- Times ---------------- */

/* Any times may be set by the owner, and the present by whoever could write. */
static int attributes_set_times(const struct process *process, struct vnode *vnode, time_t accessed,
				time_t modified)
{
	bool is_now = accessed == TIME_NOW && modified == TIME_NOW;
	time_t now = ux_seconds();
	int error = 0;

	if (!attributes_owns(process, vnode))
		error = is_now ? vnode_access(vnode, &process->credentials, W_OK) : EPERM;
	if (error != 0)
		return error;
	return vnode_set_times(vnode, accessed == TIME_NOW ? now : accessed,
			       modified == TIME_NOW ? now : modified);
}

kern_return_t ux_utimes(struct thread *caller, const char *path, int accessed, int modified)
{
	struct vnode *vnode;
	int error = path_lookup(caller->process, path, true, &vnode);

	if (error != 0)
		return error;
	error = attributes_set_times(caller->process, vnode, accessed, modified);
	vnode_release(vnode);
	return error;
}

/* ---------------- Size ---------------- */

static int attributes_set_size(const struct process *process, struct vnode *vnode, off_t size)
{
	int error;

	if (S_ISDIR(vnode->mode))
		return EISDIR;
	if (!S_ISREG(vnode->mode) || size < 0)
		return EINVAL;
	if (vnode->executions > 0)
		return ETXTBSY;
	error = file_drop_privileges(vnode, process);
	return error != 0 ? error : vnode_truncate(vnode, size);
}

kern_return_t ux_truncate(struct thread *caller, const char *path, int64_t size)
{
	struct vnode *vnode;
	int error = path_lookup(caller->process, path, true, &vnode);

	if (error != 0)
		return error;
	error = vnode_access(vnode, &caller->process->credentials, W_OK);
	if (error == 0)
		error = attributes_set_size(caller->process, vnode, size);
	vnode_release(vnode);
	return error;
}

kern_return_t ux_ftruncate(struct thread *caller, int fd, int64_t size)
{
	struct open_file *file = descriptor_file(caller->process, fd);
	int error = EINVAL;

	if (file == NULL)
		return EBADF;
	if (file->operations->set_size != NULL && file_is_writable(file))
		error = file->operations->set_size(file, caller->process, size);
	else if (file->vnode != NULL && file_is_writable(file))
		error = attributes_set_size(caller->process, file->vnode, size);
	open_file_release(file);
	return error;
}
