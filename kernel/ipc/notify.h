/* SPDX-License-Identifier: MIT */
/*
 * Notifications: messages of the kernel's own to send-once rights (<mach/notify.h>).
 *
 * Each function takes the send-once right `notify`.  None blocks.  Those without a message of their
 * own allocate it; when there is no memory the notification is lost, and the log says so.
 */
#ifndef IPC_NOTIFY_H
#define IPC_NOTIFY_H

#include <stdint.h>

struct message;
struct port;

/* A message that is big enough for any notification; NULL when there is no memory. */
struct message *notify_message(void);

void notify_dead_name(struct port *notify, struct message *message, uint32_t name);
void notify_port_deleted(struct port *notify, struct message *message, uint32_t name);
void notify_msg_accepted(struct port *notify, struct message *message, uint32_t name);

void notify_no_senders(struct port *notify, uint32_t make_send_count);
void notify_send_once(struct port *notify);

/* `dead` is a receive right, state PORT_MOVING: it goes to the one who asked for it. */
void notify_port_destroyed(struct port *notify, struct port *dead);

#endif
