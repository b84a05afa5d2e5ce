/* SPDX-License-Identifier: MIT */
/* What the name server and those who ask it agree on. */
#ifndef SERVERS_NETNAME_TYPES_H
#define SERVERS_NETNAME_TYPES_H

#include <mach/message.h>
#include <mach/port.h>

#define NETNAME_NAME_MAX 80 /* Bytes, with the zero. */

typedef char netname_name_t[NETNAME_NAME_MAX];
typedef const char *const_netname_name_t;

/*
 * The port to send to, asked of the Unix server each time that it is named; MACH_PORT_NULL: there
 * is no name server.  In libnetname.a.
 */
mach_port_t netname_find_server(void);
#define name_server_port (netname_find_server())

/*
 * Finds the name server, MACH_PORT_NULL if there is none, and has the kernel tell `notify` when
 * another one begins, who knows no names.  Any thread may call it, by the ux_server_port() of one
 * that lives.  netname_is_next() says whether a message at `notify` tells that, and lets go of what
 * it brings if so: then this is to be called again, and names are to be checked in.
 */
kern_return_t netname_watch(mach_port_t caller, mach_port_t notify, mach_port_t *server);
int netname_is_next(const mach_msg_header_t *message);

#define NETNAME_SUCCESS        0
#define NETNAME_NOT_YOURS      1000 /* The signature is another. */
#define NETNAME_NOT_CHECKED_IN 1001
#define NETNAME_NO_SUCH_HOST   1002
#define NETNAME_HOST_NOT_FOUND 1003
#define NETNAME_INVALID_PORT   1004

#endif
