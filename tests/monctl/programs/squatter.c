/* SPDX-License-Identifier: MIT */
/*
 * Wants root's tokens: has its own process's name mean a port at which it answers that it serves
 * some only, and says of every process that it can that this is its proxy.  What it is shown it
 * compares with what it may know: the tokens of its own user's processes.
 *
 *     squatter         prints `ready`, and of each token `own` or `STOLEN`
 *     squatter slow    takes long for each answer, but no answer takes too long
 *     squatter PID     has its names mean the port of that process's proxy instead
 */
#include <mach.h>
#include <servers/gprof.h>
#include <servers/gprof_server.h>
#include <servers/netname.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>
#include <unistd.h>

#define PIDS 100
#define LONG 6 /* Seconds: less than monctl waits. */

static unsigned delay; /* Seconds until a token is answered. */

boolean_t gprof_server(mach_msg_header_t *request, mach_msg_header_t *reply);

union buffer {
	mach_msg_header_t head;
	mig_reply_header_t reply;
	char room[1024];
};

/* ---------------- Answers ---------------- */

kern_return_t do_gprof_mon_switch(mach_port_t port, sampled_pc_flavor_t *flavors)
{
	(void)port;
	*flavors = 0;
	return GPROF_NOT_ALLOWED;
}

kern_return_t do_gprof_mon_dump(mach_port_t port, mon_data_t *data, mach_msg_type_number_t *size)
{
	(void)port;
	*data = NULL;
	*size = 0;
	return GPROF_NOT_ALLOWED;
}

kern_return_t do_gprof_mon_status(mach_port_t port, gprof_status_t *status)
{
	(void)port;
	memset(status, 0, sizeof *status);
	return GPROF_NOT_ALLOWED;
}

kern_return_t do_gprof_mon_options(mach_port_t port, gprof_options_t options)
{
	(void)port;
	(void)options;
	return GPROF_NOT_ALLOWED;
}

kern_return_t do_gprof_mon_open(mach_port_t port, const_gprof_token_t token, mach_port_t *control)
{
	char own[UX_TOKEN_ROOM];
	bool is_own = false;

	(void)port;
	sleep(delay);
	for (int pid = 1; pid < PIDS && !is_own; pid++)
		is_own = ux_gprof_token(pid, own) == 0 && strcmp(own, token) == 0;
	printf("%s\n", is_own ? "own" : "STOLEN");
	fflush(stdout);
	*control = MACH_PORT_NULL;
	return GPROF_NOT_ALLOWED;
}

/* ---------------- Names ---------------- */

static bool take(const char *prefix, int pid, mach_port_t port)
{
	netname_name_t name;

	snprintf(name, sizeof name, "%s%d", prefix, pid);
	return netname_check_in(name_server_port, name, ux_server_port(), port) == NETNAME_SUCCESS;
}

static mach_port_t port_of(int pid)
{
	mach_port_t port = MACH_PORT_NULL;
	netname_name_t name;

	snprintf(name, sizeof name, "gprof.%d", pid);
	netname_look_up(name_server_port, "", name, &port);
	return port;
}

static mach_port_t make_port(void)
{
	mach_port_t self = mach_task_self_cached(), port = MACH_PORT_NULL;

	mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &port);
	mach_port_insert_right(self, port, port, MACH_MSG_TYPE_MAKE_SEND);
	return port;
}

static void serve(mach_port_t port)
{
	union buffer request, reply;

	while (mach_msg(&request.head, MACH_RCV_MSG, 0, sizeof request, port, 0, MACH_PORT_NULL) ==
	       MACH_MSG_SUCCESS) {
		gprof_server(&request.head, &reply.head);
		mach_msg(&reply.head, MACH_SEND_MSG, reply.head.msgh_size, 0, MACH_PORT_NULL, 0,
			 MACH_PORT_NULL);
	}
}

int main(int count, char **words)
{
	bool is_slow = count > 1 && strcmp(words[1], "slow") == 0,
	     is_astray = count > 1 && !is_slow;
	mach_port_t port = is_astray ? port_of(atoi(words[1])) : make_port();
	int taken = 0;

	delay = is_slow ? LONG : 0;
	if (port == MACH_PORT_NULL || !take("gprof.", getpid(), port))
		return 1;
	for (int pid = 1; pid < PIDS && taken < 50; pid++)
		taken += take("proxy.", pid, port);
	printf("ready\n");
	fflush(stdout);
	if (is_astray)
		pause();
	serve(port);
	return 1;
}
