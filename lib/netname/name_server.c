/* SPDX-License-Identifier: MIT */
/* name_server_port: see <servers/netname_types.h>. */
#include <mach.h>
#include <servers/netname.h>
#include <sys/ux.h>

/*
 * Asks each time, since nothing that is kept would be right after a fork, or after the name
 * server's end.  All answers are one name, and of what they bring one right is enough.
 */
mach_port_t netname_find_server(void)
{
	mach_port_t self = mach_task_self_cached();
	mach_port_t port = ux_name_server();
	mach_port_urefs_t rights = 0;

	if (port != MACH_PORT_NULL &&
	    mach_port_get_refs(self, port, MACH_PORT_RIGHT_SEND, &rights) == KERN_SUCCESS &&
	    rights > 1)
		syscall_mach_port_deallocate(self, port);
	return port;
}
