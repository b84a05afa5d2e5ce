/* SPDX-License-Identifier: MIT */
/* Files, paths and memory as many commands need them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/common.h"

#define NEW_NAMES 100u /* That are tried. */

int open_input(const char *name)
{
	int descriptor;

	if (strcmp(name, "-") == 0)
		return STDIN_FILENO;
	descriptor = open(name, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		report_errno(name);
	return descriptor;
}

void close_input(int descriptor)
{
	if (descriptor != STDIN_FILENO)
		close(descriptor);
}

bool write_all(int descriptor, const void *bytes, size_t length)
{
	const char *at = bytes;

	while (length > 0) {
		ssize_t written = write(descriptor, at, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return false;
		at += written;
		length -= (size_t)written;
	}
	return true;
}

bool read_bytes(int descriptor, void *bytes, size_t length)
{
	char *at = bytes;

	while (length > 0) {
		ssize_t got = read(descriptor, at, length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0)
			errno = 0;
		if (got <= 0)
			return false;
		at += got;
		length -= (size_t)got;
	}
	return true;
}

bool copy_all(int from, const char *from_name, int to, const char *to_name)
{
	char block[COPY_BYTES];
	ssize_t got;

	while ((got = read(from, block, sizeof(block))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			report_errno(from_name);
			return false;
		}
		if (!write_all(to, block, (size_t)got)) {
			report_errno(to_name);
			return false;
		}
	}
	return true;
}

char *path_join(const char *directory, const char *name)
{
	size_t length = strlen(directory);
	size_t size = length + strlen(name) + 2;
	char *path = allocate(size);

	strcpy(path, directory);
	if (length > 0 && directory[length - 1] != '/')
		strcat(path, "/");
	strcat(path, name);
	return path;
}

char *path_last(const char *path)
{
	size_t end = strlen(path);
	size_t start;
	char *last;

	while (end > 1 && path[end - 1] == '/')
		end--;
	start = end;
	while (start > 0 && path[start - 1] != '/')
		start--;
	if (start == end && end > 0)
		start--;
	last = allocate(end - start + 1);
	memcpy(last, path + start, end - start);
	return last;
}

static bool write_and_close(int descriptor, const void *bytes, size_t length)
{
	bool done = descriptor >= 0 && write_all(descriptor, bytes, length);
	int error = errno;

	if (descriptor < 0)
		return false;
	if (close(descriptor) != 0 && done) {
		error = errno;
		done = false;
	}
	errno = error;
	return done;
}

/* Where all may write, somebody may have put a link of the name that would be the next. */
int open_beside(const char *path, char name[PATH_MAX])
{
	int descriptor = -1;

	errno = EEXIST;
	for (unsigned n = 0; descriptor < 0 && errno == EEXIST && n < NEW_NAMES; n++) {
		if (snprintf(name, PATH_MAX, "%s.%d.%u~", path, getpid(), n) >= PATH_MAX)
			errno = ENAMETOOLONG;
		else
			descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	}
	return descriptor;
}

bool replace_file(const char *path, const void *bytes, size_t length)
{
	char temporary[PATH_MAX];
	struct stat status;
	int descriptor, error;

	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return write_and_close(open(path, O_WRONLY | O_CLOEXEC), bytes, length);
	descriptor = open_beside(path, temporary);
	if (descriptor < 0)
		return false;
	if (write_and_close(descriptor, bytes, length) && rename(temporary, path) == 0)
		return true;
	error = errno;
	unlink(temporary);
	errno = error;
	return false;
}

bool is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

void *allocate(size_t size)
{
	return memset(reallocate(NULL, size), 0, size);
}

void *reallocate(void *memory, size_t size)
{
	memory = realloc(memory, size > 0 ? size : 1);
	if (memory == NULL)
		report_exit(1, "out of memory");
	return memory;
}

char *copy_text(const char *text)
{
	return strcpy(allocate(strlen(text) + 1), text);
}
