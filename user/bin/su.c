/* SPDX-License-Identifier: MIT */
/* su: runs a shell, or one command, as another user.  Only root may; there are no passwords. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsm.h>

#include "common/common.h"

#define USAGE      "su [-] [NAME] [-c COMMAND]"
#define SHELL_PATH "/bin/sh"

static void must(int result, const char *what)
{
	if (result != 0)
		report_exit(1, "%s: %s", what, strerror(errno));
}

/* Groups first: without root's rights they cannot be changed any more. */
static void become(const struct passwd *user)
{
	must(initgroups(user->pw_name, user->pw_gid), "groups");
	must(setgid(user->pw_gid), "group");
	must(setuid(user->pw_uid), "user");
	must(setenv("HOME", user->pw_dir, 1), "HOME");
	must(setenv("USER", user->pw_name, 1), "USER");
	must(setenv("LOGNAME", user->pw_name, 1), "LOGNAME");
	must(setenv("PATH", PATH_FOR(user->pw_uid), 1), "PATH");
}

/* Who it was shows by the audit id, which stays.  Without a trail nobody wants to know. */
static void record(const struct passwd *user)
{
	int number = au_open();

	au_write(number, au_to_me());
	au_write(number, au_to_text(user->pw_name));
	au_write(number, au_to_return32(0, 0));
	if (au_close(number, 1, AUE_su) != 0 && errno != ENXIO)
		report_errno("audit");
}

int main(int count, char **arguments)
{
	const char *name = "root";
	const char *command = NULL;
	const struct passwd *user;
	bool is_login = false;
	bool has_name = false;

	program_start(arguments);
	for (int i = 1; i < count; i++) {
		if (strcmp(arguments[i], "-") == 0)
			is_login = true;
		else if (strcmp(arguments[i], "-c") == 0 && i + 1 < count)
			command = arguments[++i];
		else if (arguments[i][0] != '-' && !has_name) {
			name = arguments[i];
			has_name = true;
		} else
			usage(USAGE);
	}
	user = getpwnam(name);
	if (user == NULL)
		report_exit(1, "%s: no such user", name);
	if (geteuid() != 0)
		report_exit(1, "%s: only root may become somebody else", name);
	record(user);
	become(user);
	if (is_login && chdir(user->pw_dir) != 0)
		report_errno(user->pw_dir);
	if (command != NULL)
		execl(SHELL_PATH, is_login ? "-sh" : "sh", "-c", command, (char *)NULL);
	else
		execl(SHELL_PATH, is_login ? "-sh" : "sh", (char *)NULL);
	report_errno(SHELL_PATH);
	return errno == ENOENT ? 127 : 126;
}
