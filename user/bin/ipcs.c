/* SPDX-License-Identifier: MIT */
/* ipcs: lists shared memory and semaphores, which are in no directory. */
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/ux.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE "ipcs [-ms]"

#define NUMBER_ROOM 12

static const struct {
	const char *name;
	char letter; /* The option that wants this kind. */
} kinds[] = {
	[UX_NAMED_MEMORY] = {"memory", 'm'},
	[UX_NAMED_SEMAPHORE] = {"semaphore", 's'},
};

static const char *user_of(uint32_t uid, char number[NUMBER_ROOM])
{
	const struct passwd *user = getpwuid((uid_t)uid);

	snprintf(number, NUMBER_ROOM, "%u", (unsigned)uid);
	return user != NULL ? user->pw_name : number;
}

static const char *group_of(uint32_t gid, char number[NUMBER_ROOM])
{
	const struct group *group = getgrgid((gid_t)gid);

	snprintf(number, NUMBER_ROOM, "%u", (unsigned)gid);
	return group != NULL ? group->gr_name : number;
}

/* Names come from anybody: what would do something to a terminal is shown as `?`. */
static void print_name(const char *name)
{
	if (*name == '\0')
		printf("(removed)");
	for (; *name != '\0'; name++)
		putchar((unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
	putchar('\n');
}

static void print_one(const struct ux_named *named)
{
	char user[NUMBER_ROOM], group[NUMBER_ROOM];

	printf("%-9s %-8s %-8s %04o %5u %10u ", kinds[named->kind].name, user_of(named->uid, user),
	       group_of(named->gid, group), (unsigned)named->mode, (unsigned)named->files,
	       (unsigned)(named->kind == UX_NAMED_MEMORY ? named->size : named->value));
	print_name(named->name);
}

int main(int count, char **arguments)
{
	struct ux_named named = {0};
	bool wanted[] = {false, false};
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "ms")) != -1) {
		if (option == '?')
			usage(USAGE);
		wanted[option == kinds[UX_NAMED_SEMAPHORE].letter] = true;
	}
	if (optind < count)
		usage(USAGE);
	printf("KIND      OWNER    GROUP    MODE FILES BYTES/VALUE NAME\n");
	while (ux_named_next(named.number, &named) == 0)
		if (wanted[named.kind] || wanted[0] == wanted[1])
			print_one(&named);
	return 0;
}
