/* SPDX-License-Identifier: MIT */
/* chmod: changes the modes of files. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE "chmod MODE FILE..."

static bool change(const char *name, const char *text)
{
	struct stat status;
	mode_t mode;

	if (stat(name, &status) != 0) {
		report_errno(name);
		return false;
	}
	if (!mode_parse(text, status.st_mode, S_ISDIR(status.st_mode), &mode))
		report_exit(2, "%s: bad mode", text);
	if (chmod(name, mode) == 0)
		return true;
	report_errno(name);
	return false;
}

/* A mode may begin with a minus sign: there are no options. */
int main(int count, char **arguments)
{
	int status = 0;

	program_start(arguments);
	if (count < 3)
		usage(USAGE);
	for (int i = 2; i < count; i++)
		if (!change(arguments[i], arguments[1]))
			status = 1;
	return status;
}
