/* SPDX-License-Identifier: MIT */
/* The names of a proxy: see registration.h. */
#include <errno.h>
#include <mach.h>
#include <stdio.h>
#include <unistd.h>

#include "libprof/core/collector.h"
#include <servers/netname.h>
#include <ux/bsd.h>

#include "common/common.h"
#include "common/name_server.h"
#include "control.h"
#include "proxies.h"
#include "registration.h"
#include "target.h"

static mach_port_t name_server;
static netname_name_t name;     /* Of what is sampled, */
static netname_name_t own_name; /* and of this proxy. */

/* ---------------- Whoever has the name ---------------- */

static void report_proxy(int pid, const struct ux_process_info *proxy, bool is_ours)
{
	if (is_ours)
		report("process %d has a proxy already; use monctl -pid %d -on periodic", pid, pid);
	else
		proxies_explain(pid, proxy);
}

static void report_own(int pid)
{
	report("process %d exports its own profiling; use monctl -pid %d -on periodic", pid, pid);
}

/* Who serves some only is known by another name; it may be us. */
static void report_closed(int pid, mach_port_t port)
{
	struct ux_process_info proxy;
	mach_port_t opened = proxies_open(name_server, pid, port, &proxy);

	if (proxy.pid != 0)
		report_proxy(pid, &proxy, opened != MACH_PORT_NULL);
	else
		report_own(pid);
}

/* Whether the program can be asked without a proxy, or has one. */
static bool is_exported(int pid)
{
	const struct control control = {.pid = pid, .port = export_find(name_server, pid)};
	gprof_status_t status = {0};
	kern_return_t result;

	if (control.port == MACH_PORT_NULL)
		return false;
	result = control_ask(&control, &status);
	if (result == MACH_SEND_INVALID_DEST || result == MIG_SERVER_DIED)
		return false;
	if (result == GPROF_NOT_ALLOWED)
		report_closed(pid, control.port);
	else if (result == KERN_SUCCESS && status.proxy != 0)
		report_proxy(pid, NULL, true);
	else
		report_own(pid);
	return true;
}

static bool server_exports(void)
{
	gprof_status_t status;

	if (bsd_gprof_mon_status(ux_server_port(), &status) == ENOTSUP)
		return false;
	report("UX exports its own profiling; use monctl -pid 0 -on periodic");
	return true;
}

/* ---------------- Coming and going ---------------- */

/* Anybody may look the name up; only who has the signature may take it back. */
static kern_return_t check_in(const char *text)
{
	return netname_check_in(name_server, text, ux_server_port(), __collector_public_port());
}

/* Whoever finds what is sampled finds out which process its proxy is. */
static bool check_in_both(int pid)
{
	kern_return_t result;

	snprintf(own_name, sizeof(own_name), PROXY_NAME_PREFIX "%d", getpid());
	snprintf(name, sizeof(name), GPROF_NAME_PREFIX "%d", pid);
	result = check_in(own_name);
	if (result == NETNAME_SUCCESS)
		result = check_in(name);
	if (result == NETNAME_NOT_YOURS)
		report("process %d has a proxy already; use monctl -pid %d -on periodic", pid, pid);
	else if (result != NETNAME_SUCCESS)
		report("the name server refuses %s: error %d", name, result);
	return result == NETNAME_SUCCESS;
}

bool registration_begin(int pid)
{
	if (pid == PID_SERVER && server_exports())
		return false;
	name_server = name_server_find();
	return name_server != MACH_PORT_NULL && !is_exported(pid) && check_in_both(pid);
}

bool registration_begin_if_any(int pid)
{
	name_server = ux_name_server();
	return name_server == MACH_PORT_NULL || check_in_both(pid);
}

/* If that fails the names go when our port does. */
void registration_end(void)
{
	if (name_server == MACH_PORT_NULL)
		return;
	netname_check_out(name_server, name, ux_server_port());
	netname_check_out(name_server, own_name, ux_server_port());
}
