/* SPDX-License-Identifier: MIT */
/* name_server_port: see <servers/netname_types.h>. */
#include <mach.h>
#include <servers/netname.h>
#include <sys/ux.h>

/*
 * More than threads may ask at the same time.  Each of them takes back a right of its own at the
 * most, so that the last one, which all of them use, is never taken back.
 */
#define ENOUGH_RIGHTS 1000

/*
 * Asks each time, since nothing that is kept would be right after a fork, or after the name
 * server's end.  All answers are one name, which has a right more with each.
 */
mach_port_t netname_find_server(void)
{
	mach_port_t self = mach_task_self_cached();
	mach_port_t port = ux_name_server();
	mach_port_urefs_t rights = 0;

	if (port != MACH_PORT_NULL &&
	    mach_port_get_refs(self, port, MACH_PORT_RIGHT_SEND, &rights) == KERN_SUCCESS &&
	    rights > ENOUGH_RIGHTS)
		syscall_mach_port_deallocate(self, port);
	return port;
}
