/* SPDX-License-Identifier: MIT */
/*
 * Files as the rest of the server sees them, whatever file system they are in; there is one kind of
 * those, ext2 (fs/ext2.h).
 *
 * A vnode stands for one file while somebody uses it; it is found by its number, so that there is
 * one for a file.  Functions that read, write or change a file or a directory, and those that
 * follow a path, unlock: they may wait for the device.  On one file each is atomic nevertheless,
 * since the vnode is marked busy meanwhile.  All return 0 or an errno.
 */
#ifndef UX_FS_VNODE_H
#define UX_FS_VNODE_H

#include <sys/dirent.h>
#include <sys/stat.h>

#include <assay/list.h>
#include "core/ux.h"
#include "process/process.h"

struct file_system;
struct memory_object; /* paging.h */
struct trace_file;    /* trace.h */

typedef uint32_t inumber_t; /* Of a file within its file system: ext2 has no more. */

struct vnode {
	struct list link; /* In the table of vnodes. */
	struct file_system *file_system;
	inumber_t number;
	unsigned references;
	bool is_busy; /* Somebody is in the middle of something with it. */

	mode_t mode; /* With the file's type. */
	nlink_t links;
	uid_t uid;
	gid_t gid;
	dev_t device; /* Of S_IFCHR: major and minor. */
	off_t size;
	time_t accessed, modified, changed;
	unsigned write_errors; /* Blocks of it that could not be written, since it is in use. */

	unsigned executions;          /* Processes that run it: it cannot be written, */
	unsigned writers;             /* nor run while descriptors for writing are open. */
	struct memory_object *object; /* Null, or what maps of it are made from (paging.c). */
	void *pipe;                   /* Of S_IFIFO, for pipe.c. */
	struct trace_file *trace;     /* Null, or processes are traced into it. */
};

/*
 * Mounts the root from the device of that name.  One that has no sound ext2 is refused with a line
 * in the log.
 */
int fs_mount_root(mach_port_t device_master, const char *name);

/* The root's vnode, with a reference. */
struct vnode *fs_root(void);

/*
 * Writes back all that is not on the device yet.  fs_sync() tells of each error once; vnode_sync()
 * of those of the file, and of blocks that are no one file's, that came since *seen, which is
 * vnode_errors_at_open() at first: so of one that nobody has been told of yet, too.  Unlocks.
 */
int fs_sync(void);
int vnode_sync(struct vnode *vnode, unsigned *seen);
unsigned vnode_errors_at_open(const struct vnode *vnode);
unsigned vnode_write_errors(const struct vnode *vnode);

/* How much of the device is free for everybody, in percent. */
unsigned fs_free_percent(void);

/*
 * The device's last blocks, so many bytes' worth, are this file's, to which a reference is held as
 * long; null: nobody's.  To others the device is full before, and so it is to root.
 */
void fs_keep_room(const struct vnode *vnode, size_t bytes);

/* Whether not all of that is free any more. */
bool fs_kept_room_is_used(void);

/* Says that the file system was left as it should be: the last thing before a halt.  Unlocks. */
void fs_unmount(void);

struct vnode *vnode_reference(struct vnode *vnode);
void vnode_release(
	struct vnode *vnode); /* A file without links goes with its last reference.  Unlocks. */

/* At most `size` bytes; at the file's end 0.  `buffer` is memory of the server's.  Unlocks. */
int vnode_read(struct vnode *vnode, off_t offset, void *buffer, size_t size, size_t *done);

/*
 * Appends if `offset` is -1.  What was written before an error counts as success.  Some blocks are
 * reserved for root: to others the device is full before.
 */
int vnode_write(struct vnode *vnode, const struct credentials *who, off_t offset,
		const void *buffer, size_t size, size_t *done);
int vnode_truncate(struct vnode *vnode, off_t size);

/* The text of a new symbolic link: from 1 to PATH_MAX - 1 bytes. */
int vnode_set_link(struct vnode *vnode, const char *text);

/* The text of a symbolic link, without a zero, as far as there is room. */
int vnode_read_link(struct vnode *vnode, char *buffer, size_t room, size_t *length);

void vnode_stat(const struct vnode *vnode, struct stat *result);
int vnode_set_mode(struct vnode *vnode, mode_t mode);
int vnode_set_owner(struct vnode *vnode, uid_t uid, gid_t gid);
int vnode_set_times(struct vnode *vnode, time_t accessed, time_t modified);

/*
 * R_OK, W_OK, X_OK of <sys/unistd.h>; 0, EACCES or EROFS.  Root may all, but execute what nobody
 * may.
 */
int vnode_access(const struct vnode *vnode, const struct credentials *who, int wanted);

/* Whether who executes the file gets the rights of another user or group by that. */
bool vnode_changes_user(const struct vnode *vnode, const struct credentials *who);

/* Whether somebody may take a file out of a directory: EACCES, EPERM if that is sticky. */
int vnode_may_remove(const struct vnode *directory, const struct vnode *victim,
		     const struct credentials *who);

/* ---------------- Directories (ext2_directory.c) ---------------- */

/* Names are without slashes and at most NAME_MAX long.  The vnode found has a reference. */
int directory_lookup(struct vnode *directory, const char *name, struct vnode **found);

/* A new file of `mode`'s type; EEXIST if there is one. */
int directory_create(struct vnode *directory, const char *name, mode_t mode,
		     const struct credentials *owner, struct vnode **made);
int directory_symlink(struct vnode *directory, const char *name, const char *text,
		      const struct credentials *owner, struct vnode **made);
int directory_link(struct vnode *directory, const char *name, struct vnode *vnode,
		   const struct credentials *who);
int directory_unlink(struct vnode *directory, const char *name);
int directory_remove(struct vnode *directory, const char *name); /* An empty directory. */
int directory_rename(struct vnode *from, const char *old_name, struct vnode *to,
		     const char *new_name, const struct credentials *who);

/* Entries as <sys/dirent.h> has them from *cookie on, which is 0 at first; `used` 0 at the end. */
int directory_read(struct vnode *directory, off_t *cookie, void *buffer, size_t room, size_t *used);

/* ---------------- Paths (path.c) ---------------- */

/* The file that a path names, with a reference.  `..` of the root is the root. */
int path_lookup(struct process *process, const char *path, bool follow, struct vnode **found);

/*
 * The same, following all links, and the path that leads there from the root without `.`, `..` and
 * links; empty if that is too long.
 */
int path_lookup_whole(struct process *process, const char *path, struct vnode **found,
		      char whole[PATH_MAX]);

/* The directory in which the last part of a path lies or would lie, and that part. */
int path_parent(struct process *process, const char *path, struct vnode **directory,
		char name[NAME_MAX + 1]);

/* The path of a directory from the root on: getcwd(). */
int path_of_directory(struct vnode *directory, char *path, size_t room);

#endif
