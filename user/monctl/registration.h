/* SPDX-License-Identifier: MIT */
/*
 * The names of a proxy: `gprof.PID` of the process that it samples, by which others ask for that,
 * and `proxy.PID` of its own, which says which process it is.
 *
 * The name server lets only a process's user and root have a name that ends in its number.  So a
 * port that is checked in as `proxy.12` was checked in by who may know the token of process 12, and
 * can be shown it.
 */
#ifndef MONCTL_REGISTRATION_H
#define MONCTL_REGISTRATION_H

#include <stdbool.h>

#include <mach/message.h>
#include <prof/collector.h>
#include <servers/netname_types.h>

/* The names of one collector; zeroes before they are begun. */
struct registration {
	struct prof_collector *collector;
	mach_port_t name_server;
	mach_port_t news_port;   /* In the collector's set: that there is another name server. */
	netname_name_t name;     /* Of what is sampled, */
	netname_name_t own_name; /* and of this proxy; "": there is none. */
	bool is_ready;           /* No other name will come. */
};

/* Checks them in for the collector's port.  False, with a report, if others have them, or if there
 * is no name server. */
bool registration_begin(struct registration *registration, int pid);

/* registration_begin() for who can do without a name: true if there is no name server. */
bool registration_begin_if_any(struct registration *registration, int pid);

/* No name is to be checked in any more: nobody is to wait for one. */
void registration_ready(struct registration *registration);

/* Looks at a message to a port of the collector's set: another name server is told the names. */
void registration_hear(struct registration *registration, const mach_msg_header_t *message);

/* Takes back what there is of them. */
void registration_end(struct registration *registration);

#endif
