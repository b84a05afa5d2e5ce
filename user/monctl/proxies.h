/* SPDX-License-Identifier: MIT */
/* Proxies that serve only who has started them, and root: which process each is, and its token. */
#ifndef MONCTL_PROXIES_H
#define MONCTL_PROXIES_H

#include <mach/port.h>
#include <sys/ux.h>

/* The name of a proxy is this and its process's number: registration.h. */
#define PROXY_NAME_PREFIX "proxy."

/*
 * Asks a port that serves some only, whose name is that of process `pid`: if it is a proxy's, the
 * control port that it gives to us.  MACH_PORT_NULL, and `proxy` is the one that serves others, or
 * has the number 0: then the port is no proxy's.  A token is shown to nobody who may not know it.
 */
mach_port_t proxies_open(mach_port_t name_server, int pid, mach_port_t known,
			 struct ux_process_info *proxy);

/* The control port of a program that serves its owner only by itself; or MACH_PORT_NULL. */
mach_port_t proxies_open_program(mach_port_t name_server, int pid, mach_port_t known);

/* Reports whom the proxy serves, and how it would serve us. */
void proxies_explain(int pid, const struct ux_process_info *proxy);

#endif
