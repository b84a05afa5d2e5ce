/* SPDX-License-Identifier: MIT */
/* The names of a proxy: see registration.h. */
#include <errno.h>
#include <mach.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libprof/core/collector.h"
#include "libprof/core/ports.h"
#include <servers/netname.h>
#include <ux/bsd.h>

#include "common/common.h"
#include "common/name_server.h"
#include "control.h"
#include "proxies.h"
#include "registration.h"
#include "target.h"

static mach_port_t name_server;
static mach_port_t news_port;   /* In the collector's set: that there is another name server. */
static netname_name_t name;     /* Of what is sampled, */
static netname_name_t own_name; /* and of this proxy; "": there is none. */
static bool is_ready;           /* No other name will come. */

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
static bool check_in_both(void)
{
	kern_return_t result = check_in(own_name);
	const char *refused = own_name;

	if (result == NETNAME_SUCCESS) {
		result = check_in(name);
		refused = name;
	}
	if (result == NETNAME_NOT_YOURS && refused == name)
		report("the name %s is taken: there is a proxy already; monctl -pid %s -on "
		       "periodic asks it",
		       name, name + strlen(GPROF_NAME_PREFIX));
	else if (result != NETNAME_SUCCESS)
		report("the name server refuses %s: error %d", refused, result);
	return result == NETNAME_SUCCESS;
}

/* Finds the name server; from now on another one is told the names, too. */
static bool watch(void)
{
	if (news_port == MACH_PORT_NULL &&
	    __prof_port_member(&news_port, __collector_set()) != KERN_SUCCESS)
		return false;
	if (MACH_PORT_VALID(name_server)) /* Of before. */
		mach_port_deallocate(mach_task_self_cached(), name_server);
	netname_watch(ux_server_port(), news_port, &name_server);
	return true;
}

static bool make_names(int pid)
{
	snprintf(own_name, sizeof(own_name), PROXY_NAME_PREFIX "%d", getpid());
	snprintf(name, sizeof(name), GPROF_NAME_PREFIX "%d", pid);
	if (watch())
		return true;
	report("no memory left to be found by a name");
	return false;
}

void registration_hear(const mach_msg_header_t *message)
{
	if (message->msgh_local_port != news_port || !netname_is_next(message))
		return;
	watch();
	if (name_server != MACH_PORT_NULL && own_name[0] != '\0')
		check_in_both();
	if (is_ready)
		export_nothing_more();
}

/* What has no names has not watched yet. */
void registration_ready(void)
{
	is_ready = true;
	if (news_port == MACH_PORT_NULL)
		watch();
	export_nothing_more();
}

bool registration_begin(int pid)
{
	if (pid == PID_SERVER && server_exports())
		return false;
	name_server = name_server_find();
	if (name_server == MACH_PORT_NULL || !make_names(pid))
		return false;
	return !is_exported(pid) && check_in_both();
}

bool registration_begin_if_any(int pid)
{
	return make_names(pid) && (name_server == MACH_PORT_NULL || check_in_both());
}

/* If that fails the names go when our port does. */
void registration_end(void)
{
	if (name_server == MACH_PORT_NULL || own_name[0] == '\0')
		return;
	netname_check_out(name_server, name, ux_server_port());
	netname_check_out(name_server, own_name, ux_server_port());
	own_name[0] = '\0';
}
