/* SPDX-License-Identifier: MIT */
/* chown: changes the owners and groups of files. */
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE "chown OWNER[:GROUP] FILE... or chown :GROUP FILE..."

/* A name or a number. */
static uid_t user_of(const char *text)
{
	const struct passwd *entry = getpwnam(text);
	long long number;

	if (entry != NULL)
		return entry->pw_uid;
	if (!parse_number(text, &number) || number < 0 || number != (uid_t)number)
		report_exit(1, "%s: no such user", text);
	return (uid_t)number;
}

static gid_t group_of(const char *text)
{
	const struct group *entry = getgrnam(text);
	long long number;

	if (entry != NULL)
		return entry->gr_gid;
	if (!parse_number(text, &number) || number < 0 || number != (gid_t)number)
		report_exit(1, "%s: no such group", text);
	return (gid_t)number;
}

int main(int count, char **arguments)
{
	uid_t owner = (uid_t)-1;
	gid_t group = (gid_t)-1;
	int status = 0;
	char *colon;

	program_start(arguments);
	if (getopt(count, arguments, "") != -1 || count - optind < 2)
		usage(USAGE);
	colon = strchr(arguments[optind], ':');
	if (colon != NULL) {
		*colon = '\0';
		group = group_of(colon + 1);
	}
	if (*arguments[optind] != '\0')
		owner = user_of(arguments[optind]);
	for (int i = optind + 1; i < count; i++)
		if (chown(arguments[i], owner, group) != 0) {
			report_errno(arguments[i]);
			status = 1;
		}
	return status;
}
