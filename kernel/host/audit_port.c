/* SPDX-License-Identifier: MIT */
/*
 * The audit control port: by which programs and the Unix server reach whoever keeps the audit trail
 * (defs/mach/assay.defs).  It has its place here since it must not depend on a name that others may
 * give.  Guarded by the kernel lock.
 */
#include <mach/mach_types.h>

#include "host/host.h"
#include "ipc/port.h"
#include "mach/assay_server.h"

/* Takes the caller's right.  The old one goes when the new one is there: that may tell somebody. */
kern_return_t host_set_audit_control_port(host_t host, ipc_port_t port)
{
	struct port *old;

	if (host == NULL)
		return KERN_INVALID_HOST;
	old = host->audit_port;
	host->audit_port = port;
	port_release_send(old);
	return KERN_SUCCESS;
}

kern_return_t host_get_audit_control_port(host_t host, ipc_port_t *port)
{
	if (host == NULL)
		return KERN_INVALID_HOST;
	*port = port_copy_send(host->audit_port);
	if (*port == PORT_DEAD_NAME)
		*port = PORT_NULL;
	return KERN_SUCCESS;
}
