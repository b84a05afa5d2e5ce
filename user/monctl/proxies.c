/* SPDX-License-Identifier: MIT */
/* Proxies that serve only who has started them, and root: see proxies.h. */
#include "proxies.h"

#include <mach.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/ux.h>

#include <servers/gprof.h>
#include <servers/netname.h>

#include "common/common.h"
#include "control.h"
#include "target.h"

#define USER_ROOM 32 /* Of a user's name in a message. */

/* ---------------- Tokens ---------------- */

static mach_port_t show(mach_port_t known, int pid, const char *token)
{
	mach_port_t port = MACH_PORT_NULL;
	kern_return_t result;

	control_expect_answer(pid);
	result = gprof_mon_open(known, token, &port);
	control_has_answer();
	return result == KERN_SUCCESS ? port : MACH_PORT_NULL;
}

/* The name `gprof.PID` is the process's user's, or root's: either may know its token.  The Unix
 * server has none, and its number would mean ourselves. */
mach_port_t proxies_open_program(int pid, mach_port_t known)
{
	char token[UX_TOKEN_ROOM];

	if (pid == PID_SERVER || ux_gprof_token(pid, token) != 0)
		return MACH_PORT_NULL;
	return show(known, pid, token);
}

/* ---------------- Which process it is ---------------- */

static bool is_at(mach_port_t name_server, int proxy, mach_port_t known)
{
	mach_port_t port = MACH_PORT_NULL;
	netname_name_t name;

	snprintf(name, sizeof(name), PROXY_NAME_PREFIX "%d", proxy);
	if (netname_look_up(name_server, "*", name, &port) != NETNAME_SUCCESS)
		return false;
	mach_port_deallocate(mach_task_self_cached(), port);
	return port == known;
}

/*
 * The token first, and then whether the port is that process's: if the process was another user's
 * in between, the token is of a program that is gone.  False if the port is another's.
 */
static bool try_proxy(mach_port_t name_server, int pid, int proxy, mach_port_t known,
		      mach_port_t *opened)
{
	char token[UX_TOKEN_ROOM];
	bool has_token = ux_gprof_token(proxy, token) == 0;

	if (!is_at(name_server, proxy, known))
		return false;
	if (has_token)
		*opened = show(known, pid, token);
	return true;
}

/* Several may say that the port is theirs, but only the true one opens it. */
mach_port_t proxies_open(mach_port_t name_server, int pid, mach_port_t known,
			 struct ux_process_info *proxy)
{
	struct ux_process_info processes[UX_PROCESSES_MAX];
	int found = ux_processes(processes, UX_PROCESSES_MAX);
	mach_port_t opened = MACH_PORT_NULL;

	*proxy = (struct ux_process_info){.pid = 0};
	for (int i = 0; i < found && i < UX_PROCESSES_MAX && opened == MACH_PORT_NULL; i++)
		if (processes[i].state != UX_ZOMBIE &&
		    try_proxy(name_server, pid, processes[i].pid, known, &opened))
			*proxy = processes[i];
	return opened;
}

/* ---------------- What is said ---------------- */

static void name_user(char name[USER_ROOM], uid_t uid)
{
	const struct passwd *entry = getpwuid(uid);

	if (entry != NULL)
		snprintf(name, USER_ROOM, "%s", entry->pw_name);
	else
		snprintf(name, USER_ROOM, "user %lu", (unsigned long)uid);
}

void proxies_explain(int pid, const struct ux_process_info *proxy)
{
	char user[USER_ROOM];

	name_user(user, proxy->uid);
	report("process %d: its proxy, process %d, serves only %s, who started it%s; "
	       "one that is started with -open serves everybody",
	       pid, proxy->pid, user, proxy->uid == 0 ? "" : ", and root");
}
