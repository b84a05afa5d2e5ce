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

/* Checks them in for the collector's port.  False, with a report, if others have them, or if there
 * is no name server. */
bool registration_begin(int pid);

/* The same for a proxy that can do without a name: true if there is no name server. */
bool registration_begin_if_any(int pid);

/* No name is to be checked in any more: nobody is to wait for one. */
void registration_ready(void);

/* Looks at a message to a port of the collector's set: another name server is told the names. */
void registration_hear(const mach_msg_header_t *message);

/* Takes back what there is of them. */
void registration_end(void);

#endif
