/* SPDX-License-Identifier: MIT */
/* What the Unix server says of processes and their users: see users.h. */
#include "users.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>

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

/* The number that a name ends in, behind a dot; 0: none does. */
static long number_of(const char *name)
{
	const char *dot = strrchr(name, '.');
	char *end;
	long number;

	if (dot == NULL || !isdigit((unsigned char)dot[1]))
		return 0;
	errno = 0;
	number = strtol(dot + 1, &end, 10);
	return *end == '\0' && errno == 0 ? number : 0;
}

bool users_may_have(uid_t user, const char *name)
{
	long number = number_of(name);
	int found;

	if (user == USERS_ROOT || number == 0)
		return true;
	found = list_processes();
	for (int i = 0; i < found; i++) {
		if (processes[i].pid == number)
			return processes[i].uid == user;
	}
	return true;
}
