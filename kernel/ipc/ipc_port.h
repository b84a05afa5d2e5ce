/* SPDX-License-Identifier: MIT */
/* The names by which MIG's kernel stubs call the kernel's objects; nobody else uses them. */
#ifndef IPC_IPC_PORT_H
#define IPC_IPC_PORT_H

#include "ipc/port.h"
#include "ipc/space.h"

typedef struct port *ipc_port_t;
typedef struct space *ipc_space_t;

#define IP_VALID(port)              port_is_valid(port)
#define ipc_port_release_send(port) port_release_send(port)

/*
 * A stub is about to send a receive right in a reply: whether it would come to lie in its own
 * queue. If not, it is on its way to `reply_port` from now on.
 */
bool ipc_port_check_circularity(struct port *port, struct port *reply_port);

#endif
