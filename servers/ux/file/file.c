/* SPDX-License-Identifier: MIT */
/*
 * What can be done with an open file; and the operations of regular files and directories.
 *
 * Reads and writes at the file's position are one after the other, since several processes can
 * share it (is_moving).  Guarded by the server's lock.
 */
#include <sys/unistd.h>

#include "file/descriptors.h"
#include "paging/paging.h"

#define OFF_MAX ((off_t)(~(uint64_t)0 >> 1))

bool file_is_readable(const struct open_file *file)
{
	return (file->flags & O_ACCMODE) != O_WRONLY;
}

bool file_is_writable(const struct open_file *file)
{
	return (file->flags & O_ACCMODE) != O_RDONLY;
}

/* ---------------- Any file ---------------- */

int file_read(struct open_file *file, struct thread *caller, void *buffer, size_t size,
	      size_t *done)
{
	assert(ux_lock_held());
	*done = 0;
	if (!file_is_readable(file))
		return EBADF;
	if (file->operations->read == NULL)
		return EINVAL;
	return file->operations->read(file, caller, buffer, size, done);
}

int file_write(struct open_file *file, struct thread *caller, const void *buffer, size_t size,
	       size_t *done)
{
	assert(ux_lock_held());
	*done = 0;
	if (!file_is_writable(file))
		return EBADF;
	if (file->operations->write == NULL)
		return EINVAL;
	return file->operations->write(file, caller, buffer, size, done);
}

int file_seek(struct open_file *file, off_t offset, int whence, off_t *position)
{
	assert(ux_lock_held());
	if (file->operations->seek == NULL)
		return ESPIPE;
	return file->operations->seek(file, offset, whence, position);
}

void file_stat(struct open_file *file, struct stat *result)
{
	assert(ux_lock_held());
	file->operations->stat(file, result);
}

/* ---------------- The position ---------------- */

/* Whoever moves it waits for nothing but the device, so this wait is not interruptible. */
static void file_take_position(struct open_file *file)
{
	while (file->is_moving)
		ux_sleep(&file->position, NULL);
	file->is_moving = true;
}

static void file_give_position(struct open_file *file)
{
	assert(ux_lock_held() && file->is_moving);
	file->is_moving = false;
	ux_wakeup(&file->position);
}

/* ---------------- Regular files ---------------- */

/*
 * Reading makes records, and waits.  Who is traced into what he reads would run after its end for
 * ever: so the end is where it was when he first read, until he seeks.  At most `size` bytes.
 */
static size_t file_before_own_end(struct open_file *file, const struct thread *caller, size_t size)
{
	const struct trace_file *trace = file->vnode->trace;
	off_t left;

	if (trace == NULL || caller->process->trace_file != trace)
		return size;
	if (file->own_end == 0)
		file->own_end = file->vnode->size;
	left = file->own_end > file->position ? file->own_end - file->position : 0;
	return left < (off_t)size ? (size_t)left : size;
}

static int file_regular_read(struct open_file *file, struct thread *caller, void *buffer,
			     size_t size, size_t *done)
{
	int error;

	file_take_position(file);
	size = file_before_own_end(file, caller, size);
	error = vnode_read(file->vnode, file->position, buffer, size, done);
	file->position += *done;
	file_give_position(file);
	return error;
}

int file_drop_privileges(struct vnode *vnode, const struct process *process)
{
	if ((vnode->mode & (S_ISUID | S_ISGID)) == 0 || is_root(process))
		return 0;
	return vnode_set_mode(vnode, vnode->mode & 07777 & ~(S_ISUID | S_ISGID));
}

/* The end is found and written to in one, by vnode_write(); it leaves the lock held. */
static int file_write_at_position(struct open_file *file, const struct credentials *who,
				  const void *buffer, size_t size, size_t *done)
{
	bool append = (file->flags & O_APPEND) != 0;
	int error;

	if (!append && file->position > OFF_MAX - (off_t)size)
		return EFBIG;
	error = vnode_write(file->vnode, who, append ? -1 : file->position, buffer, size, done);
	if (error == 0)
		file->position = append ? file->vnode->size : file->position + (off_t)*done;
	return error;
}

static int file_regular_write(struct open_file *file, struct thread *caller, const void *buffer,
			      size_t size, size_t *done)
{
	int error;

	if (size == 0)
		return 0;
	file_take_position(file);
	error = file_drop_privileges(file->vnode, caller->process);
	if (error == 0)
		error = file_write_at_position(file, &caller->process->credentials, buffer, size,
					       done);
	if (error == 0 && (file->flags & O_SYNC) != 0)
		error = vnode_sync(file->vnode, &file->errors_seen);
	file_give_position(file);
	return error;
}

static int file_base_of(const struct open_file *file, int whence, off_t *base)
{
	switch (whence) {
	case SEEK_SET:
		*base = 0;
		return 0;
	case SEEK_CUR:
		*base = file->position;
		return 0;
	case SEEK_END:
		*base = file->vnode->size;
		return 0;
	default:
		return EINVAL;
	}
}

static int file_regular_seek(struct open_file *file, off_t offset, int whence, off_t *position)
{
	off_t base = 0;
	off_t target;
	int error;

	file_take_position(file);
	error = file_base_of(file, whence, &base);
	if (error == 0 && __builtin_add_overflow(base, offset, &target))
		error = offset > 0 ? EOVERFLOW : EINVAL;
	if (error == 0 && target < 0)
		error = EINVAL;
	if (error == 0 && target != file->position)
		file->own_end = 0;
	if (error == 0)
		*position = file->position = target;
	file_give_position(file);
	return error;
}

static void file_vnode_file_stat(struct open_file *file, struct stat *result)
{
	vnode_stat(file->vnode, result);
}

static void file_regular_close(struct open_file *file)
{
	if (file->vnode == NULL || !S_ISREG(file->vnode->mode) || !file_is_writable(file))
		return; /* Null: opening it failed. */
	assert(file->vnode->writers > 0);
	file->vnode->writers--;
}

/* Contents may come from a pager: a proxy, by which they can be read, or mapped as copies. */
static int file_regular_map(const struct open_file *file, mach_port_t *object, off_t *size)
{
	int error = paging_proxy(file->vnode, object);

	*size = file->vnode->size;
	return error;
}

const struct file_operations regular_file = {
	.read = file_regular_read,
	.write = file_regular_write,
	.seek = file_regular_seek,
	.stat = file_vnode_file_stat,
	.close = file_regular_close,
	.map = file_regular_map,
};

/* ---------------- Directories ---------------- */

static int file_directory_no_read(struct open_file *file, struct thread *caller, void *buffer,
				  size_t size, size_t *done)
{
	(void)file;
	(void)caller;
	(void)buffer;
	(void)size;
	(void)done;
	return EISDIR;
}

/* The position is the cookie of the next entry. */
int file_entries(struct open_file *file, void *buffer, size_t room, size_t *used)
{
	int error;

	assert(ux_lock_held());
	if (!file_is_readable(file))
		return EBADF;
	if (file->operations != &directory_file)
		return ENOTDIR;
	file_take_position(file);
	error = directory_read(file->vnode, &file->position, buffer, room, used);
	file_give_position(file);
	return error;
}

const struct file_operations directory_file = {
	.read = file_directory_no_read,
	.seek = file_regular_seek,
	.stat = file_vnode_file_stat,
};
