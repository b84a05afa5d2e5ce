/* SPDX-License-Identifier: MIT */
/*
 * Descriptors: a table for each process, of references to open files.
 *
 * A call that uses a file has a reference of its own, so that the descriptor may be closed by
 * another thread meanwhile.  Guarded by the server's lock.
 */
#include "file/descriptors.h"

struct descriptors *descriptors_new(void)
{
	return ux_allocate(sizeof(struct descriptors));
}

struct descriptors *descriptors_fork(const struct descriptors *descriptors)
{
	struct descriptors *copy = descriptors_new();

	assert(ux_lock_held());
	if (copy == NULL)
		return NULL;
	for (int fd = 0; fd < UX_OPEN_MAX; fd++) {
		copy->table[fd] = descriptors->table[fd];
		if (copy->table[fd].file != NULL)
			open_file_reference(copy->table[fd].file);
	}
	return copy;
}

/* The descriptor is free before anything is waited for. */
static void descriptors_clear(struct fd_entry *descriptor)
{
	struct open_file *file = descriptor->file;

	*descriptor = (struct fd_entry){.file = NULL};
	if (file != NULL)
		open_file_release(file);
}

void descriptors_exec(struct descriptors *descriptors)
{
	assert(ux_lock_held());
	for (int fd = 0; fd < UX_OPEN_MAX; fd++)
		if (descriptors->table[fd].close_on_exec)
			descriptors_clear(&descriptors->table[fd]);
}

void descriptors_end(struct descriptors *descriptors)
{
	assert(ux_lock_held());
	for (int fd = 0; fd < UX_OPEN_MAX; fd++)
		descriptors_clear(&descriptors->table[fd]);
	ux_free(descriptors);
}

int descriptors_open(struct process *process, const char *path, int flags, mode_t mode, int *fd)
{
	struct open_file *file;
	int error = open_path(process, NULL, path, flags, mode, &file);

	if (error != 0)
		return error;
	error = descriptor_add(process, 0, file, (flags & O_CLOEXEC) != 0, fd);
	if (error != 0)
		open_file_release(file);
	return error;
}

/* ---------------- One descriptor ---------------- */

/* The place for it in the table, or null. */
static struct fd_entry *descriptor_place_of(struct process *process, int fd)
{
	assert(ux_lock_held() && process->descriptors != NULL);
	return fd >= 0 && fd < UX_OPEN_MAX ? &process->descriptors->table[fd] : NULL;
}

struct fd_entry *descriptor_find(struct process *process, int fd)
{
	struct fd_entry *descriptor = descriptor_place_of(process, fd);

	return descriptor != NULL && descriptor->file != NULL ? descriptor : NULL;
}

struct open_file *descriptor_file(struct process *process, int fd)
{
	struct fd_entry *descriptor = descriptor_find(process, fd);

	return descriptor != NULL ? open_file_reference(descriptor->file) : NULL;
}

/* The lowest number that the process may not have. */
static int descriptor_limit(const struct process *process)
{
	rlim_t limit = process->limits[RLIMIT_NOFILE].rlim_cur;

	return limit < UX_OPEN_MAX ? (int)limit : UX_OPEN_MAX;
}

bool descriptor_is_free(struct process *process)
{
	int fd = 0, limit = descriptor_limit(process);

	while (fd < limit && descriptor_place_of(process, fd)->file != NULL)
		fd++;
	return fd < limit;
}

int descriptor_add(struct process *process, int minimum, struct open_file *file, bool close_on_exec,
		   int *fd)
{
	assert(file->references > 0);
	if (descriptor_place_of(process, minimum) == NULL)
		return EINVAL;
	for (int place = minimum; place < descriptor_limit(process); place++) {
		struct fd_entry *descriptor = descriptor_place_of(process, place);

		if (descriptor->file != NULL)
			continue;
		*descriptor = (struct fd_entry){file, close_on_exec};
		*fd = place;
		return 0;
	}
	return EMFILE;
}

int descriptor_close(struct process *process, int fd)
{
	struct fd_entry *descriptor = descriptor_find(process, fd);

	if (descriptor == NULL)
		return EBADF;
	descriptors_clear(descriptor);
	return 0;
}

int descriptor_replace(struct process *process, int fd, struct open_file *file, bool close_on_exec)
{
	struct fd_entry *descriptor = descriptor_place_of(process, fd);
	struct open_file *old;

	assert(file->references > 0);
	if (descriptor == NULL)
		return EBADF;
	old = descriptor->file;
	*descriptor = (struct fd_entry){file, close_on_exec};
	if (old != NULL)
		open_file_release(old);
	return 0;
}

/* ---------------- Open files ---------------- */

struct open_file *open_file_new(const struct file_operations *operations, struct vnode *vnode,
				int flags)
{
	struct open_file *file = ux_allocate(sizeof *file);

	assert(ux_lock_held());
	if (file == NULL)
		return NULL;
	*file = (struct open_file){.references = 1, .flags = flags, .operations = operations};
	if (vnode != NULL)
		file->vnode = vnode_reference(vnode);
	return file;
}

struct open_file *open_file_reference(struct open_file *file)
{
	assert(ux_lock_held() && file->references > 0);
	file->references++;
	return file;
}

void open_file_release(struct open_file *file)
{
	assert(ux_lock_held() && file->references > 0);
	if (--file->references > 0)
		return;
	assert(!file->is_moving);
	if (file->operations->close != NULL)
		file->operations->close(file);
	if (file->vnode != NULL)
		vnode_release(file->vnode);
	ux_free(file);
}
