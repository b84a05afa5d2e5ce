/* SPDX-License-Identifier: MIT */
/*
 * Port sets: receive rights of one space that are received from together.
 *
 * The messages stay in the members' queues; members with messages are on `ready`, in turn, so that
 * none starves.  Guarded by the kernel lock.
 */
#ifndef IPC_PORT_SET_H
#define IPC_PORT_SET_H

#include <stdint.h>

#include "ipc/port.h"
#include <assay/list.h>
#include "thread/thread.h"

#define PORT_SET_MAGIC 0x50534554u

struct port_set {
	uint32_t magic; /* PORT_SET_MAGIC */
	uint32_t refs;  /* The entry's, and one for each thread that waits on it. */
	uint32_t name;
	struct owner *owner; /* Who pays for it, as for a port. */
	uint32_t n_members;
	struct list ready; /* Members (struct port, by set_link) with messages, */
	struct list quiet; /* and without. */
	struct wait_queue receivers;
};

void port_set_module_init(void);

/* One reference; NULL when there is no memory, or `owner` may not have it. */
struct port_set *port_set_create(uint32_t name, struct owner *owner);
void port_set_release(struct port_set *set);

/* The set's entry goes: members leave, waiting receivers get MACH_RCV_PORT_DIED. */
void port_set_destroy(struct port_set *set);

void port_set_add(struct port_set *set, struct port *port); /* Leaves its old set first. */
void port_set_remove(struct port *port);

/* A message was queued at `port`, which is in a set: it has a turn now, if it had none. */
static inline void port_set_note_message(struct port *port)
{
	if (port->n_messages > 1)
		return;
	list_remove(&port->set_link);
	list_add_last(&port->set->ready, &port->set_link);
}

/* The last message of `port`, which is in a set, was taken. */
static inline void port_set_note_empty(struct port *port)
{
	list_remove(&port->set_link);
	list_add_last(&port->set->quiet, &port->set_link);
}

/* A member with a message, the one that has waited longest for its turn; NULL if there is none. */
struct port *port_set_ready(struct port_set *set);

#endif
