/* SPDX-License-Identifier: MIT */
/* rmdir: removes empty directories. */
#include <unistd.h>

#include "common/common.h"

int main(int count, char **arguments)
{
	int status = 0;

	program_start(arguments);
	if (getopt(count, arguments, "") != -1 || optind == count)
		usage("rmdir DIRECTORY...");
	for (int i = optind; i < count; i++)
		if (rmdir(arguments[i]) != 0) {
			report_errno(arguments[i]);
			status = 1;
		}
	return status;
}
