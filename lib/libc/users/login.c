/* SPDX-License-Identifier: MIT */
/* Who the user is. */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include "lines.h"

/* The name of the process's user: sessions are not known by a name of their own. */
char *getlogin(void)
{
	static char name[LINE_MAX_SIZE];
	struct passwd *user = getpwuid(getuid());

	if (user == NULL) {
		errno = ENXIO;
		return NULL;
	}
	snprintf(name, sizeof name, "%s", user->pw_name);
	return name;
}
