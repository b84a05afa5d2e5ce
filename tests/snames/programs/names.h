/* SPDX-License-Identifier: MIT */
/* Calls of the name server, as the tests here make them. */
#ifndef NAMES_H
#define NAMES_H

#include <mach.h>
#include <servers/netname.h>
#include <sys/ux.h>

#include "help.h"

static mach_port_t server; /* As long as one test runs. */

static inline mach_port_t new_port(void)
{
	mach_port_t port = MACH_PORT_NULL;

	EXPECT_EQ(mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &port), 0);
	EXPECT_EQ(mach_port_insert_right(mach_task_self(), port, port, MACH_MSG_TYPE_MAKE_SEND), 0);
	return port;
}

/* The port dies. */
static inline void end_port(mach_port_t port)
{
	EXPECT_EQ(mach_port_mod_refs(mach_task_self(), port, MACH_PORT_RIGHT_RECEIVE, -1), 0);
}

static inline void find_server(void)
{
	if (server == MACH_PORT_NULL)
		server = name_server_port;
	EXPECT(server != MACH_PORT_NULL);
}

static inline kern_return_t check_in(const char *name, mach_port_t signature, mach_port_t port)
{
	netname_name_t text;

	find_server();
	snprintf(text, sizeof text, "%s", name);
	return netname_check_in(server, text, signature, port);
}

static inline kern_return_t check_out(const char *name, mach_port_t signature)
{
	netname_name_t text;

	find_server();
	snprintf(text, sizeof text, "%s", name);
	return netname_check_out(server, text, signature);
}

static inline kern_return_t look_up_at(const char *host, const char *name, mach_port_t *port)
{
	netname_name_t text, host_text;

	find_server();
	snprintf(text, sizeof text, "%s", name);
	snprintf(host_text, sizeof host_text, "%s", host);
	return netname_look_up(server, host_text, text, port);
}

static inline kern_return_t look_up(const char *name)
{
	mach_port_t port = MACH_PORT_NULL;
	kern_return_t result = look_up_at("", name, &port);

	if (result == KERN_SUCCESS)
		mach_port_deallocate(mach_task_self(), port);
	return result;
}

/* In a child names of rights mean nothing. */
static inline void forget_names(void)
{
	server = MACH_PORT_NULL;
}

#endif
