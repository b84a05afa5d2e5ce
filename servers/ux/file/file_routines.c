/* SPDX-License-Identifier: MIT */
/*
 * Calls on descriptors: the routines of defs/ux/bsd.defs that take one, or make one.
 *
 * Each is called with the server's lock held.  A call has a reference to the file that it works on.
 */
#include <ux/bsd_server.h>

#include "file/descriptors.h"
#include "trace/trace.h"

/* The file of a descriptor, as it is when all that was recorded of processes is in it.  Unlocks. */
static struct open_file *file_to_look_at(const struct thread *caller, int fd)
{
	struct open_file *file = descriptor_file(caller->process, fd);

	if (file != NULL && file->vnode != NULL)
		trace_write_out(file->vnode);
	return file;
}

/* ---------------- Reading and writing ---------------- */

static void file_trace_io(const struct thread *caller, int fd, int direction, const char *data,
			  size_t size)
{
	if (trace_is_on(caller->process))
		trace_io(caller, fd, direction, data, size);
}

kern_return_t ux_read(struct thread *caller, int fd, unsigned size, char *data,
		      mach_msg_type_number_t *count)
{
	struct open_file *file = file_to_look_at(caller, fd);
	size_t done = 0;
	int error;

	if (file == NULL)
		return EBADF;
	if (size > UX_INLINE_MAX)
		size = UX_INLINE_MAX;
	error = file_read(file, caller, data, size, &done);
	open_file_release(file);
	*count = done;
	if (error == 0)
		file_trace_io(caller, fd, KTR_READ, data, done);
	return error;
}

/* No more memory is taken for a read than it can fill, least of all for one that waits. */
static size_t file_read_limit(const struct open_file *file, size_t size)
{
	off_t left;

	if (size > UX_TRANSFER_MAX)
		size = UX_TRANSFER_MAX;
	if (file->operations->read_max != 0 && size > file->operations->read_max)
		size = file->operations->read_max;
	if (file->operations != &regular_file)
		return size;
	left = file->vnode->size - file->position;
	if (left < 0)
		left = 0;
	return left < (off_t)size ? (size_t)left : size;
}

/* Reads into pages of its own, of which it keeps those that have data. */
static int file_read_pages(struct open_file *file, struct thread *caller, size_t size, char **data,
			   size_t *done)
{
	char *pages = NULL;
	int error;

	if (size > 0) {
		ux_unlock();
		pages = ux_allocate_pages(ux_whole_pages(size));
		ux_lock();
		if (pages == NULL)
			return ENOMEM;
	}
	error = file_read(file, caller, pages, size, done);
	if (error != 0)
		*done = 0;
	if (ux_whole_pages(*done) < ux_whole_pages(size))
		ux_free_pages(pages + ux_whole_pages(*done),
			      ux_whole_pages(size) - ux_whole_pages(*done));
	*data = *done > 0 ? pages : NULL;
	return error;
}

kern_return_t ux_read_long(struct thread *caller, int fd, unsigned size, char **data,
			   mach_msg_type_number_t *count)
{
	struct open_file *file = file_to_look_at(caller, fd);
	size_t done = 0;
	int error;

	if (file == NULL)
		return EBADF;
	error = file_read_pages(file, caller, file_read_limit(file, size), data, &done);
	open_file_release(file);
	*count = done;
	if (error == 0)
		file_trace_io(caller, fd, KTR_READ, *data, done);
	return error;
}

static int file_write_to(struct thread *caller, int fd, const char *data, size_t size,
			 unsigned *written)
{
	struct open_file *file = descriptor_file(caller->process, fd);
	size_t done = 0;
	int error;

	if (file == NULL)
		return EBADF;
	error = file_write(file, caller, data, size, &done);
	open_file_release(file);
	*written = done;
	if (error == 0)
		file_trace_io(caller, fd, KTR_WRITE, data, done);
	return error;
}

kern_return_t ux_write(struct thread *caller, int fd, char *data, mach_msg_type_number_t size,
		       unsigned *written)
{
	return file_write_to(caller, fd, data, size, written);
}

kern_return_t ux_write_long(struct thread *caller, int fd, char *data, mach_msg_type_number_t size,
			    unsigned *written)
{
	return file_write_to(caller, fd, data, size < UX_TRANSFER_MAX ? size : UX_TRANSFER_MAX,
			     written);
}

kern_return_t ux_lseek(struct thread *caller, int fd, int64_t offset, int whence, int64_t *position)
{
	struct open_file *file = file_to_look_at(caller, fd);
	int error;

	if (file == NULL)
		return EBADF;
	error = file_seek(file, offset, whence, position);
	open_file_release(file);
	return error;
}

kern_return_t ux_readdir(struct thread *caller, int fd, char *entries,
			 mach_msg_type_number_t *count)
{
	struct open_file *file = descriptor_file(caller->process, fd);
	size_t used = 0;
	int error;

	if (file == NULL)
		return EBADF;
	error = file_entries(file, entries, UX_INLINE_MAX, &used);
	open_file_release(file);
	*count = used;
	return error;
}

/* ---------------- Descriptors ---------------- */

kern_return_t ux_close(struct thread *caller, int fd)
{
	return descriptor_close(caller->process, fd);
}

kern_return_t ux_dup(struct thread *caller, int fd, int minimum, int close_on_exec, int *copy)
{
	struct open_file *file = descriptor_file(caller->process, fd);
	int error;

	if (file == NULL)
		return EBADF;
	error = descriptor_add(caller->process, minimum, file, close_on_exec != 0, copy);
	if (error != 0)
		open_file_release(file);
	return error;
}

/* A descriptor that is copied to itself stays as it is. */
kern_return_t ux_dup2(struct thread *caller, int fd, int copy, int close_on_exec)
{
	struct open_file *file = descriptor_file(caller->process, fd);
	int error = 0;

	if (file == NULL)
		return EBADF;
	if (copy != fd)
		error = descriptor_replace(caller->process, copy, file, close_on_exec != 0);
	if (copy == fd || error != 0)
		open_file_release(file);
	return error;
}

kern_return_t ux_fcntl(struct thread *caller, int fd, int command, int argument, int *result)
{
	static const int changeable = O_NONBLOCK | O_APPEND;
	struct fd_entry *descriptor = descriptor_find(caller->process, fd);
	struct open_file *file;

	if (descriptor == NULL)
		return EBADF;
	file = descriptor->file;
	*result = 0;
	switch (command) {
	case F_GETFD:
		*result = descriptor->close_on_exec ? FD_CLOEXEC : 0;
		return 0;
	case F_SETFD:
		descriptor->close_on_exec = (argument & FD_CLOEXEC) != 0;
		return 0;
	case F_GETFL:
		*result = file->flags;
		return 0;
	case F_SETFL:
		file->flags = (file->flags & ~changeable) | (argument & changeable);
		return 0;
	default:
		return EINVAL;
	}
}

/* Both ends get descriptors, or neither. */
static int file_add_ends(struct process *process, struct open_file *ends[2], int flags,
			 int *read_end, int *write_end)
{
	bool close_on_exec = (flags & O_CLOEXEC) != 0;
	int error = descriptor_add(process, 0, ends[0], close_on_exec, read_end);

	if (error != 0) {
		open_file_release(ends[0]);
		open_file_release(ends[1]);
		return error;
	}
	error = descriptor_add(process, 0, ends[1], close_on_exec, write_end);
	if (error != 0) {
		open_file_release(ends[1]);
		descriptor_close(process, *read_end);
	}
	return error;
}

kern_return_t ux_pipe(struct thread *caller, int flags, int *read_end, int *write_end)
{
	struct open_file *ends[2];
	int error;

	if ((flags & ~(O_CLOEXEC | O_NONBLOCK)) != 0)
		return EINVAL;
	error = pipe_open(caller->process, flags, ends);
	if (error != 0)
		return error;
	return file_add_ends(caller->process, ends, flags, read_end, write_end);
}

/* ---------------- Their files ---------------- */

kern_return_t ux_fstat(struct thread *caller, int fd, struct stat *result)
{
	struct open_file *file = file_to_look_at(caller, fd);

	if (file == NULL)
		return EBADF;
	file_stat(file, result);
	result->st_ino_low = (uint32_t)result->st_ino;
	open_file_release(file);
	return 0;
}

static int file_object_of(const struct open_file *file, mach_port_t *object, int64_t *size)
{
	if (!file_is_readable(file))
		return EBADF;
	if (file->operations->map == NULL)
		return ENODEV;
	return file->operations->map(file, object, size);
}

kern_return_t ux_file_object(struct thread *caller, int fd, mach_port_t *object, int64_t *size)
{
	struct open_file *file = file_to_look_at(caller, fd);
	int error;

	if (file == NULL)
		return EBADF;
	error = file_object_of(file, object, size);
	open_file_release(file);
	return error;
}

kern_return_t ux_fsync(struct thread *caller, int fd)
{
	struct open_file *file = descriptor_file(caller->process, fd);
	int error;

	if (file == NULL)
		return EBADF;
	error = file->vnode != NULL ? vnode_sync(file->vnode, &file->errors_seen) : EINVAL;
	open_file_release(file);
	return error;
}

kern_return_t ux_sync(struct thread *caller)
{
	(void)caller;
	return fs_sync();
}
