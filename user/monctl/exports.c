/* SPDX-License-Identifier: MIT */
/* Names in the name server of programs that export their profiling. */
#include <limits.h>
#include <mach.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <servers/netname.h>

#include "common/common.h"
#include "common/name_server.h"
#include "control.h"
#include "target.h"

/*
 * How long somebody who may become a proxy is waited for, in steps of 10 ms: a shell's child, which
 * has perhaps not executed monctl yet, and a monctl.
 */
#define STEP_NS      10000000l
#define CHILD_STEPS  10
#define MONCTL_STEPS 500

/* The name of a monctl that checks in no other. */
#define READY_PREFIX "monctl."

static mach_port_t find(mach_port_t name_server, const char *prefix, int pid)
{
	mach_port_t port = MACH_PORT_NULL;
	netname_name_t name;

	snprintf(name, sizeof(name), "%s%d", prefix, pid);
	if (netname_look_up(name_server, "*", name, &port) != NETNAME_SUCCESS)
		return MACH_PORT_NULL;
	return port;
}

mach_port_t export_find(mach_port_t name_server, int pid)
{
	return find(name_server, GPROF_NAME_PREFIX, pid);
}

/* ---------------- Who may be about to check a name in ---------------- */

static mach_port_t ready_port;

static bool make_ready_port(void)
{
	mach_port_t self = mach_task_self_cached();

	return ready_port != MACH_PORT_NULL ||
	       (mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &ready_port) == KERN_SUCCESS &&
		mach_port_insert_right(self, ready_port, ready_port, MACH_MSG_TYPE_MAKE_SEND) ==
			KERN_SUCCESS);
}

/* If that fails, others wait for us a while in vain. */
void export_nothing_more(void)
{
	mach_port_t server = ux_name_server();
	netname_name_t name;

	if (server == MACH_PORT_NULL || !make_ready_port())
		return;
	snprintf(name, sizeof(name), READY_PREFIX "%d", getpid());
	netname_check_in(server, name, ux_server_port(), ready_port);
	mach_port_deallocate(mach_task_self_cached(), server);
}

static bool is_ready(mach_port_t name_server, int pid)
{
	mach_port_t port = find(name_server, READY_PREFIX, pid);

	if (port != MACH_PORT_NULL)
		mach_port_deallocate(mach_task_self_cached(), port);
	return port != MACH_PORT_NULL;
}

static const struct ux_process_info *find_info(const struct ux_process_info *processes, int count,
					       pid_t pid)
{
	for (int i = 0; i < count; i++)
		if (processes[i].pid == pid)
			return &processes[i];
	return NULL;
}

/* How many steps whoever runs is worth waiting for. */
static unsigned steps_worth(mach_port_t name_server)
{
	struct ux_process_info processes[UX_PROCESSES_MAX];
	int found = ux_processes(processes, UX_PROCESSES_MAX);
	int count = found < UX_PROCESSES_MAX ? found : UX_PROCESSES_MAX;
	const struct ux_process_info *shell = find_info(processes, count, getppid());
	unsigned steps = 0;

	for (int i = 0; i < count; i++) {
		const struct ux_process_info *other = &processes[i];

		if (other->pid == getpid() || other->state == UX_ZOMBIE)
			continue;
		if (strcmp(other->command, program_name) == 0 && !is_ready(name_server, other->pid))
			return MONCTL_STEPS;
		if (shell != NULL && other->ppid == shell->pid &&
		    strcmp(other->command, shell->command) == 0)
			steps = CHILD_STEPS;
	}
	return steps;
}

static void report_no_export(int pid)
{
	struct ux_process_info info;
	char path[PATH_MAX] = "FILE";

	if (pid == PID_SERVER) {
		report("UX was built without profiling; start a proxy: "
		       "monctl -pid 0 -proxy -execfile /mach_servers/startup &");
		return;
	}
	if (!process_find(&info, pid)) {
		report_no_process(pid);
		return;
	}
	if (ux_executable(pid, path, sizeof(path)) != 0)
		strcpy(path, "FILE");
	report("process %d exports no profiling; start a proxy: "
	       "monctl -pid %d -proxy -execfile %s &",
	       pid, pid, path);
}

/* Who might check the name in is asked for first: whoever has just done it is not missed. */
mach_port_t export_await(int pid)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	mach_port_t server = name_server_find();
	struct ux_process_info info;

	if (server == MACH_PORT_NULL)
		return MACH_PORT_NULL;
	for (unsigned steps = 0;; steps++) {
		unsigned worth = steps_worth(server);
		mach_port_t port = export_find(server, pid);

		if (port != MACH_PORT_NULL)
			return port;
		if (steps >= worth || (pid != PID_SERVER && !process_find(&info, pid)))
			break;
		if (steps == 0)
			export_nothing_more();
		nanosleep(&step, NULL);
	}
	report_no_export(pid);
	return MACH_PORT_NULL;
}
