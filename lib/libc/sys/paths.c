/* SPDX-License-Identifier: MIT */
/* Calls on paths.  A path that does not fit into a message is too long for the server too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "call.h"

static int get_status(const char *path, int follow, struct stat *result)
{
	if (is_bad(result, sizeof *result))
		return finish(EFAULT);
	return finish(PATH_CALL(bsd_stat, path, follow, result));
}

int stat(const char *path, struct stat *result)
{
	return get_status(path, 1, result);
}

int lstat(const char *path, struct stat *result)
{
	return get_status(path, 0, result);
}

int unlink(const char *path)
{
	return finish(PATH_CALL(bsd_unlink, path));
}

int rmdir(const char *path)
{
	return finish(PATH_CALL(bsd_rmdir, path));
}

int mkdir(const char *path, mode_t mode)
{
	return finish(PATH_CALL(bsd_mkdir, path, mode));
}

int rename(const char *from, const char *to)
{
	int wrong = __path_error(to);

	return finish(wrong != 0 ? wrong : PATH_CALL(bsd_rename, from, to));
}

int link(const char *old_path, const char *new_path)
{
	int wrong = __path_error(new_path);

	return finish(wrong != 0 ? wrong : PATH_CALL(bsd_link, old_path, new_path));
}

int symlink(const char *text, const char *path)
{
	int wrong = __path_error(path);

	return finish(wrong != 0 ? wrong : PATH_CALL(bsd_symlink, text, path));
}

/* What there is no room for is left out, and no zero follows. */
ssize_t readlink(const char *path, char *text, size_t room)
{
	char whole[UX_INLINE_MAX];
	mach_msg_type_number_t length = sizeof whole;

	if (is_bad(text, room))
		return finish(EFAULT);
	if (finish(PATH_CALL(bsd_readlink, path, whole, &length)) != 0)
		return -1;
	if (length > room)
		length = room;
	memcpy(text, whole, length);
	return (ssize_t)length;
}

int mkfifo(const char *path, mode_t mode)
{
	return finish(PATH_CALL(bsd_mkfifo, path, mode));
}

int chdir(const char *path)
{
	return finish(PATH_CALL(bsd_chdir, path));
}

int chmod(const char *path, mode_t mode)
{
	return finish(PATH_CALL(bsd_chmod, path, mode));
}

int chown(const char *path, uid_t uid, gid_t gid)
{
	return finish(PATH_CALL(bsd_chown, path, uid, gid));
}

int truncate(const char *path, off_t size)
{
	return finish(PATH_CALL(bsd_truncate, path, size));
}

int access(const char *path, int mode)
{
	return finish(PATH_CALL(bsd_access, path, mode));
}

int utimes(const char *path, const struct timeval times[2])
{
	/* The server reads its own clock: this may be done by whoever may write. */
	static const struct timeval now[2] = {{.tv_sec = -1}, {.tv_sec = -1}};

	if (is_bad_option(times, sizeof now))
		return finish(EFAULT);
	if (times == NULL)
		times = now;
	return finish(PATH_CALL(bsd_utimes, path, times[0].tv_sec, times[1].tv_sec));
}

int utime(const char *path, const struct utimbuf *times)
{
	struct timeval both[2];

	if (is_bad_option(times, sizeof *times))
		return finish(EFAULT);
	if (times == NULL)
		return utimes(path, NULL);
	both[0] = (struct timeval){.tv_sec = times->actime};
	both[1] = (struct timeval){.tv_sec = times->modtime};
	return utimes(path, both);
}

mode_t umask(mode_t mask)
{
	unsigned old_mask = 0;

	CALL(bsd_umask, mask, &old_mask);
	return old_mask;
}

char *getcwd(char *buffer, size_t room)
{
	path_t path;
	size_t size;

	if (is_bad_option(buffer, room)) {
		errno = EFAULT;
		return NULL;
	}
	if (finish(CALL(bsd_getcwd, path)) != 0)
		return NULL;
	size = strlen(path) + 1;
	if (buffer == NULL)
		return strdup(path);
	if (size > room) {
		errno = ERANGE;
		return NULL;
	}
	return memcpy(buffer, path, size);
}
