/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of processes, and open files that they name.
 *
 * An open file is shared by descriptors that were made by dup() and fork(); it has the position.
 * What it does is in its table of operations: files and directories (file.c), pipes (pipe.c),
 * character devices (device.c, console.c).
 */
#ifndef UX_DESCRIPTORS_H
#define UX_DESCRIPTORS_H

#include <sys/fcntl.h>
#include <sys/stat.h>

#include "fs/vnode.h"
#include "process/process.h"
#include "process/thread.h"

struct open_file;

/*
 * Each may unlock and wait.  `caller` is whose call it is: waits are interrupted by its signals.
 * A null member is an operation that the file has not: EINVAL, ESPIPE for seek, ENODEV for map.
 */
struct file_operations {
	int (*read)(struct open_file *file, struct thread *caller, void *buffer, size_t size,
		    size_t *done);
	int (*write)(struct open_file *file, struct thread *caller, const void *buffer, size_t size,
		     size_t *done);
	int (*seek)(struct open_file *file, off_t offset, int whence, off_t *position);
	void (*stat)(struct open_file *file, struct stat *result);
	void (*close)(struct open_file *file); /* The last reference goes.  May be null. */
	int (*set_size)(struct open_file *file, const struct process *process, off_t size);
	int (*map)(const struct open_file *file, mach_port_t *object, off_t *size);
	size_t read_max; /* Of one read, which may wait; 0: no limit. */
};

struct open_file {
	unsigned references; /* Descriptors, and calls under way. */
	int flags;           /* Of open(), but O_CREAT and the like, and O_CLOEXEC. */
	const struct file_operations *operations;
	struct vnode *vnode;  /* With a reference; null for pipes. */
	unsigned errors_seen; /* Of the vnode's writes: vnode_sync(). */
	off_t position;
	off_t own_end;  /* Of a trace into which its reader is traced: file.c; 0: not known yet. */
	bool is_moving; /* Somebody reads or writes at the position, or sets it (file.c). */
	void *data;     /* For the operations. */
};

struct fd_entry {
	struct open_file *file; /* Null: free. */
	bool close_on_exec;
};

struct descriptors {
	struct fd_entry table[UX_OPEN_MAX];
};

/* ---------------- Descriptors (descriptors.c) ---------------- */

/* A process's life: none of these fails but for lack of memory. */
struct descriptors *descriptors_new(void);
struct descriptors *descriptors_fork(const struct descriptors *descriptors);
void descriptors_exec(struct descriptors *descriptors); /* Closes what is marked.  Unlocks. */
void descriptors_end(struct descriptors *descriptors);  /* Closes all and frees it.  Unlocks. */

/* Opens a path for pid 1, before there are programs; as open() otherwise.  Unlocks. */
int descriptors_open(struct process *process, const char *path, int flags, mode_t mode, int *fd);

/* The descriptor itself, or null if it is not open. */
struct fd_entry *descriptor_find(struct process *process, int fd);

/* The file of a descriptor with a reference, or null. */
struct open_file *descriptor_file(struct process *process, int fd);

/* The lowest free descriptor from `minimum` on gets the caller's reference: EMFILE or EINVAL. */
bool descriptor_is_free(struct process *process); /* Any. */
int descriptor_add(struct process *process, int minimum, struct open_file *file, bool close_on_exec,
		   int *fd);
int descriptor_close(struct process *process, int fd); /* Unlocks. */

/* `fd` names this file, whatever it named before; takes the reference if it succeeds.  Unlocks. */
int descriptor_replace(struct process *process, int fd, struct open_file *file, bool close_on_exec);

/* ---------------- Open files ---------------- */

/* A file with a reference; null without memory.  `vnode`, which may be null, gets one more. */
struct open_file *open_file_new(const struct file_operations *operations, struct vnode *vnode,
				int flags);
struct open_file *open_file_reference(struct open_file *file);
void open_file_release(struct open_file *file); /* Unlocks. */

/*
 * Opens what the path names, or makes it: *file has a reference.  The caller may be null before
 * there are threads.  Unlocks.
 */
int open_path(struct process *process, struct thread *caller, const char *path, int flags,
	      mode_t mode, struct open_file **file);

/* ---------------- What can be done with them (file.c) ---------------- */

bool file_is_readable(const struct open_file *file);
bool file_is_writable(const struct open_file *file);

/*
 * Whoever changes a file that runs with its owner's rights must not keep these in it: takes them
 * from it, unless he is root.  Unlocks.
 */
int file_drop_privileges(struct vnode *vnode, const struct process *process);

/* What read(), write(), lseek(), getdents() and fstat() do with an open file; all unlock. */
int file_read(struct open_file *file, struct thread *caller, void *buffer, size_t size,
	      size_t *done);
int file_write(struct open_file *file, struct thread *caller, const void *buffer, size_t size,
	       size_t *done);
int file_seek(struct open_file *file, off_t offset, int whence, off_t *position);
int file_entries(struct open_file *file, void *buffer, size_t room, size_t *used);
void file_stat(struct open_file *file, struct stat *result);

extern const struct file_operations regular_file, directory_file;

/* ---------------- Pipes (pipe.c) ---------------- */

/* Two open files: what is written to the second can be read from the first. */
int pipe_open(struct process *owner, int flags, struct open_file *ends[2]);

/* A file of the fifo's vnode becomes an end of its pipe; waits for another one.  Unlocks. */
int fifo_open(struct open_file *file, struct thread *caller);

/* ---------------- Character devices (device.c, console.c) ---------------- */

/* Gives the file a device's operations, by its number; ENXIO if there is no such device. */
int character_device_open(struct open_file *file, dev_t number);

/* Starts the thread that reads the console. */
bool console_start(void);

extern const struct file_operations console_file;

#endif
