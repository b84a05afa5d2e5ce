/* SPDX-License-Identifier: MIT */
/* which: where in PATH a command is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/common.h"

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static bool show_if_program(const char *path)
{
	if (!is_program(path))
		return false;
	puts(path);
	return true;
}

static bool find(const char *name, const char *directories)
{
	while (strchr(name, '/') == NULL && directories != NULL) {
		size_t length = strcspn(directories, ":");
		char *directory = allocate(length + 2);
		char *path;
		bool found;

		memcpy(directory, length > 0 ? directories : ".", length > 0 ? length : 1);
		path = path_join(directory, name);
		found = show_if_program(path);
		free(path);
		free(directory);
		if (found)
			return true;
		directories = directories[length] == ':' ? directories + length + 1 : NULL;
	}
	return strchr(name, '/') != NULL && show_if_program(name);
}

int main(int count, char **arguments)
{
	const char *directories = getenv("PATH");
	int status = 0;

	program_start(arguments);
	if (count < 2)
		usage("which COMMAND...");
	for (int i = 1; i < count; i++)
		if (!find(arguments[i], directories))
			status = 1;
	return program_end(status);
}
