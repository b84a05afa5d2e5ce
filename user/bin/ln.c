/* SPDX-License-Identifier: MIT */
/* ln: gives a file another name, or makes a symbolic link. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE "ln [-fs] FILE... NAME|DIRECTORY"

static bool forces, is_symbolic;

static bool make_link(const char *file, const char *name)
{
	if (forces && unlink(name) != 0 && errno != ENOENT) {
		report_errno(name);
		return false;
	}
	if ((is_symbolic ? symlink(file, name) : link(file, name)) == 0)
		return true;
	report_errno(name);
	return false;
}

int main(int count, char **arguments)
{
	const char *target;
	int status = 0;
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "fs")) != -1) {
		if (option == '?')
			usage(USAGE);
		forces |= option == 'f';
		is_symbolic |= option == 's';
	}
	if (optind == count)
		usage(USAGE);
	target = count - optind > 1 ? arguments[--count] : ".";
	if (!is_directory(target)) {
		if (count - optind != 1)
			report_exit(1, "%s: not a directory", target);
		return make_link(arguments[optind], target) ? 0 : 1;
	}
	for (int i = optind; i < count; i++) {
		char *last = path_last(arguments[i]);
		char *name = path_join(target, last);

		if (!make_link(arguments[i], name))
			status = 1;
		free(name);
		free(last);
	}
	return status;
}
