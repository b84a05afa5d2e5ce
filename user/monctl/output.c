/* SPDX-License-Identifier: MIT */
/* Files that profiles are written to: see output.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/common.h"
#include "output.h"

#define KEPT_ROOM  48
#define KEPT_NAMES 100u

#define MODE_BITS 07777

/* ---------------- In place of an older file ---------------- */

/* Whether an older file is the one of its one name, so that another may take its place. */
static bool is_alone(const struct output *output)
{
	struct stat file, named;

	return output->descriptor < 0 ||
	       (fstat(output->descriptor, &file) == 0 && S_ISREG(file.st_mode) &&
		file.st_nlink == 1 && lstat(output->path, &named) == 0 &&
		named.st_ino == file.st_ino && named.st_dev == file.st_dev);
}

/* The new file gets the owner and the mode of the older one, if there is one. */
static bool inherit(int older, int newer, const char *name)
{
	struct stat wanted, status;

	if (older < 0)
		return true;
	if (fstat(older, &wanted) != 0 || fstat(newer, &status) != 0)
		return false;
	if ((wanted.st_uid != status.st_uid || wanted.st_gid != status.st_gid) &&
	    chown(name, wanted.st_uid, wanted.st_gid) != 0)
		return false;
	return chmod(name, wanted.st_mode & MODE_BITS) == 0;
}

/* Writes a new file beside the older one and gives it its name. */
static bool replace(struct output *output, const void *data, size_t size)
{
	char name[PATH_MAX];
	int newer = open_beside(output->path, name);
	int older = output->descriptor;
	int error;

	if (newer < 0)
		return false;
	if (inherit(older, newer, name) && write_all(newer, data, size) &&
	    rename(name, output->path) == 0) {
		if (older >= 0)
			close(older);
		output->descriptor = newer;
		return true;
	}
	error = errno;
	close(newer);
	unlink(name);
	errno = error;
	return false;
}

/* The folder, or the name, or the older file's owner does not allow it. */
static bool is_forbidden(int error)
{
	return error == EACCES || error == EPERM || error == EROFS || error == ENAMETOOLONG;
}

/* ---------------- Over an older file ---------------- */

/* Behind the first `old` bytes, where the descriptor is; they are the file if it cannot be done. */
static bool append(int descriptor, const char *data, size_t size, off_t old)
{
	int error;

	if (write_all(descriptor, data, size))
		return true;
	error = errno;
	if (ftruncate(descriptor, old) == 0)
		lseek(descriptor, old, SEEK_SET);
	errno = error;
	return false;
}

/* What lies behind the end of the old content is written first, as only that needs more room. */
static bool overwrite(int descriptor, const char *data, size_t size)
{
	struct stat status;
	size_t over;

	if (fstat(descriptor, &status) != 0)
		return false;
	if (!S_ISREG(status.st_mode))
		return write_all(descriptor, data, size);
	over = size < (size_t)status.st_size ? size : (size_t)status.st_size;
	return lseek(descriptor, 0, SEEK_END) >= 0 &&
	       append(descriptor, data + over, size - over, status.st_size) &&
	       lseek(descriptor, 0, SEEK_SET) == 0 && write_all(descriptor, data, over) &&
	       lseek(descriptor, (off_t)size, SEEK_SET) >= 0 &&
	       ftruncate(descriptor, (off_t)size) == 0;
}

/* ---------------- Putting ---------------- */

static bool begin(struct output *output, const void *data, size_t size)
{
	if (is_alone(output)) {
		if (replace(output, data, size))
			return true;
		if (output->descriptor < 0 || !is_forbidden(errno))
			return false;
	}
	return overwrite(output->descriptor, data, size);
}

bool output_open(struct output *output, const char *path)
{
	*output = (struct output){.path = path, .descriptor = open(path, O_WRONLY | O_CLOEXEC)};
	return output->descriptor >= 0 || errno == ENOENT;
}

bool output_make(struct output *output, const char *path)
{
	if (!output_open(output, path))
		return false;
	if (output->descriptor < 0) {
		output->descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		output->is_new = output->descriptor >= 0;
	}
	return output->descriptor >= 0;
}

void output_undo(struct output *output)
{
	close(output->descriptor);
	if (output->is_new)
		unlink(output->path);
}

bool output_put(struct output *output, const void *data, size_t size)
{
	if (output->is_begun ? !append(output->descriptor, data, size, output->size)
			     : !begin(output, data, size))
		return false;
	output->is_begun = true;
	output->size += (off_t)size;
	return true;
}

bool output_close(struct output *output)
{
	return output->descriptor < 0 || close(output->descriptor) == 0;
}

bool output_write(const char *path, const void *data, size_t size)
{
	struct output output;
	bool done;
	int error;

	if (!output_open(&output, path))
		return false;
	done = output_put(&output, data, size);
	error = errno;
	if (!output_close(&output) && done)
		return false;
	errno = error;
	return done;
}

/* ---------------- Somewhere else ---------------- */

/* Into a new file, as anybody may have put one, or a link to another, where all may write. */
static bool write_kept(int pid, char path[KEPT_ROOM], const void *data, size_t size)
{
	for (unsigned n = 0; n < KEPT_NAMES; n++) {
		int descriptor, error;

		if (n == 0)
			snprintf(path, KEPT_ROOM, "/tmp/gmon.out.%d", pid);
		else
			snprintf(path, KEPT_ROOM, "/tmp/gmon.out.%d.%u", pid, n);
		descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (descriptor < 0 && errno == EEXIST)
			continue;
		if (descriptor < 0)
			return false;
		close(descriptor);
		if (output_write(path, data, size))
			return true;
		error = errno;
		unlink(path);
		errno = error;
		return false;
	}
	return false;
}

char *output_keep(const char *path, int pid, const void *data, size_t size)
{
	char kept[KEPT_ROOM];

	if (output_write(path, data, size))
		return copy_text(path);
	report_errno(path);
	if (write_kept(pid, kept, data, size)) {
		report("the profile of process %d is kept in %s", pid, kept);
		return copy_text(kept);
	}
	report_errno(kept);
	return NULL;
}
