/* SPDX-License-Identifier: MIT */
/*
 * Rights on their way between a space and the kernel's hand: see right.h.
 *
 * A right moves with its reference: from the entry to the hand or back, no count of the port's
 * changes.  Where an entry keeps what it gives a right is made, and where it has already what it
 * gets one is released.
 */
#include "ipc/right.h"

#include <mach/port.h>

#include "ipc/port.h"
#include "ipc/port_set.h"
#include "ipc/request.h"

const struct disposition dispositions[] = {
	{MACH_MSG_TYPE_PORT_RECEIVE, MACH_PORT_TYPE_RECEIVE},
	{MACH_MSG_TYPE_PORT_SEND, MACH_PORT_TYPE_SEND | MACH_PORT_TYPE_DEAD_NAME},
	{MACH_MSG_TYPE_PORT_SEND_ONCE, MACH_PORT_TYPE_SEND_ONCE | MACH_PORT_TYPE_DEAD_NAME},
	{MACH_MSG_TYPE_PORT_SEND, MACH_PORT_TYPE_SEND | MACH_PORT_TYPE_DEAD_NAME},
	{MACH_MSG_TYPE_PORT_SEND, MACH_PORT_TYPE_RECEIVE},
	{MACH_MSG_TYPE_PORT_SEND_ONCE, MACH_PORT_TYPE_RECEIVE},
};

_Static_assert(MACH_MSG_TYPE_MAKE_SEND_ONCE - FIRST_DISPOSITION + 1 ==
		       sizeof dispositions / sizeof dispositions[0],
	       "one line each");

kern_return_t right_check(const struct entry *entry, mach_msg_type_name_t disposition)
{
	assert(entry->type != 0 && !space_entry_is_stale(entry));
	if (!MACH_MSG_TYPE_PORT_ANY(disposition) || !right_can_take(entry, disposition))
		return KERN_INVALID_RIGHT;
	return KERN_SUCCESS;
}

/* ---------------- From the space ---------------- */

/* Takes the entry out of use, which had its last right taken to the caller's hand. */
static void right_drop_entry(struct entry *entry)
{
	if (entry->request != NULL)
		request_name_deleted(entry);
	if ((entry->type & MACH_PORT_TYPE_SEND_RECEIVE) != 0)
		space_unhash(entry);
	space_free_entry(entry);
}

/* Takes one user reference of a dead name into a message: there is no port any more. */
static struct port *right_take_dead_name(struct entry *entry)
{
	if (--entry->refs == 0)
		space_free_entry(entry);
	return PORT_DEAD_NAME;
}

/* The last user reference is the entry's right itself; the others are made into new ones. */
static struct port *right_take_send(struct entry *entry)
{
	struct port *port = entry->port;

	if (entry->refs > 1) {
		entry->refs--;
		return port_copy_send(port);
	}
	if (entry->type == MACH_PORT_TYPE_SEND)
		right_drop_entry(entry);
	else
		entry->type = MACH_PORT_TYPE_RECEIVE;
	return port;
}

/* Send-once rights are not in the hash. */
static struct port *right_take_send_once(struct entry *entry)
{
	struct port *port = entry->port;

	if (entry->request != NULL)
		request_name_deleted(entry);
	space_free_entry(entry);
	return port;
}

/* What stays of the entry is its send right. */
static struct port *right_take_receive(struct entry *entry)
{
	struct port *port = entry->port;

	port_clear_receiver(port);
	if (entry->type == MACH_PORT_TYPE_RECEIVE)
		right_drop_entry(entry);
	else
		entry->type = MACH_PORT_TYPE_SEND;
	return port;
}

struct port *right_take_other(struct entry *entry, mach_msg_type_name_t disposition)
{
	assert(MACH_MSG_TYPE_PORT_ANY(disposition) && right_can_take(entry, disposition));
	if (entry->type == MACH_PORT_TYPE_SEND_ONCE)
		return right_take_send_once(entry);
	if (disposition == MACH_MSG_TYPE_COPY_SEND)
		return PORT_DEAD_NAME;
	if (disposition == MACH_MSG_TYPE_MAKE_SEND)
		return port_make_send(entry->port);
	if (disposition == MACH_MSG_TYPE_MOVE_RECEIVE)
		return right_take_receive(entry);
	if (entry->type == MACH_PORT_TYPE_DEAD_NAME)
		return right_take_dead_name(entry);
	return right_take_send(entry);
}

/* ---------------- To the space ---------------- */

/* The entry has send rights already: the caller's right is one user reference more, if that is
 * possible, and released. */
static void right_add_reference(struct entry *entry, struct port *port)
{
	if (entry->refs < USER_REFERENCES_MAX)
		entry->refs++;
	assert(port->send_rights > 1 && port->refs > 1);
	port->send_rights--;
	port->refs--;
}

/* Takes the caller's right into an entry that has send or receive rights to its port. */
static void right_add_to_entry(struct entry *entry, struct port *port, mach_msg_type_name_t right)
{
	if (right == MACH_MSG_TYPE_PORT_RECEIVE) {
		assert(entry->type == MACH_PORT_TYPE_SEND);
		entry->type = MACH_PORT_TYPE_SEND_RECEIVE;
		port_set_receiver(port, entry->space, entry->name);
	} else if (entry->type == MACH_PORT_TYPE_RECEIVE) {
		entry->type = MACH_PORT_TYPE_SEND_RECEIVE;
	} else {
		right_add_reference(entry, port);
	}
}

/* Takes the caller's right into a new entry. */
static inline void right_fill_entry(struct entry *entry, struct port *port,
				    mach_msg_type_name_t right)
{
	entry->port = port;
	if (right == MACH_MSG_TYPE_PORT_SEND_ONCE) {
		entry->type = MACH_PORT_TYPE_SEND_ONCE;
		return;
	}
	if (right == MACH_MSG_TYPE_PORT_SEND) {
		entry->type = MACH_PORT_TYPE_SEND;
	} else {
		assert(right == MACH_MSG_TYPE_PORT_RECEIVE);
		entry->type = MACH_PORT_TYPE_RECEIVE;
		port_set_receiver(port, entry->space, entry->name);
	}
	space_hash(entry);
}

/* Takes the right and its reference on success. */
kern_return_t right_give(struct space *space, struct port *port, mach_msg_type_name_t right,
			 uint32_t *name)
{
	struct entry *entry = NULL;
	kern_return_t result;

	assert(port_is_valid(port));
	if (!space->active)
		return KERN_INVALID_CAPABILITY;
	if (!port_is_alive(port)) {
		right_release(port, right);
		*name = MACH_PORT_DEAD;
		return KERN_SUCCESS;
	}
	if (right != MACH_MSG_TYPE_PORT_SEND_ONCE)
		entry = space_find_port(space, port);
	if (entry != NULL) {
		right_add_to_entry(entry, port, right);
	} else {
		result = space_take_name(space, &entry);
		if (result != KERN_SUCCESS)
			return result;
		right_fill_entry(entry, port, right);
	}
	*name = entry->name;
	return KERN_SUCCESS;
}

/* Takes the right and its reference on success. */
kern_return_t right_give_as(struct space *space, uint32_t name, struct port *port,
			    mach_msg_type_name_t right)
{
	struct entry *entry = NULL;
	kern_return_t result;

	assert(port_is_valid(port));
	if (!MACH_PORT_VALID(name))
		return KERN_INVALID_VALUE;
	if (!space->active || !port_is_alive(port))
		return KERN_INVALID_CAPABILITY;
	if (right != MACH_MSG_TYPE_PORT_SEND_ONCE)
		entry = space_find_port(space, port);
	if (entry != NULL) {
		if (entry->name != name)
			return KERN_RIGHT_EXISTS;
		if (right == MACH_MSG_TYPE_PORT_SEND && entry->refs == USER_REFERENCES_MAX)
			return KERN_UREFS_OVERFLOW;
		right_add_to_entry(entry, port, right);
		return KERN_SUCCESS;
	}
	result = space_take_chosen_name(space, name, &entry);
	if (result == KERN_SUCCESS)
		right_fill_entry(entry, port, right);
	return result;
}

/* ---------------- Disposal ---------------- */

/* Takes the right and its reference. */
void right_release(struct port *port, mach_msg_type_name_t right)
{
	switch (right) {
	case MACH_MSG_TYPE_PORT_SEND:
		port_release_send(port);
		break;
	case MACH_MSG_TYPE_PORT_SEND_ONCE:
		port_release_send_once(port);
		break;
	default:
		assert(right == MACH_MSG_TYPE_PORT_RECEIVE);
		port_release_receive(port);
	}
}

/* Disposes of the entry's rights and their references. */
static void right_destroy_all(struct entry *entry)
{
	struct port *port = entry->port;
	uint32_t type = entry->type;

	right_drop_entry(entry);
	if ((type & MACH_PORT_TYPE_SEND_ONCE) != 0)
		port_release_send_once(port);
	if ((type & MACH_PORT_TYPE_SEND) != 0)
		port_release_send(port);
	if ((type & MACH_PORT_TYPE_RECEIVE) != 0) {
		port_clear_receiver(port);
		port_release_receive(port);
	}
}

void right_destroy(struct entry *entry)
{
	assert(entry->type != 0 && !space_entry_is_stale(entry));
	if (entry->type == MACH_PORT_TYPE_DEAD_NAME) {
		space_free_entry(entry);
	} else if (entry->type == MACH_PORT_TYPE_PORT_SET) {
		struct port_set *set = entry->set;

		space_free_entry(entry);
		port_set_destroy(set);
	} else {
		right_destroy_all(entry);
	}
}
