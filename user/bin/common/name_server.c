/* SPDX-License-Identifier: MIT */
/* Finding the name server: see name_server.h. */
#include "common/name_server.h"

#include <errno.h>
#include <string.h>
#include <sys/ux.h>

#include "common/common.h"

mach_port_t name_server_find(void)
{
	mach_port_t server = ux_name_server();

	if (server == MACH_PORT_NULL)
		report("%s", errno == ENOENT
				     ? "there is no name server: root starts it by `snames &`"
				     : strerror(errno));
	return server;
}
