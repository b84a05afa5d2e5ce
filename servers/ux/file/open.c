/* SPDX-License-Identifier: MIT */
/*
 * Opening: from a path and flags to an open file.
 *
 * First the file is found, or made; then it is asked whether it may be opened like that; then it is
 * emptied, if that was wanted, and becomes an open file.  Guarded by the server's lock.
 */
#include <sys/unistd.h>

#include "file/descriptors.h"
#include "file/file_place.h"

/* What stays with the open file. */
#define KEPT_FLAGS (O_ACCMODE | O_NONBLOCK | O_APPEND | O_SYNC)

/* A file may come and go between a look and an attempt to make it. */
#define TRIES 8

struct opening {
	struct process *process;
	struct thread *caller;
	const char *path;
	int flags;
	mode_t mode;
	struct open_file *file; /* There from the beginning: a call that fails makes no file. */
	struct vnode *vnode;    /* With a reference, once it is found. */
	bool is_new;            /* Then its mode does not matter for this opening. */
};

static bool open_writes(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY;
}

/* ---------------- The file ---------------- */

static int open_find(struct opening *opening)
{
	bool follow = (opening->flags & O_NOFOLLOW) == 0;

	return path_lookup(opening->process, opening->path, follow, &opening->vnode);
}

/* EEXIST if it is there, also if it is a link that leads nowhere. */
static int open_make(struct opening *opening)
{
	const struct credentials *owner = &opening->process->credentials;
	mode_t mode = S_IFREG | (opening->mode & ~opening->process->umask & 07777);
	struct place place;
	int error = place_find(opening->process, opening->path, &place);

	if (error != 0)
		return error;
	error = place_check_free(&place);
	if (error == 0)
		error = directory_create(place.directory, place.name, mode, owner, &opening->vnode);
	opening->is_new = error == 0;
	place_release(&place);
	return error;
}

/* Finds the file or makes it, as the flags say. */
static int open_obtain(struct opening *opening)
{
	int error;

	if ((opening->flags & O_CREAT) == 0)
		return open_find(opening);
	if (path_names_directory(opening->path))
		return EISDIR; /* It is not made by opening it. */
	if ((opening->flags & O_EXCL) != 0)
		return open_make(opening);
	for (int n = 0; n < TRIES; n++) {
		error = open_find(opening);
		if (error != ENOENT)
			return error;
		error = open_make(opening);
		if (error != EEXIST)
			return error;
	}
	return ENOENT;
}

/* ---------------- Whether it may be opened ---------------- */

static int open_check_type(const struct opening *opening)
{
	mode_t mode = opening->vnode->mode;

	if (S_ISLNK(mode))
		return ELOOP;
	if (S_ISDIR(mode))
		return open_writes(opening->flags) || (opening->flags & (O_CREAT | O_TRUNC)) != 0
			       ? EISDIR
			       : 0;
	if ((opening->flags & O_DIRECTORY) != 0)
		return ENOTDIR;
	return S_ISBLK(mode) || S_ISSOCK(mode) ? ENXIO : 0;
}

static int open_check_rights(const struct opening *opening)
{
	static const int wanted[] = {R_OK, W_OK, R_OK | W_OK};
	int rights = wanted[opening->flags & O_ACCMODE];

	if ((opening->flags & O_TRUNC) != 0)
		rights |= W_OK;
	if (opening->is_new)
		return 0;
	return vnode_access(opening->vnode, &opening->process->credentials, rights);
}

static int open_check(const struct opening *opening)
{
	bool changes = open_writes(opening->flags) || (opening->flags & O_TRUNC) != 0;
	int error = open_check_type(opening);

	if (error == 0)
		error = open_check_rights(opening);
	if (error == 0 && changes && opening->vnode->executions > 0)
		error = ETXTBSY;
	return error;
}

/* ---------------- The open file ---------------- */

static const struct file_operations *open_operations_of(const struct vnode *vnode)
{
	return S_ISDIR(vnode->mode) ? &directory_file : &regular_file;
}

/* Others than files and directories have operations of their own, and may have to wait. */
static int open_begin(struct open_file *file, struct thread *caller)
{
	const struct vnode *vnode = file->vnode;

	if (S_ISFIFO(vnode->mode))
		return fifo_open(file, caller);
	if (S_ISCHR(vnode->mode))
		return character_device_open(file, vnode->device);
	return 0;
}

static int open_empty(const struct opening *opening)
{
	struct vnode *vnode = opening->vnode;
	int error = vnode->size > 0 ? file_drop_privileges(vnode, opening->process) : 0;

	return error == 0 && vnode->size > 0 ? vnode_truncate(vnode, 0) : error;
}

/* The file counts as open for writing before it is emptied: nobody can begin to execute it. */
static int open_begin_all(const struct opening *opening)
{
	struct open_file *file = opening->file;

	file->operations = open_operations_of(opening->vnode);
	file->vnode = vnode_reference(opening->vnode);
	file->errors_seen = vnode_errors_at_open(file->vnode);
	if (S_ISREG(file->vnode->mode) && file_is_writable(file))
		file->vnode->writers++;
	if (S_ISREG(file->vnode->mode) && (opening->flags & O_TRUNC) != 0)
		return open_empty(opening);
	return open_begin(file, opening->caller);
}

static int open_whole(struct opening *opening)
{
	int error = open_obtain(opening);

	if (error != 0)
		return error;
	error = open_check(opening);
	if (error == 0)
		error = open_begin_all(opening);
	vnode_release(opening->vnode);
	return error;
}

int open_path(struct process *process, struct thread *caller, const char *path, int flags,
	      mode_t mode, struct open_file **file)
{
	struct opening opening = {process, caller, path, flags, mode, NULL, NULL, false};
	int error;

	assert(ux_lock_held());
	if ((flags & O_ACCMODE) == O_ACCMODE)
		return EINVAL;
	opening.file = open_file_new(&regular_file, NULL, flags & KEPT_FLAGS);
	if (opening.file == NULL)
		return ENOMEM;
	error = open_whole(&opening);
	if (error != 0)
		open_file_release(opening.file);
	*file = opening.file;
	return error;
}
