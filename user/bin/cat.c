/* SPDX-License-Identifier: MIT */
/* cat: copies files, one after the other, to standard output. */
#include <unistd.h>

#include "common/common.h"

static bool cat(const char *name)
{
	int descriptor = open_input(name);
	bool done;

	if (descriptor < 0)
		return false;
	done = copy_all(descriptor, name, STDOUT_FILENO, "standard output");
	close_input(descriptor);
	return done;
}

int main(int count, char **arguments)
{
	int status = 0;
	int option;

	program_start(arguments);
	/* What is read is written at once: -u changes nothing. */
	while ((option = getopt(count, arguments, "u")) != -1)
		if (option != 'u')
			usage("cat [-u] [FILE...]");
	if (optind == count)
		return cat("-") ? 0 : 1;
	for (int i = optind; i < count; i++)
		if (!cat(arguments[i]))
			status = 1;
	return status;
}
