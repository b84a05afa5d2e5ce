/* SPDX-License-Identifier: MIT */
/* Finding the collector: anybody may look its name up, but only root may ask it anything. */
#include <errno.h>
#include <mach.h>
#include <string.h>
#include <sys/ux.h>
#include <unistd.h>

#include <servers/gprof.h>
#include <servers/netname.h>

#include "common/common.h"
#include "common/name_server.h"
#include "hostprof.h"

#define PID_HOST (-1) /* What task_by_pid() answers with the host's control port. */

mach_port_t host_find(void)
{
	mach_port_t host = task_by_pid(PID_HOST);

	if (host == MACH_PORT_NULL)
		report("%s", errno == EPERM ? "only root may do that: it is about the whole machine"
					    : strerror(errno));
	return host;
}

/* A collector tells its control port to whoever knows the token of its process. */
static mach_port_t open_port(mach_port_t known, pid_t pid)
{
	char token[UX_TOKEN_ROOM];
	mach_port_t port = MACH_PORT_NULL;

	if (ux_gprof_token(pid, token) != 0 || gprof_mon_open(known, token, &port) != KERN_SUCCESS)
		return MACH_PORT_NULL;
	return port;
}

/* The name may be somebody else's: it is the collector's if a hostprof of root's has its token. */
static mach_port_t open_of_root(mach_port_t known, pid_t *pid)
{
	struct ux_process_info processes[UX_PROCESSES_MAX];
	int found = ux_processes(processes, UX_PROCESSES_MAX);
	mach_port_t port = MACH_PORT_NULL;

	for (int i = 0; i < found && i < UX_PROCESSES_MAX && port == MACH_PORT_NULL; i++) {
		const struct ux_process_info *one = &processes[i];

		if (one->pid == getpid() || one->uid != 0 || one->state == UX_ZOMBIE ||
		    strcmp(one->command, program_name) != 0)
			continue;
		port = open_port(known, one->pid);
		*pid = one->pid;
	}
	return port;
}

mach_port_t collector_find(pid_t *pid)
{
	mach_port_t server = name_server_find();
	mach_port_t known = MACH_PORT_NULL;

	if (server == MACH_PORT_NULL ||
	    netname_look_up(server, "*", KERNEL_NAME, &known) != NETNAME_SUCCESS)
		return MACH_PORT_NULL;
	return open_of_root(known, pid);
}
