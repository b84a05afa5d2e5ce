/* SPDX-License-Identifier: MIT */
/*
 * Requests of tasks to be told when a port dies that they have a name for.
 *
 * A request is on the port's list and its entry points to it.  When the port dies the notification
 * is sent and the dead name gets one more user reference; when the name goes first the notification
 * is port-deleted.  The message that will be sent is part of the request: it cannot fail for lack
 * of memory.  Guarded by the kernel lock.
 */
#ifndef IPC_REQUEST_H
#define IPC_REQUEST_H

#include <stdint.h>

#include <mach/kern_return.h>

#include <assay/list.h>

struct entry;
struct message;
struct owner;
struct port;

struct request {
	struct entry *entry;
	struct port *notify; /* A send-once right. */
	struct message *message;
	struct owner *payer; /* Of the message, a unit of OWNER_QUEUED. */
	struct list port_link;
};

void request_module_init(void);

/*
 * Replaces the entry's request by one that has `notify` (a send-once right, taken on success) or,
 * if that is PORT_NULL, by none; *previous gets the send-once right of the old one, or PORT_NULL.
 * `payer` pays for a new one.
 */
kern_return_t request_set(struct entry *entry, struct owner *payer, struct port *notify,
			  struct port **previous);

/* The port is dying: all its entries with a request become dead names now, and are notified. */
void request_port_died(struct port *port);

/* The name of an entry with a request is going: port-deleted. */
void request_name_deleted(struct entry *entry);

#endif
