/* SPDX-License-Identifier: MIT */
/*
 * realpath(): a path from the root on, without `.`, `..` and doubled slashes.
 *
 * What a symbolic link stands for, only the server knows: there is no call that reads one.  So the
 * name of a link stays in the path.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call.h"

/* Whether `path`, so far, is a folder, in which the next name may be; errno says why not. */
static int is_folder(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return 0;
	if (S_ISDIR(status.st_mode))
		return 1;
	errno = ENOTDIR;
	return 0;
}

static void remove_last(char *path)
{
	char *slash = strrchr(path, '/');

	*(slash == path ? slash + 1 : slash) = '\0';
}

/* Adds one name to `path`, or takes one away; 0 if that cannot be, and errno says why. */
static int walk(char *path, const char *name, size_t length)
{
	size_t size = strlen(path);

	if (!is_folder(path))
		return 0;
	if (length == 1 && name[0] == '.')
		return 1;
	if (length == 2 && name[0] == '.' && name[1] == '.') {
		remove_last(path);
		return 1;
	}
	if (size + 1 + length >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return 0;
	}
	if (path[size - 1] != '/')
		path[size++] = '/';
	memcpy(path + size, name, length);
	path[size + length] = '\0';
	return 1;
}

static int walk_all(char *path, const char *names)
{
	while (*(names += strspn(names, "/")) != '\0') {
		size_t length = strcspn(names, "/");

		if (!walk(path, names, length))
			return 0;
		names += length;
	}
	return access(path, F_OK) == 0;
}

char *realpath(const char *path, char *result)
{
	char own[PATH_MAX] = "/";
	int wrong = is_bad(path, 1) ? EINVAL : *path == '\0' ? ENOENT : __path_error(path);

	if (wrong != 0) {
		errno = wrong;
		return NULL;
	}
	if (*path != '/' && getcwd(own, sizeof own) == NULL)
		return NULL;
	if (!walk_all(own, path))
		return NULL;
	return result == NULL ? strdup(own) : strcpy(result, own);
}
