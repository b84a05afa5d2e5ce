/* SPDX-License-Identifier: MIT */
/*
 * Pipes, and fifos, which are pipes with a name.
 *
 * A pipe lives as long as one of its ends is open.  Readers wait for bytes or for the last writer's
 * end, writers for room or for the last reader's; both by ux_sleep(), so a reader that is woken
 * goes on under its own label.  Guarded by the server's lock.
 */
#include "file/descriptors.h"
#include "file/pipe_ring.h"

#define PIPE_SIZE 16384u
#define PIPE_BUF  4096u /* So much is written in one piece or not at all. */

struct pipe {
	struct pipe_ring ring;
	struct vnode *vnode; /* Of a fifo, which knows the pipe; else null. */
	uid_t uid;
	gid_t gid;
	inumber_t number;
	time_t made;
	unsigned readers; /* Open files that read; writers sleep on this. */
	unsigned writers; /* Open files that write; readers sleep on this. */
	unsigned
		reads_opened; /* Ever: who opens a fifo waits for the other kind to come, even if */
	unsigned writes_opened; /* that is gone again before he has looked. */
};

/* ---------------- Beginning and end ---------------- */

static struct pipe *pipe_new(struct vnode *vnode)
{
	static inumber_t last_number;
	struct pipe *pipe = ux_allocate(sizeof *pipe);

	if (pipe == NULL)
		return NULL;
	pipe->ring.bytes = ux_allocate_pages(PIPE_SIZE);
	if (pipe->ring.bytes == NULL) {
		ux_free(pipe);
		return NULL;
	}
	pipe->ring.size = PIPE_SIZE;
	pipe->vnode = vnode;
	pipe->number = ++last_number;
	pipe->made = ux_seconds();
	return pipe;
}

static void pipe_free(struct pipe *pipe)
{
	assert(pipe->readers == 0 && pipe->writers == 0);
	if (pipe->vnode != NULL)
		pipe->vnode->pipe = NULL;
	ux_free_pages(pipe->ring.bytes, PIPE_SIZE);
	ux_free(pipe);
}

static void pipe_wake_all(struct pipe *pipe)
{
	ux_wakeup(&pipe->readers);
	ux_wakeup(&pipe->writers);
}

static void pipe_add_end(struct pipe *pipe, const struct open_file *file)
{
	if (file_is_readable(file)) {
		pipe->readers++;
		pipe->reads_opened++;
	}
	if (file_is_writable(file)) {
		pipe->writers++;
		pipe->writes_opened++;
	}
	pipe_wake_all(pipe);
}

static void pipe_close(struct open_file *file)
{
	struct pipe *pipe = file->data;

	assert(ux_lock_held());
	if (file_is_readable(file))
		pipe->readers--;
	if (file_is_writable(file))
		pipe->writers--;
	if (pipe->readers == 0 && pipe->writers == 0)
		pipe_free(pipe);
	else
		pipe_wake_all(pipe);
}

/* ---------------- Reading and writing ---------------- */

static int pipe_read(struct open_file *file, struct thread *caller, void *buffer, size_t size,
		     size_t *done)
{
	struct pipe *pipe = file->data;

	if (size == 0)
		return 0;
	while (pipe->ring.used == 0) {
		int error;

		if (pipe->writers == 0)
			return 0;
		if ((file->flags & O_NONBLOCK) != 0)
			return EAGAIN;
		error = ux_sleep(&pipe->writers, caller);
		if (error != 0)
			return error;
	}
	*done = pipe_ring_take(&pipe->ring, buffer, size);
	ux_wakeup(&pipe->readers);
	return 0;
}

static int pipe_broken(struct thread *caller)
{
	const struct signal_info info = {.signal = SIGPIPE, .code = SI_KERNEL};

	signal_thread(caller, &info);
	return EPIPE;
}

/* Waits until there is room for `needed` bytes and a reader for them. */
static int pipe_await_room(const struct open_file *file, struct thread *caller, size_t needed)
{
	struct pipe *pipe = file->data;

	for (;;) {
		int error;

		if (pipe->readers == 0)
			return pipe_broken(caller);
		if (pipe_ring_room(&pipe->ring) >= needed)
			return 0;
		if ((file->flags & O_NONBLOCK) != 0)
			return EAGAIN;
		error = ux_sleep(&pipe->readers, caller);
		if (error != 0)
			return error;
	}
}

/* What is no longer than PIPE_BUF goes in one piece; of more, as much as there is room for. */
static int pipe_write(struct open_file *file, struct thread *caller, const void *buffer,
		      size_t size, size_t *done)
{
	struct pipe *pipe = file->data;
	size_t needed = size <= PIPE_BUF ? size : 1;

	while (*done < size) {
		int error = pipe_await_room(file, caller, needed);

		if (error != 0)
			return *done > 0 ? 0 : error;
		*done += pipe_ring_put(&pipe->ring, (const char *)buffer + *done, size - *done);
		ux_wakeup(&pipe->writers);
	}
	return 0;
}

static void pipe_stat(struct open_file *file, struct stat *result)
{
	const struct pipe *pipe = file->data;

	*result = (struct stat){
		.st_ino = pipe->number,
		.st_mode = S_IFIFO | S_IRUSR | S_IWUSR,
		.st_nlink = 1,
		.st_uid = pipe->uid,
		.st_gid = pipe->gid,
		.st_atime = pipe->made,
		.st_mtime = pipe->made,
		.st_ctime = pipe->made,
	};
	if (pipe->vnode != NULL)
		vnode_stat(pipe->vnode, result);
	result->st_size = (off_t)pipe->ring.used;
	result->st_blksize = PIPE_BUF;
}

static const struct file_operations pipe_file = {
	.read = pipe_read,
	.write = pipe_write,
	.stat = pipe_stat,
	.close = pipe_close,
	.read_max = PIPE_SIZE,
};

/* ---------------- Opening ---------------- */

static void pipe_become_end(struct open_file *file, struct pipe *pipe)
{
	file->operations = &pipe_file;
	file->data = pipe;
	pipe_add_end(pipe, file);
}

int pipe_open(struct process *owner, int flags, struct open_file *ends[2])
{
	struct pipe *pipe = pipe_new(NULL);

	assert(ux_lock_held());
	if (pipe == NULL)
		return ENOMEM;
	pipe->uid = owner->credentials.euid;
	pipe->gid = owner->credentials.egid;
	ends[0] = open_file_new(&pipe_file, NULL, O_RDONLY | (flags & O_NONBLOCK));
	ends[1] = open_file_new(&pipe_file, NULL, O_WRONLY | (flags & O_NONBLOCK));
	if (ends[0] == NULL || ends[1] == NULL) {
		ux_free(ends[0]);
		ux_free(ends[1]);
		pipe_free(pipe);
		return ENOMEM;
	}
	pipe_become_end(ends[0], pipe);
	pipe_become_end(ends[1], pipe);
	return 0;
}

/* Waits until *count is another than it was, or there is somebody at the other end. */
static int pipe_await_other(const unsigned *others, const unsigned *count, struct thread *caller)
{
	unsigned before = *count;

	while (*others == 0 && *count == before) {
		int error = ux_sleep(others, caller);

		if (error != 0)
			return error;
	}
	return 0;
}

int fifo_open(struct open_file *file, struct thread *caller)
{
	struct pipe *pipe = file->vnode->pipe;
	bool waits = (file->flags & O_NONBLOCK) == 0;

	assert(ux_lock_held());
	if (pipe == NULL)
		pipe = pipe_new(file->vnode);
	if (pipe == NULL)
		return ENOMEM;
	file->vnode->pipe = pipe;
	pipe_become_end(file, pipe);
	switch (file->flags & O_ACCMODE) {
	case O_RDONLY:
		return waits ? pipe_await_other(&pipe->writers, &pipe->writes_opened, caller) : 0;
	case O_WRONLY:
		if (!waits)
			return pipe->readers > 0 ? 0 : ENXIO;
		return pipe_await_other(&pipe->readers, &pipe->reads_opened, caller);
	default:
		return 0;
	}
}
