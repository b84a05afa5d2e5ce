/* SPDX-License-Identifier: MIT */
/* Where programs that export their profiling are found by name. */
#ifndef COMMON_NAME_SERVER_H
#define COMMON_NAME_SERVER_H

#include <mach/port.h>

/* The name server's port; MACH_PORT_NULL with a report if there is none. */
mach_port_t name_server_find(void);

#endif
