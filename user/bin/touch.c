/* SPDX-License-Identifier: MIT */
/* touch: sets the times of files to now, and makes files that are not there. */
#include <errno.h>
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/common.h"

#define CREATE_MODE 0666

static bool touch(const char *name, bool creates)
{
	int descriptor;

	if (utimes(name, NULL) == 0)
		return true;
	if (errno != ENOENT)
		return false;
	if (!creates)
		return true;
	descriptor = open(name, O_WRONLY | O_CREAT, CREATE_MODE);
	return descriptor >= 0 && close(descriptor) == 0;
}

int main(int count, char **arguments)
{
	bool creates = true;
	int status = 0;
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "c")) != -1) {
		if (option != 'c')
			usage("touch [-c] FILE...");
		creates = false;
	}
	if (optind == count)
		usage("touch [-c] FILE...");
	for (int i = optind; i < count; i++)
		if (!touch(arguments[i], creates)) {
			report_errno(arguments[i]);
			status = 1;
		}
	return status;
}
