/* SPDX-License-Identifier: MIT */
/* owners: lists what the kernel keeps for whom. */
#include <mach.h>
#include <mach/owner.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE "owners [USER]"

static const char *const kinds[OWNER_KINDS] = {
	[OWNER_PORTS] = "ports",     [OWNER_NAMES] = "names",   [OWNER_TASKS] = "tasks",
	[OWNER_THREADS] = "threads", [OWNER_QUEUED] = "queued", [OWNER_PAGES] = "pages",
	[OWNER_ENTRIES] = "entries", [OWNER_TABLES] = "tables", [OWNER_WIRED] = "wired",
	[OWNER_STREAMS] = "streams",
};

/* The system's programs and root's are one owner. */
static void name_owner(unsigned owner, char name[NAME_MAX])
{
	const struct passwd *entry = getpwuid(owner);

	if (owner == OWNER_OTHERS)
		strcpy(name, "-others-");
	else if (entry != NULL)
		snprintf(name, NAME_MAX, "%s", entry->pw_name);
	else
		snprintf(name, NAME_MAX, "%u", owner);
}

static void print_use(const char *name, const char *kind, const struct owner_use *use)
{
	printf("%-8.8s %-8s %9lu %9lu", name, kind, (unsigned long)use->used,
	       (unsigned long)use->most);
	if (use->limit == OWNER_NO_LIMIT)
		printf("         -\n");
	else
		printf(" %9lu\n", (unsigned long)use->limit);
}

static void print_owner(const char *name, const owner_uses_t *uses)
{
	for (int kind = 0; kind < OWNER_KINDS; kind++)
		print_use(name, kinds[kind], &uses->uses[kind]);
	printf("%-8.8s %-8s %9lu\n", name, "lost", (unsigned long)uses->lost);
}

/* All, in the order of their numbers, or the one of that name; whether there was any. */
static bool print_owners(const char *wanted)
{
	char name[NAME_MAX];
	owner_uses_t uses;
	unsigned owner = 0;
	bool found = false;

	while (host_owner(mach_host_self(), &owner, &uses) == KERN_SUCCESS) {
		name_owner(owner, name);
		if (wanted == NULL || strcmp(wanted, name) == 0) {
			if (!found)
				printf("USER     KIND          USED      MOST     LIMIT\n");
			print_owner(name, &uses);
			found = true;
		}
		if (owner++ == OWNER_OTHERS)
			break;
	}
	return found;
}

int main(int count, char **arguments)
{
	program_start(arguments);
	if (getopt(count, arguments, "") != -1 || count > 2)
		usage(USAGE);
	if (!print_owners(arguments[1])) {
		report("%s: nothing is kept for this user; `owners` lists those there are",
		       arguments[1]);
		return 1;
	}
	return program_end(0);
}
