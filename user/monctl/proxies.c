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

static mach_port_t show(mach_port_t known, const char *token)
{
	mach_port_t port = MACH_PORT_NULL;

	return gprof_mon_open(known, token, &port) == KERN_SUCCESS ? port : MACH_PORT_NULL;
}

/* ---------------- Which process it is ---------------- */

static bool is_at(mach_port_t name_server, const char *prefix, int pid, mach_port_t known)
{
	mach_port_t port = MACH_PORT_NULL;
	netname_name_t name;

	snprintf(name, sizeof(name), "%s%d", prefix, pid);
	if (netname_look_up(name_server, "*", name, &port) != NETNAME_SUCCESS)
		return false;
	mach_port_deallocate(mach_task_self_cached(), port);
	return port == known;
}

/*
 * The name is the process's user's, or root's: either may know its token.  The token first, and
 * then whether the name is still the port's: if the process was another user's in between, the
 * token is of a program that is gone.  The Unix server has none, and its number would mean
 * ourselves.
 */
mach_port_t proxies_open_program(mach_port_t name_server, int pid, mach_port_t known)
{
	char token[UX_TOKEN_ROOM];
	mach_port_t opened;

	if (pid == PID_SERVER || ux_gprof_token(pid, token) != 0 ||
	    !is_at(name_server, GPROF_NAME_PREFIX, pid, known))
		return MACH_PORT_NULL;
	control_expect_answer(pid);
	opened = show(known, token);
	control_has_answer();
	return opened;
}

/* Shows the port this proxy's token, if it has the name of one.  False if it is another's. */
static bool try_proxy(mach_port_t name_server, int proxy, mach_port_t known, mach_port_t *opened)
{
	char token[UX_TOKEN_ROOM];
	bool has_token = ux_gprof_token(proxy, token) == 0;

	if (!is_at(name_server, PROXY_NAME_PREFIX, proxy, known))
		return false;
	if (has_token)
		*opened = show(known, token);
	return true;
}

/* Only who has the name of what is sampled: its user, or root; the group kmem of the server. */
static bool may_be_proxy(const struct ux_process_info *one,
			 const struct ux_process_info processes[], int n, int pid)
{
	if (one->state == UX_ZOMBIE || pid == PID_SERVER)
		return one->state != UX_ZOMBIE;
	for (int i = 0; i < n; i++)
		if (processes[i].pid == pid)
			return one->uid == 0 || one->uid == processes[i].uid;
	return true;
}

/*
 * Several may say that the port is theirs, but only the true one opens it.  All are asked at that
 * port: it has to answer for all within the time of one answer, or its owner could hold us as often
 * as he has processes.
 */
mach_port_t proxies_open(mach_port_t name_server, int pid, mach_port_t known,
			 struct ux_process_info *proxy)
{
	struct ux_process_info processes[UX_PROCESSES_MAX];
	int n = ux_processes(processes, UX_PROCESSES_MAX);
	mach_port_t opened = MACH_PORT_NULL;

	*proxy = (struct ux_process_info){.pid = 0};
	n = n < UX_PROCESSES_MAX ? n : UX_PROCESSES_MAX;
	control_expect_answer(pid);
	for (int i = 0; i < n && opened == MACH_PORT_NULL; i++)
		if (may_be_proxy(&processes[i], processes, n, pid) &&
		    try_proxy(name_server, processes[i].pid, known, &opened))
			*proxy = processes[i];
	control_has_answer();
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
