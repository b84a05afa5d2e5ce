/* SPDX-License-Identifier: MIT */
/* The names of a proxy: see registration.h. */
#include <errno.h>
#include <mach.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <servers/netname.h>
#include <ux/bsd.h>

#include "common/common.h"
#include "common/name_server.h"
#include "control.h"
#include "proxies.h"
#include "registration.h"
#include "target.h"

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
static void report_closed(const struct registration *registration, int pid, mach_port_t port)
{
	struct ux_process_info proxy;
	mach_port_t opened = proxies_open(registration->name_server, pid, port, &proxy);

	if (proxy.pid != 0)
		report_proxy(pid, &proxy, opened != MACH_PORT_NULL);
	else
		report_own(pid);
}

/* Whether the program can be asked without a proxy, or has one. */
static bool is_exported(const struct registration *registration, int pid)
{
	const struct control control = {.pid = pid,
					.port = export_find(registration->name_server, pid)};
	gprof_status_t status = {0};
	kern_return_t result;

	if (control.port == MACH_PORT_NULL)
		return false;
	result = control_ask(&control, &status);
	if (result == MACH_SEND_INVALID_DEST || result == MIG_SERVER_DIED)
		return false;
	if (result == GPROF_NOT_ALLOWED)
		report_closed(registration, pid, control.port);
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
static kern_return_t check_in(const struct registration *registration, const char *text)
{
	return netname_check_in(registration->name_server, text, ux_server_port(),
				prof_collector_public_port(registration->collector));
}

/* Whoever finds what is sampled finds out which process its proxy is. */
static bool check_in_both(const struct registration *registration)
{
	kern_return_t result = check_in(registration, registration->own_name);
	const char *refused = registration->own_name;

	if (result == NETNAME_SUCCESS) {
		result = check_in(registration, registration->name);
		refused = registration->name;
	}
	if (result == NETNAME_NOT_YOURS && refused == registration->name)
		report("the name %s is taken: there is a proxy already; monctl -pid %s -on "
		       "periodic asks it",
		       registration->name, registration->name + strlen(GPROF_NAME_PREFIX));
	else if (result != NETNAME_SUCCESS)
		report("the name server refuses %s: error %d", refused, result);
	return result == NETNAME_SUCCESS;
}

/* Finds the name server; from now on another one is told the names, too. */
static bool watch(struct registration *registration)
{
	if (registration->news_port == MACH_PORT_NULL &&
	    prof_collector_add_port(registration->collector, &registration->news_port) !=
		    KERN_SUCCESS)
		return false;
	if (MACH_PORT_VALID(registration->name_server)) /* Of before. */
		mach_port_deallocate(mach_task_self_cached(), registration->name_server);
	netname_watch(ux_server_port(), registration->news_port, &registration->name_server);
	return true;
}

static bool make_names(struct registration *registration, int pid)
{
	snprintf(registration->own_name, sizeof(registration->own_name), PROXY_NAME_PREFIX "%d",
		 getpid());
	snprintf(registration->name, sizeof(registration->name), GPROF_NAME_PREFIX "%d", pid);
	if (watch(registration))
		return true;
	report("no memory left to be found by a name");
	return false;
}

void registration_hear(struct registration *registration, const mach_msg_header_t *message)
{
	if (message->msgh_local_port != registration->news_port || !netname_is_next(message))
		return;
	watch(registration);
	if (registration->name_server != MACH_PORT_NULL && registration->own_name[0] != '\0')
		check_in_both(registration);
	if (registration->is_ready)
		export_nothing_more();
}

/* What has no names has not watched yet. */
void registration_ready(struct registration *registration)
{
	registration->is_ready = true;
	if (registration->news_port == MACH_PORT_NULL)
		watch(registration);
	export_nothing_more();
}

bool registration_begin(struct registration *registration, int pid)
{
	if (pid == PID_SERVER && server_exports())
		return false;
	registration->name_server = name_server_find();
	if (registration->name_server == MACH_PORT_NULL || !make_names(registration, pid))
		return false;
	return !is_exported(registration, pid) && check_in_both(registration);
}

bool registration_begin_if_any(struct registration *registration, int pid)
{
	return make_names(registration, pid) &&
	       (registration->name_server == MACH_PORT_NULL || check_in_both(registration));
}

/* If that fails the names go when our port does. */
void registration_end(struct registration *registration)
{
	if (registration->name_server == MACH_PORT_NULL || registration->own_name[0] == '\0')
		return;
	netname_check_out(registration->name_server, registration->name, ux_server_port());
	netname_check_out(registration->name_server, registration->own_name, ux_server_port());
	registration->own_name[0] = '\0';
}
