/* SPDX-License-Identifier: MIT */
/* dirname: a path without its last part. */
#include <stdio.h>
#include <string.h>

#include "common/common.h"

static size_t without_slashes(const char *path, size_t length)
{
	while (length > 1 && path[length - 1] == '/')
		length--;
	return length;
}

int main(int count, char **arguments)
{
	const char *path;
	size_t length;

	program_start(arguments);
	if (count != 2)
		usage("dirname PATH");
	path = arguments[1];
	length = without_slashes(path, strlen(path));
	while (length > 0 && path[length - 1] != '/')
		length--;
	length = without_slashes(path, length);
	if (length == 0)
		puts(".");
	else
		printf("%.*s\n", (int)length, path);
	return program_end(0);
}
