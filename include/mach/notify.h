/* SPDX-License-Identifier: MIT */
/* Notifications: messages of the kernel's own. */
#ifndef MACH_NOTIFY_H
#define MACH_NOTIFY_H

#include <mach/message.h>
#include <mach/port.h>

#define MACH_NOTIFY_FIRST          64
#define MACH_NOTIFY_PORT_DELETED   65 /* A name went before its port died. */
#define MACH_NOTIFY_MSG_ACCEPTED   66 /* What MACH_SEND_WILL_NOTIFY promised. */
#define MACH_NOTIFY_PORT_DESTROYED 69 /* Carries a receive right that was about to be destroyed. */
#define MACH_NOTIFY_NO_SENDERS     70 /* The last send right is gone. */
#define MACH_NOTIFY_SEND_ONCE      71 /* A send-once right was dropped without a message. */
#define MACH_NOTIFY_DEAD_NAME      72 /* A port died; the name is dead, with one reference more. */
#define MACH_NOTIFY_LAST           77

/* The layout of those that carry the name of a right (of type MACH_MSG_TYPE_PORT_NAME). */
typedef struct {
	mach_msg_header_t not_header;
	mach_msg_type_t not_type;
	mach_port_t not_port;
} mach_port_deleted_notification_t;

typedef mach_port_deleted_notification_t mach_msg_accepted_notification_t;
typedef mach_port_deleted_notification_t mach_dead_name_notification_t;

/* Of type MACH_MSG_TYPE_PORT_RECEIVE. */
typedef mach_port_deleted_notification_t mach_port_destroyed_notification_t;

/* Of type MACH_MSG_TYPE_INTEGER_32: how many send rights had been made. */
typedef struct {
	mach_msg_header_t not_header;
	mach_msg_type_t not_type;
	unsigned int not_count;
} mach_no_senders_notification_t;

typedef struct {
	mach_msg_header_t not_header;
} mach_send_once_notification_t;

#endif
