/* SPDX-License-Identifier: MIT */
/* rm: removes files, and with -r directories with all that is in them. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE "rm [-rf] FILE..."

static bool recursive, forces;

static bool remove_path(const char *path);

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The directory is read again from its beginning after each removal, which moves its entries. */
static char *first_entry(const char *path, unsigned long skipped)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	char *name = NULL;

	if (directory == NULL) {
		report_errno(path);
		return NULL;
	}
	while (name == NULL && (entry = readdir(directory)) != NULL)
		if (!is_dots(entry->d_name) && skipped-- == 0)
			name = path_join(path, entry->d_name);
	closedir(directory);
	return name;
}

static bool remove_directory(const char *path)
{
	unsigned long failures = 0;
	char *entry;

	if (!recursive) {
		report("%s: is a directory", path);
		return false;
	}
	while ((entry = first_entry(path, failures)) != NULL) {
		failures += !remove_path(entry);
		free(entry);
	}
	if (failures > 0)
		return false;
	if (rmdir(path) == 0)
		return true;
	report_errno(path);
	return false;
}

static bool remove_path(const char *path)
{
	struct stat status;

	if (lstat(path, &status) != 0) {
		if (forces && (errno == ENOENT || errno == ENOTDIR))
			return true;
		report_errno(path);
		return false;
	}
	if (S_ISDIR(status.st_mode))
		return remove_directory(path);
	if (unlink(path) == 0)
		return true;
	report_errno(path);
	return false;
}

/* Nobody means to remove . or .. or everything. */
static bool may_be_removed(const char *path)
{
	char *last = path_last(path);
	bool is_allowed = !is_dots(last) && strcmp(last, "/") != 0;

	free(last);
	if (!is_allowed)
		report("%s: will not be removed", path);
	return is_allowed;
}

int main(int count, char **arguments)
{
	int status = 0;
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "rRf")) != -1) {
		if (option == '?')
			usage(USAGE);
		if (option == 'f')
			forces = true;
		else
			recursive = true;
	}
	if (optind == count && !forces)
		usage(USAGE);
	for (int i = optind; i < count; i++)
		if (!may_be_removed(arguments[i]) || !remove_path(arguments[i]))
			status = 1;
	return status;
}
