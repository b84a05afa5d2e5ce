/* SPDX-License-Identifier: MIT */
/*
 * Rights on their way between a space and the kernel's hand: decode, then perform.
 *
 * Dispositions are Mach's MACH_MSG_TYPE_MOVE_RECEIVE to MAKE_SEND_ONCE; what is in the kernel's
 * hand is MACH_MSG_TYPE_PORT_RECEIVE, PORT_SEND or PORT_SEND_ONCE.  Guarded by the kernel lock;
 * nothing here blocks.
 */
#ifndef IPC_RIGHT_H
#define IPC_RIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/message.h>

#include "base/assert.h"
#include "ipc/space.h"

/* By disposition, less the first: what it leaves in the kernel's hand, and of which of these types
 * (MACH_PORT_TYPE_...) an entry must be. */
#define FIRST_DISPOSITION MACH_MSG_TYPE_MOVE_RECEIVE

struct disposition {
	mach_msg_type_name_t gives;
	mach_port_type_t from;
};

extern const struct disposition dispositions[];

/* The kind of right that a disposition leaves in the kernel's hand. */
static inline mach_msg_type_name_t right_after(mach_msg_type_name_t disposition)
{
	assert(MACH_MSG_TYPE_PORT_ANY(disposition));
	return dispositions[disposition - FIRST_DISPOSITION].gives;
}

/*
 * Whether `disposition`, which is one, can be applied to the entry.  A dead name can be moved or
 * copied as if it were a send right, and moved as a send-once right.
 */
static inline bool right_can_take(const struct entry *entry, mach_msg_type_name_t disposition)
{
	return (entry->type & dispositions[disposition - FIRST_DISPOSITION].from) != 0;
}

/* As right_can_take(), of any number: KERN_SUCCESS or KERN_INVALID_RIGHT. */
kern_return_t right_check(const struct entry *entry, mach_msg_type_name_t disposition);

/* As right_take(), for what that does not do itself. */
struct port *right_take_other(struct entry *entry, mach_msg_type_name_t disposition);

/*
 * Takes what right_check() said can be taken, into the caller's hand; PORT_DEAD_NAME from a dead
 * name.  The entry is freed with its last reference; a dead-name request on it then makes a
 * port-deleted notification.  A receive right leaves its set and its state is PORT_MOVING with no
 * destination yet.
 */
static inline struct port *right_take(struct entry *entry, mach_msg_type_name_t disposition)
{
	if (disposition == MACH_MSG_TYPE_MAKE_SEND_ONCE)
		return port_make_send_once(entry->port);
	if (disposition == MACH_MSG_TYPE_COPY_SEND && entry->type != MACH_PORT_TYPE_DEAD_NAME)
		return port_add_send(entry->port);
	return right_take_other(entry, disposition);
}

/*
 * Gives the caller's right to the space, under a name of the kernel's choice or the one that it has
 * there already.  Takes the right on success only.  KERN_RESOURCE_SHORTAGE, KERN_NO_SPACE, and
 * KERN_INVALID_CAPABILITY if the space is not active.  A right to a dead port is released, and the
 * name is MACH_PORT_DEAD.  User references stay at USER_REFERENCES_MAX when they have reached it.
 * PORT_NULL and PORT_DEAD_NAME are the callers' to see to.
 */
kern_return_t right_give(struct space *space, struct port *port, mach_msg_type_name_t right,
			 uint32_t *name);

/*
 * As right_give(), under a chosen name (mach_port_insert_right): also KERN_NAME_EXISTS,
 * KERN_RIGHT_EXISTS, KERN_INVALID_VALUE, KERN_UREFS_OVERFLOW, and KERN_INVALID_CAPABILITY for a
 * dead port.
 */
kern_return_t right_give_as(struct space *space, uint32_t name, struct port *port,
			    mach_msg_type_name_t right);

/* Drops the caller's right: port_release_send() and its like by kind. */
void right_release(struct port *port, mach_msg_type_name_t right);

/* Destroys all that an entry holds, and the name: mach_port_destroy() and the end of a space. */
void right_destroy(struct entry *entry);

#endif
