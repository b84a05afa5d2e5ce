/* SPDX-License-Identifier: MIT */
/* Names in the name server of programs that export their profiling. */
#include <errno.h>
#include <limits.h>
#include <mach.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <servers/netname.h>

#include "common/common.h"
#include "control.h"
#include "target.h"

/*
 * How long a proxy may take until it has its name: so long anyway, as its shell may not have
 * executed it yet; and so long if there is one.  In steps of 10 ms.
 */
#define STEP_NS     10000000l
#define STEPS       10
#define PROXY_STEPS 500

mach_port_t name_server_find(void)
{
	mach_port_t server = ux_name_server();

	if (server == MACH_PORT_NULL)
		report("%s", errno == ENOENT
				     ? "there is no name server: root starts it by `snames &`"
				     : strerror(errno));
	return server;
}

mach_port_t export_find(mach_port_t name_server, int pid)
{
	mach_port_t port = MACH_PORT_NULL;
	netname_name_t name;

	snprintf(name, sizeof(name), GPROF_NAME_PREFIX "%d", pid);
	if (netname_look_up(name_server, "*", name, &port) != NETNAME_SUCCESS)
		return MACH_PORT_NULL;
	return port;
}

/* Whether another monctl runs, which may be about to check its name in. */
static bool other_monctl_runs(void)
{
	struct ux_process_info processes[UX_PROCESSES_MAX];
	int found = ux_processes(processes, UX_PROCESSES_MAX);
	pid_t own = getpid();

	for (int i = 0; i < found && i < UX_PROCESSES_MAX; i++)
		if (processes[i].pid != own && processes[i].state != UX_ZOMBIE &&
		    strcmp(processes[i].command, program_name) == 0)
			return true;
	return false;
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
		report("there is no process %d; ps -a lists them", pid);
		return;
	}
	if (ux_executable(pid, path, sizeof(path)) != 0)
		strcpy(path, "FILE");
	report("process %d exports no profiling; start a proxy: "
	       "monctl -pid %d -proxy -execfile %s &",
	       pid, pid, path);
}

mach_port_t export_await(int pid)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	mach_port_t server = name_server_find();
	struct ux_process_info info;

	if (server == MACH_PORT_NULL)
		return MACH_PORT_NULL;
	for (unsigned steps = 0; steps < PROXY_STEPS; steps++) {
		mach_port_t port = export_find(server, pid);

		if (port != MACH_PORT_NULL)
			return port;
		if (pid != PID_SERVER && !process_find(&info, pid))
			break;
		if (steps > STEPS && !other_monctl_runs())
			break;
		nanosleep(&step, NULL);
	}
	report_no_export(pid);
	return MACH_PORT_NULL;
}
