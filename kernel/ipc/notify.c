/* SPDX-License-Identifier: MIT */
/*
 * Notifications: see notify.h.
 *
 * A notification to a dead port is destroyed like any message; its send-once right makes no other
 * notification then, so that one never leads to the next.  Guarded by the kernel lock.
 */
#include "ipc/notify.h"

#include <mach/message.h>
#include <mach/messages.h>
#include <mach/notify.h>

#include "base/assert.h"
#include "base/log.h"
#include "ipc/message.h"
#include "ipc/port.h"
#include "ipc/queue.h"

/* A header alone, or a header and a word with its type. */
union notification {
	mach_msg_header_t header;
	mach_port_deleted_notification_t name;
	mach_port_destroyed_notification_t right;
	mach_no_senders_notification_t count;
	mach_send_once_notification_t send_once;
};

_Static_assert(sizeof(mach_port_t) != 4 || sizeof(void *) != 4 ||
		       sizeof(mach_port_deleted_notification_t) == 32,
	       "the layout that users know");

/* Notifications that were lost for want of memory. */
static uint32_t notifications_lost;

struct message *notify_message(void)
{
	return message_alloc(sizeof(union notification));
}

/*
 * Takes the send-once right `notify` and the message, into the header of the latter.  Like any
 * message to such a right it is for whoever the right was made for.
 */
static void notify_set_header(struct message *message, struct port *notify, mach_msg_id_t id,
			      uint32_t size)
{
	assert(port_is_valid(notify));
	assert(message->room >= size);
	message->label = notify->label;
	message->header = (mach_msg_header_t){
		.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_PORT_SEND_ONCE, 0),
		.msgh_size = size,
		.msgh_id = id,
	};
	message_set_ports(message, notify, PORT_NULL);
}

/* The one word of the body with its descriptor. */
static void notify_set_word(struct message *message, mach_msg_type_name_t type, uint32_t word)
{
	mach_no_senders_notification_t *body = (mach_no_senders_notification_t *)&message->header;

	body->not_type = (mach_msg_type_t)DESCRIBE_MACH_PORT_POLY_T(type, 1);
	body->not_count = word;
}

/* Takes the message and the right. */
static void notify_send_word(struct port *notify, struct message *message, mach_msg_id_t id,
			     mach_msg_type_name_t type, uint32_t word)
{
	notify_set_header(message, notify, id, sizeof(mach_no_senders_notification_t));
	notify_set_word(message, type, word);
	message_send_always(message);
}

/* There is no memory to send anything: takes the right, of which its port is not told. */
static void notify_lose(struct port *notify)
{
	notifications_lost++;
	klog("ipc: no memory for a notification, %u lost so far\n", (unsigned)notifications_lost);
	port_forget_send_once(notify);
}

void notify_dead_name(struct port *notify, struct message *message, uint32_t name)
{
	notify_send_word(notify, message, MACH_NOTIFY_DEAD_NAME, MACH_MSG_TYPE_PORT_NAME, name);
}

void notify_port_deleted(struct port *notify, struct message *message, uint32_t name)
{
	notify_send_word(notify, message, MACH_NOTIFY_PORT_DELETED, MACH_MSG_TYPE_PORT_NAME, name);
}

void notify_msg_accepted(struct port *notify, struct message *message, uint32_t name)
{
	notify_send_word(notify, message, MACH_NOTIFY_MSG_ACCEPTED, MACH_MSG_TYPE_PORT_NAME, name);
}

void notify_no_senders(struct port *notify, uint32_t make_send_count)
{
	struct message *message = notify_message();

	if (message == NULL)
		notify_lose(notify);
	else
		notify_send_word(notify, message, MACH_NOTIFY_NO_SENDERS, MACH_MSG_TYPE_INTEGER_32,
				 make_send_count);
}

void notify_send_once(struct port *notify)
{
	struct message *message = notify_message();

	if (message == NULL) {
		notify_lose(notify);
		return;
	}
	notify_set_header(message, notify, MACH_NOTIFY_SEND_ONCE,
			  sizeof(mach_send_once_notification_t));
	message_send_always(message);
}

/*
 * Takes the receive right too, into the message.  Without memory for one the port is destroyed, as
 * it would have been if nobody had asked for it.
 */
void notify_port_destroyed(struct port *notify, struct port *dead)
{
	struct message *message = notify_message();

	assert(dead->state == PORT_MOVING && dead->port_destroyed == PORT_NULL);
	if (message == NULL) {
		notify_lose(notify);
		port_destroy(dead);
		return;
	}
	notify_set_header(message, notify, MACH_NOTIFY_PORT_DESTROYED,
			  sizeof(mach_port_destroyed_notification_t));
	message->header.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	notify_set_word(message, MACH_MSG_TYPE_PORT_RECEIVE, (mach_port_t)dead);
	message_send_always(message);
}
