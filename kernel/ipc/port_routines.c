/* SPDX-License-Identifier: MIT */
/*
 * The mach_port interface, calls that make, move and drop rights: see defs/mach/mach_port.defs.
 *
 * `space` is the named task's, with a reference of the stub's, or NULL.  A right that comes in is
 * taken on KERN_SUCCESS only; one that goes out is the reply's.  Guarded by the kernel lock;
 * nothing here blocks.  What asks and sets is in port_status.c.
 */
#include "base/assert.h"
#include "ipc/message.h"
#include "ipc/port.h"
#include "ipc/port_set.h"
#include "ipc/request.h"
#include "ipc/right.h"
#include "ipc/space.h"

#include "mach/mach_port_server.h"

/* The entry of a name in a space that may be none; else NULL and the reason in *result. */
static struct entry *port_find(struct space *space, mach_port_name_t name, kern_return_t *result)
{
	struct entry *entry;

	if (space == NULL || !space->active) {
		*result = KERN_INVALID_TASK;
		return NULL;
	}
	entry = space_find(space, name);
	*result = entry == NULL ? KERN_INVALID_NAME : KERN_SUCCESS;
	return entry;
}

/* ---------------- New ones ---------------- */

/* Takes `name`, or one of the kernel's choice for MACH_PORT_NULL. */
static kern_return_t port_take_name(struct space *space, mach_port_name_t name,
				    struct entry **entry)
{
	if (name == MACH_PORT_NULL)
		return space_take_name(space, entry);
	return space_take_chosen_name(space, name, entry);
}

/* The new port's one reference becomes that of the entry's receive right. */
static kern_return_t port_allocate_receive(struct space *space, mach_port_name_t *name)
{
	struct port *port = port_create(OBJECT_NONE, NULL, space->owner);
	kern_return_t result;

	if (port == NULL)
		return KERN_RESOURCE_SHORTAGE;
	if (*name == MACH_PORT_NULL)
		result = right_give(space, port, MACH_MSG_TYPE_PORT_RECEIVE, name);
	else
		result = right_give_as(space, *name, port, MACH_MSG_TYPE_PORT_RECEIVE);
	if (result != KERN_SUCCESS)
		port_destroy(port);
	return result;
}

static kern_return_t port_allocate_set(struct space *space, mach_port_name_t *name)
{
	struct entry *entry;
	struct port_set *set = port_set_create(MACH_PORT_NULL, space->owner);
	kern_return_t result;

	if (set == NULL)
		return KERN_RESOURCE_SHORTAGE;
	result = port_take_name(space, *name, &entry);
	if (result != KERN_SUCCESS) {
		port_set_destroy(set);
		return result;
	}
	set->name = entry->name;
	entry->type = MACH_PORT_TYPE_PORT_SET;
	entry->set = set;
	*name = entry->name;
	return KERN_SUCCESS;
}

static kern_return_t port_allocate_dead_name(struct space *space, mach_port_name_t *name)
{
	struct entry *entry;
	kern_return_t result = port_take_name(space, *name, &entry);

	if (result != KERN_SUCCESS)
		return result;
	entry->type = MACH_PORT_TYPE_DEAD_NAME;
	entry->port = PORT_NULL;
	*name = entry->name;
	return KERN_SUCCESS;
}

/* *name is the name to use, or MACH_PORT_NULL: then it becomes the kernel's choice. */
static kern_return_t port_allocate_named(struct space *space, mach_port_right_t right,
					 mach_port_name_t *name)
{
	if (space == NULL || !space->active)
		return KERN_INVALID_TASK;
	switch (right) {
	case MACH_PORT_RIGHT_RECEIVE:
		return port_allocate_receive(space, name);
	case MACH_PORT_RIGHT_PORT_SET:
		return port_allocate_set(space, name);
	case MACH_PORT_RIGHT_DEAD_NAME:
		return port_allocate_dead_name(space, name);
	default:
		return KERN_INVALID_VALUE;
	}
}

kern_return_t mach_port_allocate(struct space *space, mach_port_right_t right,
				 mach_port_name_t *name)
{
	mach_port_name_t chosen = MACH_PORT_NULL;
	kern_return_t result = port_allocate_named(space, right, &chosen);

	if (result == KERN_SUCCESS)
		*name = chosen;
	return result;
}

kern_return_t mach_port_allocate_name(struct space *space, mach_port_right_t right,
				      mach_port_name_t name)
{
	if (!MACH_PORT_VALID(name))
		return KERN_INVALID_VALUE;
	return port_allocate_named(space, right, &name);
}

/* ---------------- Other names ---------------- */

/* What `from` holds and what others know of it moves to `to`, a new entry of the same space. */
static void port_move_entry(struct entry *from, struct entry *to)
{
	bool hashed = (from->type & MACH_PORT_TYPE_SEND_RECEIVE) != 0;

	if (hashed)
		space_unhash(from);
	to->type = from->type;
	to->refs = from->refs;
	to->request = from->request;
	to->accepting = from->accepting;
	if (to->type == MACH_PORT_TYPE_PORT_SET) {
		to->set = from->set;
		to->set->name = to->name;
	} else {
		to->port = from->port;
	}
	if (hashed)
		space_hash(to);
	if ((to->type & MACH_PORT_TYPE_RECEIVE) != 0)
		to->port->name = to->name;
	if (to->request != NULL)
		to->request->entry = to;
	if (to->accepting != NULL) {
		to->accepting->accepted_entry = to;
		to->accepting->accepted_name = to->name;
	}
	from->request = NULL;
	from->accepting = NULL;
	space_free_entry(from);
}

/* The new name is taken first, so that its use by another right is told before all else. */
kern_return_t mach_port_rename(struct space *space, mach_port_name_t old_name,
			       mach_port_name_t new_name)
{
	struct entry *from, *to;
	kern_return_t result;

	if (space == NULL || !space->active)
		return KERN_INVALID_TASK;
	from = space_find(space, old_name);
	if (from == NULL)
		return KERN_INVALID_NAME;
	result = space_take_chosen_name(space, new_name, &to);
	if (result != KERN_SUCCESS)
		return result;
	port_move_entry(from, to);
	return KERN_SUCCESS;
}

/* ---------------- Fewer and more ---------------- */

kern_return_t mach_port_destroy(struct space *space, mach_port_name_t name)
{
	kern_return_t result;
	struct entry *entry = port_find(space, name, &result);

	if (entry != NULL)
		right_destroy(entry);
	return result;
}

/* Drops `count` of the user references of a send right or a dead name, which has that many. */
static void port_drop_references(struct entry *entry, uint32_t count)
{
	assert(count > 0 && count <= entry->refs);
	if (count < entry->refs) {
		entry->refs -= count;
		return;
	}
	entry->refs = 1;
	port_release_send(right_take(entry, MACH_MSG_TYPE_MOVE_SEND));
}

kern_return_t mach_port_deallocate(struct space *space, mach_port_name_t name)
{
	kern_return_t result;
	struct entry *entry = port_find(space, name, &result);

	if (entry == NULL)
		return result;
	if ((entry->type & (MACH_PORT_TYPE_SEND | MACH_PORT_TYPE_DEAD_NAME)) != 0)
		port_drop_references(entry, 1);
	else if (entry->type == MACH_PORT_TYPE_SEND_ONCE)
		port_release_send_once(right_take(entry, MACH_MSG_TYPE_MOVE_SEND_ONCE));
	else
		return KERN_INVALID_RIGHT;
	return KERN_SUCCESS;
}

/* A right that an entry has once or not at all. */
static kern_return_t port_drop_single(struct entry *entry, mach_port_right_t right,
				      mach_port_delta_t delta)
{
	if (delta == 0)
		return KERN_SUCCESS;
	if (delta != -1)
		return KERN_INVALID_VALUE;
	if (right == MACH_PORT_RIGHT_RECEIVE)
		port_release_receive(right_take(entry, MACH_MSG_TYPE_MOVE_RECEIVE));
	else
		right_destroy(entry);
	return KERN_SUCCESS;
}

/* The references of a send right or dead name change by `delta`. */
static kern_return_t port_change_references(struct entry *entry, mach_port_delta_t delta)
{
	int64_t references = (int64_t)entry->refs + delta;

	if (references < 0)
		return KERN_INVALID_VALUE;
	if (delta > 0 && references > USER_REFERENCES_MAX)
		return KERN_UREFS_OVERFLOW;
	if (delta < 0)
		port_drop_references(entry, entry->refs - (uint32_t)references);
	else
		entry->refs = (uint32_t)references;
	return KERN_SUCCESS;
}

kern_return_t mach_port_mod_refs(struct space *space, mach_port_name_t name,
				 mach_port_right_t right, mach_port_delta_t delta)
{
	kern_return_t result;
	struct entry *entry;

	if (right >= MACH_PORT_RIGHT_NUMBER)
		return KERN_INVALID_VALUE;
	entry = port_find(space, name, &result);
	if (entry == NULL)
		return result;
	if ((entry->type & MACH_PORT_TYPE(right)) == 0)
		return KERN_INVALID_RIGHT;
	if (right == MACH_PORT_RIGHT_SEND || right == MACH_PORT_RIGHT_DEAD_NAME)
		return port_change_references(entry, delta);
	return port_drop_single(entry, right, delta);
}

/* ---------------- From one task to another ---------------- */

kern_return_t mach_port_insert_right(struct space *space, mach_port_name_t name, struct port *poly,
				     mach_msg_type_name_t kind)
{
	if (space == NULL || !space->active)
		return KERN_INVALID_TASK;
	if (!MACH_PORT_VALID(name) || !MACH_MSG_TYPE_PORT_ANY_RIGHT(kind))
		return KERN_INVALID_VALUE;
	if (!port_is_valid(poly))
		return KERN_INVALID_CAPABILITY;
	return right_give_as(space, name, poly, kind);
}

kern_return_t mach_port_extract_right(struct space *space, mach_port_name_t name,
				      mach_msg_type_name_t msgt_name, struct port **poly,
				      mach_msg_type_name_t *kind)
{
	kern_return_t result;
	struct entry *entry;

	if (!MACH_MSG_TYPE_PORT_ANY(msgt_name))
		return KERN_INVALID_VALUE;
	entry = port_find(space, name, &result);
	if (entry == NULL)
		return result;
	result = right_check(entry, msgt_name);
	if (result != KERN_SUCCESS)
		return result;
	*poly = right_take(entry, msgt_name);
	*kind = right_after(msgt_name);
	return KERN_SUCCESS;
}
