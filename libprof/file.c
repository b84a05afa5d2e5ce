/* SPDX-License-Identifier: MIT */
/*
 * Writing gmon.out, and saying why it could not be written.
 *
 * All this may be called in a signal's handler: only system calls are made.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#define LINE  512
#define NAMES 100u /* That are tried. */

static const struct {
	int error;
	const char *advice;
} advices[] = {
	{EACCES, "run it in a folder that you may write to, or set gprof_gmon_out"},
	{EROFS, "run it in a folder that you may write to, or set gprof_gmon_out"},
	{ENOENT, "make the folder, or set gprof_gmon_out to a file in another"},
	{ENOTDIR, "set gprof_gmon_out to a file in a folder"},
	{EEXIST, "remove profiles of older programs there, or set gprof_gmon_out to another file"},
	{EISDIR, "there is a folder of that name: set gprof_gmon_out to another name"},
	{ENOSPC, "make room on the disk, or set gprof_gmon_out to a file on another"},
	{ENXIO, "nobody reads from it: begin that first, or set gprof_gmon_out to a file"},
	{EPIPE, "who read from it has ended: begin that anew, or set gprof_gmon_out to a file"},
};

static const char *advice_for(int error)
{
	for (size_t n = 0; n < sizeof advices / sizeof advices[0]; n++) {
		if (advices[n].error == error)
			return advices[n].advice;
	}
	return "set gprof_gmon_out to another file";
}

void __gprof_say(const char *what, const char *advice)
{
	char line[LINE];
	int length = snprintf(line, sizeof line, "%s: %s; %s\n", getprogname(), what, advice);

	write(STDERR_FILENO, line, length < LINE ? (size_t)length : sizeof line - 1);
}

static void say_not_written(const char *path, int error)
{
	char text[LINE];

	snprintf(text, sizeof text, "%s cannot be written: %s", path, strerror(error));
	__gprof_say(text, advice_for(error));
}

/* Another program's profile stays where it is. */
static void say_beside(const char *usual, const struct whose *other, const char *path)
{
	char stays[LINE / 2], goes[LINE / 2];

	snprintf(stays, sizeof stays, "%s is the profile of %s, process %u, and stays", usual,
		 other->name, other->pid);
	snprintf(goes, sizeof goes, "this one is %s", path);
	__gprof_say(stays, goes);
}

/* 0, or an errno. */
static int write_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t written = write(fd, data, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? errno : EIO;
		data += written;
		size -= (size_t)written;
	}
	return 0;
}

/*
 * Opens a file that was not there, whose name begins with `path`; -1 with errno.  Where all may
 * write, somebody may have put a link of the name that would be the next.
 */
static int open_new(const char *path, char name[PATH_MAX])
{
	int fd = -1;

	errno = EEXIST;
	for (unsigned n = 0; fd < 0 && errno == EEXIST && n < NAMES; n++) {
		if (snprintf(name, PATH_MAX, "%s.%d.%u~", path, getpid(), n) >= PATH_MAX)
			errno = ENAMETOOLONG;
		else
			fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	}
	return fd;
}

/* 0, or an errno. */
static int write_and_close(int fd, const char *data, size_t size)
{
	int error = write_all(fd, data, size);

	if (close(fd) != 0 && error == 0)
		error = errno;
	return error;
}

/* 0, or an errno. */
static int replace(const char *path, const char *data, size_t size)
{
	char temporary[PATH_MAX];
	int fd = open_new(path, temporary);
	int error;

	if (fd < 0)
		return errno;
	error = write_and_close(fd, data, size);
	if (error == 0 && rename(temporary, path) != 0)
		error = errno;
	if (error != 0)
		unlink(temporary);
	return error;
}

/* 0, or an errno. */
static int place(const char *usual, const struct whose *own, const char *data, size_t size,
		 char path[PATH_MAX])
{
	char temporary[PATH_MAX];
	struct whose other;
	bool is_beside = false;
	int fd = open_new(usual, temporary);
	int error;

	strlcpy(path, usual, PATH_MAX);
	if (fd < 0)
		return errno;
	error = write_and_close(fd, data, size);
	if (error == 0)
		error = prof_whose_place(temporary, usual, own, path, &other, &is_beside);
	if (error != 0)
		unlink(temporary);
	else if (is_beside)
		say_beside(usual, &other, path);
	return error;
}

/*
 * 0, or an errno.  A pipe that nobody reads from is not waited for, and one whose reader has ended
 * does not end the program.
 */
static int write_in_place(const char *path, const char *data, size_t size)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction before;
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	int error;

	if (fd < 0)
		return errno;
	fcntl(fd, F_SETFL, 0);
	sigaction(SIGPIPE, &ignore, &before);
	error = write_and_close(fd, data, size);
	sigaction(SIGPIPE, &before, NULL);
	return error;
}

/* Not what a link leads to: somebody else may have put it where our file is to be. */
bool __gprof_is_special(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 &&
	       (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode) || S_ISFIFO(status.st_mode));
}

bool __gprof_write_beside(const char *usual, const struct whose *own, const char *data, size_t size)
{
	char path[PATH_MAX];
	int error = place(usual, own, data, size, path);

	if (error != 0)
		say_not_written(path, error);
	return error == 0;
}

bool __gprof_write_file(const char *path, const char *data, size_t size)
{
	int error = __gprof_is_special(path) ? write_in_place(path, data, size)
					     : replace(path, data, size);

	if (error != 0)
		say_not_written(path, error);
	return error == 0;
}
