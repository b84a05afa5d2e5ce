/* SPDX-License-Identifier: MIT */
/*
 * Streams opened and closed, the list of all of them, and what becomes of them when a program
 * forks and when it ends.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

#define NEW_FILE 0666 /* Its mode, without what the process's mask takes. */

/* The list begins with these three; the first two names are here so that each knows the next. */
static FILE output;
static FILE errors;
static FILE *list;

static FILE input = {
	.flags = FILE_READABLE | FILE_ASKS | FILE_IS_STATIC,
	.descriptor = STDIN_FILENO,
	.following = &output,
	.link = &list,
};
static FILE output = {
	.flags = FILE_WRITABLE | FILE_ASKS | FILE_IS_STATIC,
	.descriptor = STDOUT_FILENO,
	.following = &errors,
	.link = &input.following,
};
static FILE errors = {
	.flags = FILE_WRITABLE | FILE_UNBUFFERED | FILE_IS_STATIC,
	.descriptor = STDERR_FILENO,
	.link = &output.following,
};

FILE *stdin = &input;
FILE *stdout = &output;
FILE *stderr = &errors;

static libc_lock_t list_lock = LIBC_LOCK_INITIALIZER;
static FILE *list = &input; /* By the list's lock, with the links. */

static void list_add(FILE *file)
{
	__lock(&list_lock);
	file->following = list;
	file->link = &list;
	if (list != NULL)
		list->link = &file->following;
	list = file;
	__unlock(&list_lock);
}

static void list_remove(FILE *file)
{
	__lock(&list_lock);
	*file->link = file->following;
	if (file->following != NULL)
		file->following->link = file->link;
	__unlock(&list_lock);
}

bool __file_read_mode(const char *mode, unsigned *flags, int *open_flags)
{
	bool both = strchr(mode, '+') != NULL;

	switch (*mode) {
	case 'r':
		*flags = FILE_READABLE;
		*open_flags = 0;
		break;
	case 'w':
		*flags = FILE_WRITABLE;
		*open_flags = O_CREAT | O_TRUNC;
		break;
	case 'a':
		*flags = FILE_WRITABLE | FILE_APPENDS;
		*open_flags = O_CREAT | O_APPEND;
		break;
	default:
		errno = EINVAL;
		return false;
	}
	*flags |= both ? FILE_READABLE | FILE_WRITABLE : 0;
	*open_flags |= both ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
	*open_flags |= strchr(mode, 'x') != NULL ? O_EXCL : 0;
	*open_flags |= strchr(mode, 'e') != NULL ? O_CLOEXEC : 0;
	return true;
}

FILE *__file_new(int descriptor, unsigned flags)
{
	FILE *file = calloc(1, sizeof(*file));

	if (file == NULL)
		return NULL;
	file->descriptor = descriptor;
	file->flags = flags | FILE_ASKS;
	list_add(file);
	return file;
}

FILE *fopen(const char *path, const char *mode)
{
	unsigned flags;
	int open_flags;
	int descriptor;
	FILE *file;

	if (!__file_read_mode(mode, &flags, &open_flags))
		return NULL;
	descriptor = open(path, open_flags, NEW_FILE);
	if (descriptor < 0)
		return NULL;
	file = __file_new(descriptor, flags);
	if (file == NULL)
		close(descriptor);
	return file;
}

/* Whether a descriptor that was opened with `have` can do what a mode's flags ask. */
static bool allows(int have, int wanted)
{
	int access = have & O_ACCMODE;

	return access == O_RDWR || access == (wanted & O_ACCMODE);
}

/* Gives the descriptor what fopen() would have given it; -1 if it is not one for that mode. */
static int adapt(int descriptor, int open_flags)
{
	int have = fcntl(descriptor, F_GETFL);

	if (have < 0)
		return -1;
	if (!allows(have, open_flags)) {
		errno = EINVAL;
		return -1;
	}
	if (open_flags & O_CLOEXEC && fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0)
		return -1;
	if (open_flags & O_APPEND && !(have & O_APPEND))
		return fcntl(descriptor, F_SETFL, have | O_APPEND);
	return 0;
}

FILE *fdopen(int descriptor, const char *mode)
{
	unsigned flags;
	int open_flags;

	if (!__file_read_mode(mode, &flags, &open_flags) || adapt(descriptor, open_flags) < 0)
		return NULL;
	return __file_new(descriptor, flags);
}

FILE *tmpfile(void)
{
	char path[] = P_tmpdir "/tmpf.XXXXXX";
	int descriptor = mkstemp(path);
	FILE *file;

	if (descriptor < 0)
		return NULL;
	unlink(path);
	file = __file_new(descriptor, FILE_READABLE | FILE_WRITABLE);
	if (file == NULL)
		close(descriptor);
	return file;
}

/* Ends the use of the buffer; false if what was in it could not be written. */
static bool settle(FILE *file)
{
	bool written = true;

	if (file->flags & FILE_WRITING)
		written = __file_flush(file);
	else if (file->flags & FILE_READING)
		__file_give_back(file);
	file->next = file->used = file->unread_count = 0;
	file->flags &= ~(unsigned)(FILE_READING | FILE_WRITING);
	return written;
}

static void drop_buffer(FILE *file)
{
	if (file->flags & FILE_OWNS_BUFFER)
		free(file->buffer);
	file->buffer = NULL;
	file->flags &= ~(unsigned)FILE_OWNS_BUFFER;
}

int fclose(FILE *file)
{
	int error = 0;

	list_remove(file);
	flockfile(file);
	if (!settle(file))
		error = errno;
	if (close(file->descriptor) < 0 && error == 0)
		error = errno;
	drop_buffer(file);
	file->flags &= FILE_IS_STATIC;
	file->descriptor = -1;
	funlockfile(file);
	if (!(file->flags & FILE_IS_STATIC))
		free(file);
	if (error == 0)
		return 0;
	errno = error;
	return EOF;
}

/*
 * The new file gets the number of the old one, so that standard streams stay what programs expect
 * behind exec.
 */
static bool replace(FILE *file, const char *path, int open_flags)
{
	int descriptor = open(path, open_flags, NEW_FILE);
	bool done;

	if (descriptor < 0 || descriptor == file->descriptor)
		return descriptor >= 0;
	if (file->descriptor < 0) {
		file->descriptor = descriptor;
		return true;
	}
	done = dup2(descriptor, file->descriptor) >= 0;
	close(descriptor);
	if (done && open_flags & O_CLOEXEC)
		done = fcntl(file->descriptor, F_SETFD, FD_CLOEXEC) >= 0;
	return done;
}

/* Without a path only the mode changes.  After a failure the stream is closed. */
FILE *freopen(const char *path, const char *mode, FILE *file)
{
	unsigned flags;
	int open_flags;
	bool done;

	if (!__file_read_mode(mode, &flags, &open_flags))
		return NULL;
	flockfile(file);
	settle(file);
	drop_buffer(file);
	if (path != NULL)
		done = replace(file, path, open_flags);
	else
		done = adapt(file->descriptor, open_flags) >= 0;
	file->flags = flags | (file->flags & (FILE_IS_STATIC | FILE_UNBUFFERED)) | FILE_ASKS;
	funlockfile(file);
	if (done)
		return file;
	fclose(file);
	return NULL;
}

/* ---------------- Forks and ends ---------------- */

static bool has_output(const FILE *file)
{
	return file->flags & FILE_WRITING && file->used > 0;
}

/* A stream that waits for input is locked, perhaps for ever: only those with output are taken. */
void __stdio_flush_all(void)
{
	__lock(&list_lock);
	for (FILE *file = list; file != NULL; file = file->following) {
		if (!has_output(file))
			continue;
		flockfile(file);
		if (has_output(file))
			__file_flush(file);
		funlockfile(file);
	}
	__unlock(&list_lock);
}

/* What the program has not read of its input is for who comes after it. */
void __stdio_exit(void)
{
	__stdio_flush_all();
	__lock(&list_lock);
	for (FILE *file = list; file != NULL; file = file->following) {
		if (!(file->flags & FILE_READING) || ftrylockfile(file) != 0)
			continue;
		if (file->flags & FILE_READING)
			__file_give_back(file);
		funlockfile(file);
	}
	__unlock(&list_lock);
}

static int forking_thread; /* By the list's lock, held all through a fork. */

void __stdio_before_fork(void)
{
	__lock(&list_lock);
	forking_thread = __thread_id();
}

/* The child has one thread: what others had locked is free, what it had is still its own. */
static void inherit_lock(FILE *file)
{
	if (file->owner == forking_thread) {
		file->owner = __thread_id();
		return;
	}
	file->owner = 0;
	file->depth = 0;
	file->lock = (libc_lock_t)LIBC_LOCK_INITIALIZER;
}

void __stdio_after_fork(int in_child)
{
	if (!in_child) {
		__unlock(&list_lock);
		return;
	}
	for (FILE *file = list; file != NULL; file = file->following)
		inherit_lock(file);
	list_lock = (libc_lock_t)LIBC_LOCK_INITIALIZER;
}
