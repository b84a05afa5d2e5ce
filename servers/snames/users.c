/* SPDX-License-Identifier: MIT */
/* What the Unix server says of processes and their users: see users.h. */
#include "users.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <mach/thread_info.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>

/* ---------------- Clients ---------------- */

/* On whose behalf the last message came: the kernel has made its label this thread's. */
static natural_t users_label(void)
{
	struct thread_id_info info = {0};
	mach_msg_type_number_t count = THREAD_ID_INFO_COUNT;
	mach_port_t self = mach_thread_self();

	thread_info(self, THREAD_ID_INFO, (thread_info_t)&info, &count);
	syscall_mach_port_deallocate(mach_task_self_cached(), self);
	return info.label;
}

/*
 * A label says for whom, not who: who has received a message from root goes on under root's.  So it
 * is good for sharing out what is left to the unknown, and for nothing else.  Processes' numbers
 * and labels are in the same table: those of tasks count up from 1, and these count down.
 */
struct client users_who(mach_port_t signature)
{
	struct client client = {.user = USERS_UNKNOWN};
	pid_t pid;

	if (!MACH_PORT_VALID(signature) || ux_port_owner(signature, &pid, &client.user) != 0)
		return (struct client){.number = users_label(), .user = USERS_UNKNOWN};
	client.number = UINT32_MAX - (natural_t)pid;
	return client;
}

bool users_are_same(const struct client *one, const struct client *other)
{
	return one->user != USERS_UNKNOWN && one->user == other->user &&
	       one->number == other->number;
}

/* ---------------- Names and their users ---------------- */

#define PREFIX     "gprof."
#define PID_SERVER 0      /* The Unix server's own number. */
#define NO_PROCESS (-1)   /* No number at all. */
#define GROUP      "kmem" /* Who may have the Unix server's task. */
#define NAME_ROOM  64

/* The number that a name ends in, behind a dot. */
static long users_number_of(const char *name)
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

static bool users_may_have_server(uid_t user)
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

/* Asked anew each time: processes come and go, and numbers are used again. */
static bool users_is_of_process(uid_t user, long pid)
{
	static struct ux_process_info processes[UX_PROCESSES_MAX];
	int found = ux_processes(processes, UX_PROCESSES_MAX);

	if (found > UX_PROCESSES_MAX)
		found = UX_PROCESSES_MAX;
	for (int i = 0; i < found; i++) {
		if (processes[i].pid == pid)
			return processes[i].uid == user;
	}
	return true;
}

bool users_may_have(uid_t user, const char *name)
{
	long number = users_number_of(name);
	bool is_profile = strncmp(name, PREFIX, strlen(PREFIX)) == 0;

	if (user == USERS_ROOT)
		return true;
	if (number == NO_PROCESS)
		return !is_profile;
	if (number == PID_SERVER)
		return !is_profile || users_may_have_server(user);
	return users_is_of_process(user, number);
}
