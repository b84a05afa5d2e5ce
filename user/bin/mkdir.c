/* SPDX-License-Identifier: MIT */
/* mkdir: makes directories. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE    "mkdir [-p] [-m MODE] DIRECTORY..."
#define ALL_MODE 0777

/* With -p one that is there already is as good as one that was made. */
static bool make(const char *path, mode_t mode, bool may_exist)
{
	if (mkdir(path, mode) == 0 || (may_exist && errno == EEXIST && is_directory(path)))
		return true;
	report_errno(path);
	return false;
}

/* Directories on the way get write and search permission for their owner, whatever the umask. */
static bool make_parents(const char *path)
{
	mode_t mask = umask(0);
	char *parent = copy_text(path);
	bool done = true;

	umask(mask & ~(mode_t)0300);
	for (char *slash = strchr(parent + 1, '/'); slash != NULL && done;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		done = make(parent, ALL_MODE, true);
		*slash = '/';
	}
	umask(mask);
	return done;
}

int main(int count, char **arguments)
{
	const char *mode_text = NULL;
	mode_t mode = ALL_MODE;
	bool parents = false;
	int status = 0;
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "pm:")) != -1) {
		if (option == '?')
			usage(USAGE);
		if (option == 'p')
			parents = true;
		else
			mode_text = optarg;
	}
	if (optind == count)
		usage(USAGE);
	if (mode_text != NULL && !mode_parse(mode_text, ALL_MODE, true, &mode))
		report_exit(2, "%s: bad mode", mode_text);
	for (int i = optind; i < count; i++) {
		const char *path = arguments[i];

		if (*path == '\0' || (parents && !make_parents(path)) ||
		    !make(path, mode, parents)) {
			status = 1;
		} else if (mode_text != NULL && chmod(path, mode) != 0) {
			report_errno(path);
			status = 1;
		}
	}
	return status;
}
