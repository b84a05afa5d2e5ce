/* SPDX-License-Identifier: MIT */
/* Groups. */
#include <grp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>

#include "lines.h"

enum {
	NAME,
	PASSWORD,
	GID,
	MEMBERS,
	FIELDS
};

#define MEMBERS_MAX 64

/* Cuts the members, who are separated by commas, into a list. */
static char **cut_members(char *text)
{
	static char *members[MEMBERS_MAX + 1];
	unsigned count = 0;
	char *member;

	while (count < MEMBERS_MAX && (member = strsep(&text, ",")) != NULL) {
		if (*member != '\0')
			members[count++] = member;
	}
	members[count] = NULL;
	return members;
}

static struct group *fill(char *const fields[])
{
	static struct group group;

	group = (struct group){
		.gr_name = fields[NAME],
		.gr_passwd = fields[PASSWORD],
		.gr_gid = (gid_t)strtoul(fields[GID], NULL, 10),
		.gr_mem = cut_members(fields[MEMBERS]),
	};
	return &group;
}

/* The next group of the file, or NULL. */
static struct group *next(FILE *file)
{
	static char line[LINE_MAX_SIZE];
	char *fields[FIELDS];

	return __next_fields(file, line, fields, FIELDS) ? fill(fields) : NULL;
}

static struct group *find(const char *name, gid_t gid)
{
	FILE *file = fopen("/etc/group", "re");
	struct group *group;

	if (file == NULL)
		return NULL;
	while ((group = next(file)) != NULL) {
		if (name != NULL ? strcmp(group->gr_name, name) == 0 : group->gr_gid == gid)
			break;
	}
	fclose(file);
	return group;
}

struct group *getgrnam(const char *name)
{
	return find(name, 0);
}

struct group *getgrgid(gid_t gid)
{
	return find(NULL, gid);
}

static int has_member(const struct group *group, const char *user)
{
	for (char **member = group->gr_mem; *member != NULL; member++) {
		if (strcmp(*member, user) == 0)
			return 1;
	}
	return 0;
}

int initgroups(const char *user, gid_t own)
{
	FILE *file = fopen("/etc/group", "re");
	gid_t groups[UX_GROUPS_MAX] = {own};
	size_t count = 1;
	struct group *group;

	while (file != NULL && count < UX_GROUPS_MAX && (group = next(file)) != NULL) {
		if (group->gr_gid != own && has_member(group, user))
			groups[count++] = group->gr_gid;
	}
	if (file != NULL)
		fclose(file);
	return setgroups(count, groups);
}
