/* SPDX-License-Identifier: MIT */
/* cp: copies files. */
#include <stdlib.h>
#include <unistd.h>

#include "common/common.h"
#include "common/copy.h"

#define USAGE "cp [-rp] FILE... FILE|DIRECTORY"

int main(int count, char **arguments)
{
	unsigned flags = 0;
	const char *target;
	int status = 0;
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "rRpf")) != -1) {
		if (option == '?')
			usage(USAGE);
		if (option == 'p')
			flags |= COPY_PRESERVE;
		else if (option != 'f')
			flags |= COPY_RECURSIVE;
	}
	if (count - optind < 2)
		usage(USAGE);
	target = arguments[--count];
	if (!is_directory(target)) {
		if (count - optind != 1)
			report_exit(1, "%s: not a directory", target);
		return copy_path(arguments[optind], target, flags) ? 0 : 1;
	}
	for (int i = optind; i < count; i++) {
		char *last = path_last(arguments[i]);
		char *name = path_join(target, last);

		if (!copy_path(arguments[i], name, flags))
			status = 1;
		free(name);
		free(last);
	}
	return status;
}
