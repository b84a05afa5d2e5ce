/* SPDX-License-Identifier: MIT */
/* Users. */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

enum {
	NAME,
	PASSWORD,
	UID,
	GID,
	GECOS,
	DIRECTORY,
	SHELL,
	FIELDS
};

static struct passwd *fill(char *const fields[])
{
	static struct passwd user;

	user = (struct passwd){
		.pw_name = fields[NAME],
		.pw_passwd = fields[PASSWORD],
		.pw_uid = (uid_t)strtoul(fields[UID], NULL, 10),
		.pw_gid = (gid_t)strtoul(fields[GID], NULL, 10),
		.pw_gecos = fields[GECOS],
		.pw_dir = fields[DIRECTORY],
		.pw_shell = fields[SHELL],
	};
	return &user;
}

/* The user of that name; of that number if `name` is null. */
static struct passwd *find(const char *name, uid_t uid)
{
	static char line[LINE_MAX_SIZE];
	FILE *file = fopen("/etc/passwd", "re");
	char *fields[FIELDS];
	struct passwd *found = NULL;

	if (file == NULL)
		return NULL;
	while (found == NULL && __next_fields(file, line, fields, FIELDS)) {
		if (name != NULL ? strcmp(fields[NAME], name) == 0
				 : strtoul(fields[UID], NULL, 10) == uid)
			found = fill(fields);
	}
	fclose(file);
	return found;
}

struct passwd *getpwnam(const char *name)
{
	return find(name, 0);
}

struct passwd *getpwuid(uid_t uid)
{
	return find(NULL, uid);
}
