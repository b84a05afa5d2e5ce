/* SPDX-License-Identifier: MIT */
/* What the Unix server says of processes and their users: see users.h. */
#include "users.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>

/* ---------------- Processes ---------------- */

/* Asked anew each time: processes come and go, and numbers are used again. */
static struct ux_process_info processes[UX_PROCESSES_MAX];

static int list_processes(void)
{
	int found = ux_processes(processes, UX_PROCESSES_MAX);

	return found < UX_PROCESSES_MAX ? found : UX_PROCESSES_MAX;
}

uid_t users_of_task(natural_t label)
{
	int found = list_processes();

	for (int i = 0; i < found; i++) {
		if (processes[i].task_id == label)
			return processes[i].uid;
	}
	return USERS_UNKNOWN;
}

/* ---------------- Names and their users ---------------- */

#define PREFIX     "gprof."
#define PID_SERVER 0      /* The Unix server's own number. */
#define NO_PROCESS (-1)   /* No number at all. */
#define GROUP      "kmem" /* Who may have the Unix server's task. */
#define NAME_ROOM  64

/* The number that a name ends in, behind a dot. */
static long number_of(const char *name)
{
	const char *dot = strrchr(name, '.');
	char *end;
	long number;

	if (dot == NULL || !isdigit((unsigned char)dot[1]))
		return NO_PROCESS;
	errno = 0;
	number = strtol(dot + 1, &end, 10);
	return *end == '\0' && errno == 0 ? number : NO_PROCESS;
}

static bool may_have_server(uid_t user)
{
	const struct passwd *entry = getpwuid(user);
	const struct group *group = getgrnam(GROUP);
	char name[NAME_ROOM];

	if (entry == NULL || group == NULL)
		return false;
	if (entry->pw_gid == group->gr_gid)
		return true;
	snprintf(name, sizeof name, "%s", entry->pw_name);
	for (char **member = group->gr_mem; *member != NULL; member++) {
		if (strcmp(*member, name) == 0)
			return true;
	}
	return false;
}

static bool is_of_process(uid_t user, long pid)
{
	int found = list_processes();

	for (int i = 0; i < found; i++) {
		if (processes[i].pid == pid)
			return processes[i].uid == user;
	}
	return true;
}

bool users_may_have(uid_t user, const char *name)
{
	long number = number_of(name);
	bool is_profile = strncmp(name, PREFIX, strlen(PREFIX)) == 0;

	if (user == USERS_ROOT)
		return true;
	if (number == NO_PROCESS)
		return !is_profile;
	if (number == PID_SERVER)
		return !is_profile || may_have_server(user);
	return is_of_process(user, number);
}
