/* SPDX-License-Identifier: MIT */
/* mv: gives files another name or place. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/common.h"
#include "common/copy.h"

#define USAGE "mv [-f] FILE... FILE|DIRECTORY"

/* Between file systems a file is copied; directories are not, for that is clearer with cp -r. */
static bool move_between(const char *from, const char *to)
{
	if (is_directory(from)) {
		report("%s: is a directory, and %s is on another file system", from, to);
		return false;
	}
	if (!copy_path(from, to, COPY_PRESERVE))
		return false;
	if (unlink(from) == 0)
		return true;
	report_errno(from);
	return false;
}

static bool move_path(const char *from, const char *to)
{
	if (rename(from, to) == 0)
		return true;
	if (errno == EXDEV)
		return move_between(from, to);
	report("%s to %s: %s", from, to, strerror(errno));
	return false;
}

int main(int count, char **arguments)
{
	const char *target;
	int status = 0;
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "f")) != -1)
		if (option == '?')
			usage(USAGE);
	if (count - optind < 2)
		usage(USAGE);
	target = arguments[--count];
	if (!is_directory(target)) {
		if (count - optind != 1)
			report_exit(1, "%s: not a directory", target);
		return move_path(arguments[optind], target) ? 0 : 1;
	}
	for (int i = optind; i < count; i++) {
		char *last = path_last(arguments[i]);
		char *name = path_join(target, last);

		if (!move_path(arguments[i], name))
			status = 1;
		free(name);
		free(last);
	}
	return status;
}
