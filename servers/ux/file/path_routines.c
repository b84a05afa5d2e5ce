/* SPDX-License-Identifier: MIT */
/*
 * Calls on paths: the routines of defs/ux/bsd.defs that name a file, and make, find or remove it.
 * Each is called with the server's lock held.
 */
#include <sys/unistd.h>
#include <ux/bsd_server.h>

#include "file/descriptors.h"
#include "file/file_place.h"

#define MODE_OF_DIRECTORY (S_IRWXU | S_IRWXG | S_IRWXO | S_ISVTX)

/* ---------------- Finding ---------------- */

kern_return_t ux_open(struct thread *caller, const char *path, int flags, unsigned mode, int *fd)
{
	struct open_file *file;
	int error;

	if (!descriptor_is_free(caller->process))
		return EMFILE;
	error = open_path(caller->process, caller, path, flags, mode, &file);
	if (error != 0)
		return error;
	error = descriptor_add(caller->process, 0, file, (flags & O_CLOEXEC) != 0, fd);
	if (error != 0)
		open_file_release(file);
	return error;
}

kern_return_t ux_stat(struct thread *caller, const char *path, int follow, struct stat *result)
{
	struct vnode *vnode;
	int error = path_lookup(caller->process, path, follow != 0, &vnode);

	if (error != 0)
		return error;
	vnode_stat(vnode, result);
	result->st_ino_low = (uint32_t)result->st_ino;
	vnode_release(vnode);
	return 0;
}

/* With the ids of who started the program, not those that the program's file gave it. */
kern_return_t ux_access(struct thread *caller, const char *path, int mode)
{
	struct credentials real = caller->process->credentials;
	struct vnode *vnode;
	int error;

	if ((mode & ~(R_OK | W_OK | X_OK)) != 0)
		return EINVAL;
	error = path_lookup(caller->process, path, true, &vnode);
	if (error != 0)
		return error;
	real.euid = real.uid;
	real.egid = real.gid;
	error = vnode_access(vnode, &real, mode);
	vnode_release(vnode);
	return error;
}

kern_return_t ux_chdir(struct thread *caller, const char *path)
{
	struct process *process = caller->process;
	struct vnode *vnode, *old;
	int error = path_lookup(process, path, true, &vnode);

	if (error != 0)
		return error;
	if (!S_ISDIR(vnode->mode))
		error = ENOTDIR;
	else
		error = vnode_access(vnode, &process->credentials, X_OK);
	old = vnode;
	if (error == 0) {
		old = process->directory;
		process->directory = vnode;
	}
	vnode_release(old);
	return error;
}

/* The directory stays while its path is made out, should another thread leave it. */
kern_return_t ux_getcwd(struct thread *caller, path_t path)
{
	struct vnode *directory = vnode_reference(caller->process->directory);
	int error = path_of_directory(directory, path, PATH_MAX);

	vnode_release(directory);
	return error;
}

kern_return_t ux_umask(struct thread *caller, unsigned mask, unsigned *old_mask)
{
	*old_mask = caller->process->umask;
	caller->process->umask = mask & (S_IRWXU | S_IRWXG | S_IRWXO);
	return 0;
}

kern_return_t ux_readlink(struct thread *caller, const char *path, char *text,
			  mach_msg_type_number_t *length)
{
	struct vnode *vnode;
	size_t done = 0;
	int error = path_lookup(caller->process, path, false, &vnode);

	if (error != 0)
		return error;
	error = vnode_read_link(vnode, text, PATH_MAX, &done);
	*length = done;
	vnode_release(vnode);
	return error;
}

/* ---------------- Making and removing ---------------- */

/* A symbolic link if there is a text, else of the type that the mode says. */
static int path_make(struct process *process, const char *path, mode_t mode, const char *text)
{
	const struct credentials *owner = &process->credentials;
	struct vnode *made;
	struct place place;
	int error = place_find(process, path, &place);

	if (error != 0)
		return error;
	error = place_check_free(&place);
	if (error == 0 && place.names_directory && !S_ISDIR(mode))
		error = ENOENT;
	if (error == 0 && text != NULL)
		error = directory_symlink(place.directory, place.name, text, owner, &made);
	else if (error == 0)
		error = directory_create(place.directory, place.name, mode, owner, &made);
	if (error == 0)
		vnode_release(made);
	place_release(&place);
	return error;
}

kern_return_t ux_mkdir(struct thread *caller, const char *path, unsigned mode)
{
	mode &= ~caller->process->umask & MODE_OF_DIRECTORY;
	return path_make(caller->process, path, S_IFDIR | mode, NULL);
}

kern_return_t ux_mkfifo(struct thread *caller, const char *path, unsigned mode)
{
	mode &= ~caller->process->umask & (S_IRWXU | S_IRWXG | S_IRWXO);
	return path_make(caller->process, path, S_IFIFO | mode, NULL);
}

kern_return_t ux_symlink(struct thread *caller, const char *text, const char *path)
{
	if (text[0] == '\0')
		return ENOENT;
	return path_make(caller->process, path, 0, text);
}

/* Directories are not linked: the tree would be none. */
kern_return_t ux_link(struct thread *caller, const char *old_path, const char *new_path)
{
	struct vnode *vnode;
	struct place place;
	int error = path_lookup(caller->process, old_path, false, &vnode);

	if (error != 0)
		return error;
	error = S_ISDIR(vnode->mode) ? EPERM : place_find(caller->process, new_path, &place);
	if (error == 0) {
		error = place_check_free(&place);
		if (error == 0 && place.names_directory)
			error = ENOENT;
		if (error == 0)
			error = directory_link(place.directory, place.name, vnode,
					       &caller->process->credentials);
		place_release(&place);
	}
	vnode_release(vnode);
	return error;
}

/* Removes an entry of the right kind; `remove` checks what it must once more. */
static int path_remove_entry(struct place *place, bool is_directory,
			     int (*remove)(struct vnode *directory, const char *name))
{
	struct vnode *vnode;
	int error = place_removable(place, &vnode);

	if (error != 0)
		return error;
	if (S_ISDIR(vnode->mode) != is_directory)
		error = is_directory ? ENOTDIR : EPERM;
	else if (place->names_directory && !is_directory)
		error = ENOTDIR;
	else
		error = remove(place->directory, place->name);
	vnode_release(vnode);
	return error;
}

kern_return_t ux_unlink(struct thread *caller, const char *path)
{
	struct place place;
	int error = place_find(caller->process, path, &place);

	if (error != 0)
		return error;
	error = place_is_special(&place) ? EPERM
					 : path_remove_entry(&place, false, directory_unlink);
	place_release(&place);
	return error;
}

/* Of "." it would remove what it is called in, and ".." is never empty. */
kern_return_t ux_rmdir(struct thread *caller, const char *path)
{
	struct place place;
	int error = place_find(caller->process, path, &place);

	if (error != 0)
		return error;
	if (strcmp(place.name, "..") == 0)
		error = ENOTEMPTY;
	else if (place_is_special(&place))
		error = path[0] == '/' && path[1] == '\0' ? EBUSY : EINVAL;
	else
		error = path_remove_entry(&place, true, directory_remove);
	place_release(&place);
	return error;
}

/* Whether the process may put something at the place, over what is there. */
static int path_check_target(struct place *place)
{
	struct vnode *there;
	int error = place_check_free(place);

	if (error != EEXIST)
		return error;
	error = place_removable(place, &there);
	if (error == 0)
		vnode_release(there);
	return error;
}

/*
 * A directory that moves to another one is itself changed: its "..".  A file has no name with a
 * slash behind it, before or after.
 */
static int path_check_source(struct place *from, const struct place *to)
{
	struct vnode *vnode;
	int error = place_removable(from, &vnode);

	if (error != 0)
		return error;
	if (!S_ISDIR(vnode->mode) && (from->names_directory || to->names_directory))
		error = ENOTDIR;
	if (S_ISDIR(vnode->mode) && from->directory != to->directory)
		error = vnode_access(vnode, &from->process->credentials, W_OK);
	vnode_release(vnode);
	return error;
}

static int path_rename_between(struct place *from, struct place *to)
{
	int error;

	if (place_is_special(from) || place_is_special(to))
		return EINVAL;
	error = path_check_source(from, to);
	if (error == 0)
		error = path_check_target(to);
	if (error == 0)
		error = directory_rename(from->directory, from->name, to->directory, to->name,
					 &from->process->credentials);
	return error;
}

kern_return_t ux_rename(struct thread *caller, const char *from_path, const char *to_path)
{
	struct place from, to;
	int error = place_find(caller->process, from_path, &from);

	if (error != 0)
		return error;
	error = place_find(caller->process, to_path, &to);
	if (error == 0) {
		error = path_rename_between(&from, &to);
		place_release(&to);
	}
	place_release(&from);
	return error;
}
