/* SPDX-License-Identifier: MIT */
/* Copying of files and whole directories, for cp and for mv from one file system to another. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/common.h"
#include "common/copy.h"

#define MODE_BITS 07777

/* Times, owner and mode, in this order: a change of owner takes set-user-id bits away. */
static bool preserve(const char *to, const struct stat *status)
{
	struct timeval times[2] = {{status->st_atime, 0}, {status->st_mtime, 0}};
	bool is_owner = chown(to, status->st_uid, status->st_gid) == 0;
	mode_t mode = status->st_mode & (is_owner ? MODE_BITS : 0777);

	if (utimes(to, times) == 0 && chmod(to, mode) == 0)
		return true;
	report_errno(to);
	return false;
}

static bool copy_file(const char *from, const char *to, const struct stat *status)
{
	int input = open_input(from);
	int output;
	bool done;

	if (input < 0)
		return false;
	output = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, status->st_mode & 0777);
	if (output < 0) {
		report_errno(to);
		close(input);
		return false;
	}
	done = copy_all(input, from, output, to);
	close(input);
	if (close(output) == 0)
		return done;
	report_errno(to);
	return false;
}

static bool copy_entries(const char *from, const char *to, unsigned flags)
{
	DIR *directory = opendir(from);
	const struct dirent *entry;
	bool done = true;

	if (directory == NULL) {
		report_errno(from);
		return false;
	}
	while ((entry = readdir(directory)) != NULL) {
		char *source, *target;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		source = path_join(from, entry->d_name);
		target = path_join(to, entry->d_name);
		done &= copy_path(source, target, flags);
		free(source);
		free(target);
	}
	closedir(directory);
	return done;
}

/* Whether a directory lies in another, or is it: then copying would never end. */
static bool lies_within(const char *path, const struct stat *directory)
{
	char *parent = copy_text(path);
	struct stat status;
	bool found = false;

	for (;;) {
		char *slash = strrchr(parent, '/');

		if (stat(parent, &status) == 0 && status.st_dev == directory->st_dev &&
		    status.st_ino == directory->st_ino)
			found = true;
		if (slash == NULL || slash == parent || found)
			break;
		*slash = '\0';
	}
	free(parent);
	return found;
}

/* The owner may write into the copy while it is filled, whatever the original allows. */
static bool copy_directory(const char *from, const char *to, const struct stat *status,
			   unsigned flags)
{
	bool is_new = !is_directory(to);

	if (!(flags & COPY_RECURSIVE)) {
		report("%s: is a directory", from);
		return false;
	}
	if (lies_within(to, status)) {
		report("%s: cannot be copied into itself", from);
		return false;
	}
	if (is_new && mkdir(to, (status->st_mode & 0777) | 0700) != 0) {
		report_errno(to);
		return false;
	}
	if (!copy_entries(from, to, flags))
		return false;
	if (is_new && !(flags & COPY_PRESERVE) && !(status->st_mode & 0200) &&
	    chmod(to, status->st_mode & 0777) != 0) {
		report_errno(to);
		return false;
	}
	return true;
}

static bool is_same_file(const char *to, const struct stat *status)
{
	struct stat other;

	return stat(to, &other) == 0 && other.st_dev == status->st_dev &&
	       other.st_ino == status->st_ino;
}

bool copy_path(const char *from, const char *to, unsigned flags)
{
	struct stat status;
	bool done;

	if (stat(from, &status) != 0) {
		report_errno(from);
		return false;
	}
	if (S_ISDIR(status.st_mode)) {
		done = copy_directory(from, to, &status, flags);
	} else if (is_same_file(to, &status)) {
		report("%s: the same file as %s", to, from);
		return false;
	} else {
		done = copy_file(from, to, &status);
	}
	return done && (!(flags & COPY_PRESERVE) || preserve(to, &status));
}
