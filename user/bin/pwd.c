/* SPDX-License-Identifier: MIT */
/* pwd: prints the name of the current directory. */
#include <stdio.h>
#include <unistd.h>

#include "common/common.h"

#define PATH_ROOM 4096

int main(int count, char **arguments)
{
	char path[PATH_ROOM];

	(void)count;
	program_start(arguments);
	if (getcwd(path, sizeof(path)) == NULL) {
		report_errno("current directory");
		return 1;
	}
	puts(path);
	return program_end(0);
}
