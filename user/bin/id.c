/* SPDX-License-Identifier: MIT */
/* id: prints who the user is. */
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE      "id [-u | -g | -G] [-n]"
#define GROUPS_MAX 64

static void print_user(uid_t uid, bool as_name)
{
	const struct passwd *entry = as_name ? getpwuid(uid) : NULL;

	if (entry != NULL)
		printf("%s", entry->pw_name);
	else
		printf("%lu", (unsigned long)uid);
}

static void print_group(gid_t gid, bool as_name)
{
	const struct group *entry = as_name ? getgrgid(gid) : NULL;

	if (entry != NULL)
		printf("%s", entry->gr_name);
	else
		printf("%lu", (unsigned long)gid);
}

static void print_with_name(const char *what, unsigned long number, const char *name)
{
	printf("%s=%lu", what, number);
	if (name != NULL)
		printf("(%s)", name);
}

/* The effective group comes first and once. */
static void print_groups(bool as_names)
{
	gid_t groups[GROUPS_MAX];
	int count = getgroups(GROUPS_MAX, groups);

	print_group(getegid(), as_names);
	for (int i = 0; i < count; i++)
		if (groups[i] != getegid()) {
			putchar(' ');
			print_group(groups[i], as_names);
		}
}

static void print_all(void)
{
	const struct passwd *user = getpwuid(geteuid());
	const char *user_name = user != NULL ? user->pw_name : NULL;
	const struct group *group;
	gid_t groups[GROUPS_MAX];
	int count = getgroups(GROUPS_MAX, groups);

	print_with_name("uid", geteuid(), user_name);
	group = getgrgid(getegid());
	print_with_name(" gid", getegid(), group != NULL ? group->gr_name : NULL);
	for (int i = 0; i < count; i++) {
		group = getgrgid(groups[i]);
		printf("%s%lu", i == 0 ? " groups=" : ",", (unsigned long)groups[i]);
		if (group != NULL)
			printf("(%s)", group->gr_name);
	}
}

int main(int count, char **arguments)
{
	bool as_name = false;
	int what = 'a';
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "ugGn")) != -1) {
		if (option == '?')
			usage(USAGE);
		if (option == 'n')
			as_name = true;
		else
			what = option;
	}
	if (optind < count || (as_name && what == 'a'))
		usage(USAGE);
	if (what == 'u')
		print_user(geteuid(), as_name);
	else if (what == 'g')
		print_group(getegid(), as_name);
	else if (what == 'G')
		print_groups(as_name);
	else
		print_all();
	putchar('\n');
	return program_end(0);
}
