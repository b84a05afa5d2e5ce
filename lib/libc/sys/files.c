/* SPDX-License-Identifier: MIT */
/* Calls on descriptors. */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call.h"

int open(const char *path, int flags, ...)
{
	va_list rest;
	mode_t mode = 0;
	int fd = -1;

	if ((flags & O_CREAT) != 0) {
		va_start(rest, flags);
		mode = va_arg(rest, mode_t);
		va_end(rest);
	}
	return finish(PATH_CALL(bsd_open, path, flags, mode, &fd)) == 0 ? fd : -1;
}

int creat(const char *path, mode_t mode)
{
	return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

/* Not made again after a signal: the descriptor is free by then, whatever happened. */
int close(int fd)
{
	return finish(bsd_close(ux_port(), fd));
}

off_t lseek(int fd, off_t offset, int whence)
{
	int64_t position = -1;

	return finish(CALL(bsd_lseek, fd, offset, whence, &position)) == 0 ? position : -1;
}

int dup(int fd)
{
	return fcntl(fd, F_DUPFD, 0);
}

int dup2(int fd, int copy)
{
	return finish(CALL(bsd_dup2, fd, copy, 0)) == 0 ? copy : -1;
}

int dup3(int fd, int copy, int flags)
{
	if (fd == copy || (flags & ~O_CLOEXEC) != 0)
		return finish(EINVAL);
	return finish(CALL(bsd_dup2, fd, copy, flags != 0)) == 0 ? copy : -1;
}

int fcntl(int fd, int command, ...)
{
	va_list rest;
	int argument, result = -1;

	va_start(rest, command);
	argument = va_arg(rest, int);
	va_end(rest);
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		finish(CALL(bsd_dup, fd, argument, command == F_DUPFD_CLOEXEC, &result));
	else
		finish(CALL(bsd_fcntl, fd, command, argument, &result));
	return result;
}

int pipe(int ends[2])
{
	return pipe2(ends, 0);
}

int pipe2(int ends[2], int flags)
{
	int read_end, write_end;

	if (is_bad(ends, 2 * sizeof *ends))
		return finish(EFAULT);
	if (finish(CALL(bsd_pipe, flags, &read_end, &write_end)) != 0)
		return -1;
	ends[0] = read_end;
	ends[1] = write_end;
	return 0;
}

int fsync(int fd)
{
	return finish(CALL(bsd_fsync, fd));
}

void sync(void)
{
	CALL(bsd_sync);
}

int fstat(int fd, struct stat *result)
{
	if (is_bad(result, sizeof *result))
		return finish(EFAULT);
	return finish(CALL(bsd_fstat, fd, result));
}

int fchmod(int fd, mode_t mode)
{
	return finish(CALL(bsd_fchmod, fd, mode));
}

int ftruncate(int fd, off_t size)
{
	return finish(CALL(bsd_ftruncate, fd, size));
}

int isatty(int fd)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return 0;
	/* The console's numbers: docs/files.md. */
	if (S_ISCHR(status.st_mode) && major(status.st_rdev) == 5)
		return 1;
	errno = ENOTTY;
	return 0;
}
