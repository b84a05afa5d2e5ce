/* SPDX-License-Identifier: MIT */
/*
 * The mach_port interface, calls that ask and set: see defs/mach/mach_port.defs.
 *
 * `space` is the named task's, with a reference of the stub's, or NULL.  Guarded by the kernel
 * lock; nothing here blocks.  What makes, moves and drops rights is in port_routines.c.
 */
#include <mach/notify.h>

#include "base/assert.h"
#include "ipc/message.h"
#include "ipc/notify.h"
#include "ipc/port.h"
#include "ipc/port_set.h"
#include "ipc/request.h"
#include "ipc/space.h"
#include "thread/work.h"
#include "vm/map/copy.h"
#include "vm/page/kernel_memory.h"

#include "mach/assay_server.h"
#include "mach/mach_port_server.h"

/* The entry of a name in a space that may be none, with a right of one of the kinds in `types`
 * (MACH_PORT_TYPE_...). */
static kern_return_t status_find(struct space *space, mach_port_name_t name, mach_port_type_t types,
				 struct entry **entry)
{
	if (space == NULL || !space->active)
		return KERN_INVALID_TASK;
	*entry = space_find(space, name);
	if (*entry == NULL)
		return KERN_INVALID_NAME;
	return ((*entry)->type & types) != 0 ? KERN_SUCCESS : KERN_INVALID_RIGHT;
}

/* The port whose receive right the name denotes. */
static kern_return_t port_status_find_receive(struct space *space, mach_port_name_t name,
					      struct port **port)
{
	struct entry *entry;
	kern_return_t result = status_find(space, name, MACH_PORT_TYPE_RECEIVE, &entry);

	if (result == KERN_SUCCESS)
		*port = entry->port;
	return result;
}

/* ---------------- What names denote ---------------- */

static mach_port_type_t port_status_type_of(const struct entry *entry)
{
	mach_port_type_t type = entry->type;

	if ((type & MACH_PORT_TYPE_PORT_RIGHTS) != 0 && entry->request != NULL)
		type |= MACH_PORT_TYPE_DNREQUEST;
	if (entry->accepting != NULL)
		type |= MACH_PORT_TYPE_MAREQUEST;
	return type;
}

kern_return_t mach_port_type(struct space *space, mach_port_name_t name, mach_port_type_t *ptype)
{
	struct entry *entry;

	if (space == NULL || !space->active)
		return KERN_INVALID_TASK;
	entry = space_find(space, name);
	if (entry == NULL)
		return KERN_INVALID_NAME;
	*ptype = port_status_type_of(entry);
	return KERN_SUCCESS;
}

/* An array in kernel memory that is to be filled with `n` words and sent; NULL without memory. */
static uint32_t *port_status_words_alloc(uint32_t n)
{
	if (n > KERNEL_MEMORY_MAX / sizeof(uint32_t))
		return NULL;
	return kernel_memory_alloc(n * sizeof(uint32_t));
}

/* Gives the array back and leaves a copy of it, which goes out in the place of its address. */
static struct copy *port_status_words_copy(uint32_t *words, uint32_t n)
{
	struct copy *copy = copy_of_kernel(words, n * sizeof(uint32_t));

	kernel_memory_free(words, n * sizeof(uint32_t));
	return copy;
}

/* Fills both arrays, which have room for all names. */
static void port_status_list_names(struct space *space, uint32_t *names, uint32_t *types)
{
	struct entry *entry = space_next(space, 0);
	uint32_t n = 0;

	while (entry != NULL) {
		assert(n < space->n_entries);
		names[n] = entry->name;
		types[n++] = port_status_type_of(entry);
		pause_each();
		entry = space_next(space, entry->name + 1);
	}
	assert(n == space->n_entries);
}

/* The two lists as copies, both or none. */
static kern_return_t port_status_copy_names(struct space *space, struct copy **names,
					    struct copy **types)
{
	uint32_t n = space->n_entries;
	uint32_t *words = port_status_words_alloc(n);
	uint32_t *more;

	if (words == NULL)
		return KERN_RESOURCE_SHORTAGE;
	more = port_status_words_alloc(n);
	if (more == NULL) {
		kernel_memory_free(words, n * sizeof(uint32_t));
		return KERN_RESOURCE_SHORTAGE;
	}
	port_status_list_names(space, words, more);
	*names = port_status_words_copy(words, n);
	*types = port_status_words_copy(more, n);
	if (*names != NULL && *types != NULL)
		return KERN_SUCCESS;
	if (*names != NULL)
		copy_destroy(*names);
	if (*types != NULL)
		copy_destroy(*types);
	return KERN_RESOURCE_SHORTAGE;
}

kern_return_t mach_port_names(struct space *space, mach_port_name_array_t *names,
			      mach_msg_type_number_t *n_names, mach_port_type_array_t *types,
			      mach_msg_type_number_t *n_types)
{
	struct copy *name_copy = NULL, *type_copy = NULL;
	kern_return_t result = KERN_SUCCESS;
	uint32_t n;

	if (space == NULL || !space->active)
		return KERN_INVALID_TASK;
	n = space->n_entries;
	if (n > 0)
		result = port_status_copy_names(space, &name_copy, &type_copy);
	if (result != KERN_SUCCESS)
		return result;
	*names = (mach_port_name_array_t)name_copy;
	*types = (mach_port_type_array_t)type_copy;
	*n_names = n;
	*n_types = n;
	return KERN_SUCCESS;
}

kern_return_t mach_port_get_refs(struct space *space, mach_port_name_t name,
				 mach_port_right_t right, mach_port_urefs_t *refs)
{
	struct entry *entry;
	kern_return_t result;

	if (right >= MACH_PORT_RIGHT_NUMBER)
		return KERN_INVALID_VALUE;
	result = status_find(space, name, MACH_PORT_TYPE_ALL_RIGHTS, &entry);
	if (result != KERN_SUCCESS)
		return result;
	if ((entry->type & MACH_PORT_TYPE(right)) == 0)
		*refs = 0;
	else if (right == MACH_PORT_RIGHT_SEND || right == MACH_PORT_RIGHT_DEAD_NAME)
		*refs = entry->refs;
	else
		*refs = 1;
	return KERN_SUCCESS;
}

/* ---------------- Receive rights ---------------- */

/* The status has no padding, all of it is written. */
kern_return_t mach_port_get_receive_status(struct space *space, mach_port_name_t name,
					   mach_port_status_t *status)
{
	struct port *port;
	kern_return_t result = port_status_find_receive(space, name, &port);

	if (result != KERN_SUCCESS)
		return result;
	*status = (mach_port_status_t){
		.mps_pset = port->set == NULL ? MACH_PORT_NULL : port->set->name,
		.mps_seqno = port->seqno,
		.mps_mscount = port->make_send_count,
		.mps_qlimit = port->limit,
		.mps_msgcount = port->n_messages,
		.mps_sorights = port->send_once_rights,
		.mps_srights = port->send_rights > 0,
		.mps_pdrequest = port->port_destroyed != PORT_NULL,
		.mps_nsrequest = port->no_senders != PORT_NULL,
	};
	return KERN_SUCCESS;
}

/* Senders that wait look again whether there is room now. */
kern_return_t mach_port_set_qlimit(struct space *space, mach_port_name_t name,
				   mach_port_msgcount_t qlimit)
{
	struct port *port;
	kern_return_t result;

	if (qlimit > PORT_LIMIT_MAX)
		return KERN_INVALID_VALUE;
	result = port_status_find_receive(space, name, &port);
	if (result != KERN_SUCCESS)
		return result;
	port->limit = qlimit;
	if (port->n_messages < qlimit)
		thread_wake_all(&port->senders);
	return KERN_SUCCESS;
}

kern_return_t mach_port_set_mscount(struct space *space, mach_port_name_t name,
				    mach_port_mscount_t mscount)
{
	struct port *port;
	kern_return_t result = port_status_find_receive(space, name, &port);

	if (result == KERN_SUCCESS)
		port->make_send_count = mscount;
	return result;
}

kern_return_t mach_port_set_seqno(struct space *space, mach_port_name_t name,
				  mach_port_seqno_t seqno)
{
	struct port *port;
	kern_return_t result = port_status_find_receive(space, name, &port);

	if (result == KERN_SUCCESS)
		port->seqno = seqno;
	return result;
}

static kern_return_t port_status_set_payload(struct space *space, mach_port_name_t name,
					     bool has_payload, natural_t payload)
{
	struct port *port;
	kern_return_t result = port_status_find_receive(space, name, &port);

	if (result == KERN_SUCCESS) {
		port->has_payload = has_payload;
		port->payload = payload;
	}
	return result;
}

kern_return_t mach_port_set_protected_payload(struct space *space, mach_port_name_t name,
					      natural_t payload)
{
	return port_status_set_payload(space, name, true, payload);
}

kern_return_t mach_port_clear_protected_payload(struct space *space, mach_port_name_t name)
{
	return port_status_set_payload(space, name, false, 0);
}

kern_return_t port_one_way_counts(struct space *space, mach_port_name_t name, boolean_t counts)
{
	struct port *port;
	kern_return_t result = port_status_find_receive(space, name, &port);

	if (result == KERN_SUCCESS)
		port->one_way_counts = counts != 0;
	return result;
}

/*
 * There are no devices that programs serve by such ports: the mark has no effect, and is not kept.
 * The caller holds the host's control port, or `host` is NULL.
 */
#define KTYPE_NONE        0
#define KTYPE_USER_DEVICE 28

kern_return_t mach_port_set_ktype(struct host *host, struct space *space, mach_port_name_t name,
				  mach_port_right_t right, natural_t ktype)
{
	struct entry *entry;
	kern_return_t result;

	if (host == NULL)
		return KERN_INVALID_HOST;
	if (space == NULL || !space->active)
		return KERN_INVALID_TASK;
	if (ktype != KTYPE_NONE && ktype != KTYPE_USER_DEVICE)
		return KERN_INVALID_ARGUMENT;
	if (right > MACH_PORT_RIGHT_SEND_ONCE)
		return KERN_INVALID_RIGHT;
	result = status_find(space, name, MACH_PORT_TYPE(right), &entry);
	if (result != KERN_SUCCESS)
		return result;
	return entry->port->kind == OBJECT_NONE ? KERN_SUCCESS : KERN_INVALID_ARGUMENT;
}

/* ---------------- Port sets ---------------- */

/*
 * Fills `names`, which has room for all of the set's members.  They are looked for in the space,
 * which stays as it is in a pause: on the set's lists a message that comes meanwhile moves them.
 */
static void port_status_list_members(struct space *space, const struct port_set *set,
				     uint32_t *names)
{
	uint32_t n = 0;

	for (struct entry *entry = space_next(space, 0); entry != NULL;) {
		if ((entry->type & MACH_PORT_TYPE_RECEIVE) != 0 && entry->port->set == set)
			names[n++] = entry->name;
		pause_each();
		entry = space_next(space, entry->name + 1);
	}
	assert(n == set->n_members);
}

kern_return_t mach_port_get_set_status(struct space *space, mach_port_name_t name,
				       mach_port_name_array_t *members,
				       mach_msg_type_number_t *n_members)
{
	struct copy *copy = NULL;
	struct entry *entry;
	kern_return_t result = status_find(space, name, MACH_PORT_TYPE_PORT_SET, &entry);
	uint32_t n;

	if (result != KERN_SUCCESS)
		return result;
	n = entry->set->n_members;
	if (n > 0) {
		uint32_t *names = port_status_words_alloc(n);

		if (names == NULL)
			return KERN_RESOURCE_SHORTAGE;
		port_status_list_members(space, entry->set, names);
		copy = port_status_words_copy(names, n);
		if (copy == NULL)
			return KERN_RESOURCE_SHORTAGE;
	}
	*members = (mach_port_name_array_t)copy;
	*n_members = n;
	return KERN_SUCCESS;
}

kern_return_t mach_port_move_member(struct space *space, mach_port_name_t member,
				    mach_port_name_t after)
{
	struct port *port;
	struct entry *entry;
	kern_return_t result = port_status_find_receive(space, member, &port);

	if (result != KERN_SUCCESS)
		return result;
	if (after == MACH_PORT_NULL) {
		if (port->set == NULL)
			return KERN_NOT_IN_SET;
		port_set_remove(port);
		return KERN_SUCCESS;
	}
	result = status_find(space, after, MACH_PORT_TYPE_PORT_SET, &entry);
	if (result == KERN_SUCCESS && port->set != entry->set)
		port_set_add(entry->set, port);
	return result;
}

/* ---------------- Notifications ---------------- */

/* Each takes the send-once right `notify` on success, and leaves that of the request which it
 * replaces, or PORT_NULL, in *previous. */

static kern_return_t port_status_request_port_destroyed(struct space *space, mach_port_name_t name,
							struct port *notify, struct port **previous)
{
	struct port *port;
	kern_return_t result = port_status_find_receive(space, name, &port);

	if (result == KERN_SUCCESS) {
		*previous = port->port_destroyed;
		port->port_destroyed = notify;
	}
	return result;
}

/* With no senders left and at least `sync` send rights made there is nothing to wait for. */
static kern_return_t port_status_request_no_senders(struct space *space, mach_port_name_t name,
						    mach_port_mscount_t sync, struct port *notify,
						    struct port **previous)
{
	struct port *port;
	kern_return_t result = port_status_find_receive(space, name, &port);

	if (result != KERN_SUCCESS)
		return result;
	*previous = port->no_senders;
	port->no_senders = notify;
	if (port->send_rights == 0 && sync <= port->make_send_count && notify != PORT_NULL) {
		port->no_senders = PORT_NULL;
		notify_no_senders(notify, port->make_send_count);
	}
	return KERN_SUCCESS;
}

/* The name is dead already: the notification goes out at once. */
static kern_return_t port_status_notify_dead_now(struct entry *entry, struct port *notify)
{
	struct message *message;

	if (entry->refs >= USER_REFERENCES_MAX)
		return KERN_UREFS_OVERFLOW;
	message = notify_message();
	if (message == NULL)
		return KERN_RESOURCE_SHORTAGE;
	entry->refs++;
	notify_dead_name(notify, message, entry->name);
	return KERN_SUCCESS;
}

static kern_return_t status_request_dead_name(struct space *space, mach_port_name_t name,
					      bool at_once, struct port *notify,
					      struct port **previous)
{
	struct entry *entry;
	kern_return_t result = status_find(space, name, MACH_PORT_TYPE_PORT_OR_DEAD, &entry);

	if (result != KERN_SUCCESS)
		return result;
	if ((entry->type & MACH_PORT_TYPE_PORT_RIGHTS) != 0)
		return request_set(entry, space->owner, notify, previous);
	if (!at_once || notify == PORT_NULL)
		return KERN_INVALID_ARGUMENT;
	*previous = PORT_NULL;
	return port_status_notify_dead_now(entry, notify);
}

kern_return_t mach_port_request_notification(struct space *space, mach_port_name_t name,
					     mach_msg_id_t id, mach_port_mscount_t sync,
					     struct port *notify, struct port **previous)
{
	if (space == NULL || !space->active)
		return KERN_INVALID_TASK;
	if (notify == PORT_DEAD_NAME)
		return KERN_INVALID_CAPABILITY;
	switch (id) {
	case MACH_NOTIFY_PORT_DESTROYED:
		if (sync != 0)
			return KERN_INVALID_VALUE;
		return port_status_request_port_destroyed(space, name, notify, previous);
	case MACH_NOTIFY_NO_SENDERS:
		return port_status_request_no_senders(space, name, sync, notify, previous);
	case MACH_NOTIFY_DEAD_NAME:
		return status_request_dead_name(space, name, sync != 0, notify, previous);
	default:
		return KERN_INVALID_VALUE;
	}
}
