/* SPDX-License-Identifier: MIT */
/*
 * Bodies of messages from a task: names become rights, addresses become memory, in the steps that
 * message_copyin.c takes.  And the way back, for what a failed copyout gave.  Guarded by the kernel
 * lock.
 */
#include "ipc/message_body.h"

#include "base/assert.h"
#include "i386/mmu/copy.h"
#include "ipc/message.h"
#include "ipc/port.h"
#include "ipc/right.h"
#include "ipc/space.h"
#include "task/task.h"
#include "thread/work.h"
#include "vm/map/copy.h"
#include "vm/map/map.h"
#include "vm/page/kernel_memory.h"
#include "vm/page/page.h"

/* ---------------- Memory ---------------- */

/* An array of names.  The message has it when this succeeds. */
static mach_msg_return_t body_copyin_bring_names(const struct part *part, user_address_t address)
{
	void *names;

	if (part->length > KERNEL_MEMORY_MAX)
		return MACH_SEND_NO_BUFFER;
	names = kernel_memory_alloc(part->length);
	if (names == NULL)
		return MACH_SEND_NO_BUFFER;
	if (!copyin(names, address, part->length)) {
		kernel_memory_free(names, part->length);
		return body_unread(MACH_SEND_INVALID_MEMORY);
	}
	*part->data = (uint32_t)names;
	return MACH_MSG_SUCCESS;
}

static mach_msg_return_t body_copyin_refusal(kern_return_t why)
{
	switch (why) {
	case KERN_SUCCESS:
		return MACH_MSG_SUCCESS;
	case KERN_RESOURCE_SHORTAGE:
		return MACH_SEND_NO_BUFFER;
	case KERN_ABORTED: /* The thread waited for a pager, or for memory. */
		return MACH_SEND_INTERRUPTED;
	default:
		return MACH_SEND_INVALID_MEMORY;
	}
}

static mach_msg_return_t body_copyin_bring_data(const struct part *part)
{
	struct copy *copy;
	kern_return_t result = copy_take(current_task()->map, part->address, part->length, &copy);

	if (result == KERN_SUCCESS)
		*part->data = (uint32_t)copy;
	return body_copyin_refusal(result);
}

/* body_copyin_bring_data() for a part that moves; nothing of the message is waited for after it. */
static mach_msg_return_t body_copyin_bring_moved(struct body *body, const struct part *part)
{
	struct copy *copy;
	kern_return_t result = copy_move(current_task()->map, part->address, part->length, &copy);

	if (result == KERN_SUCCESS) {
		*part->data = (uint32_t)copy;
		body->moved = copy;
	}
	return body_copyin_refusal(result);
}

/* The first part that moves is brought last: so its pages need not be copied. */
mach_msg_return_t body_bring_memory(struct body *body)
{
	mach_msg_return_t result = MACH_MSG_SUCCESS;
	struct part *moved = NULL;

	body->moved = NULL;
	for (uint32_t i = 0; i < body->n_parts; i++) {
		struct part *part = &body->parts[i];

		/* Each may clear most of a page. */
		pause_each_page();
		if (part->in_line)
			continue;
		part->address = *part->data;
		*part->data = 0;
		if (result != MACH_MSG_SUCCESS || part->length == 0)
			continue;
		if (part->rights)
			result = body_copyin_bring_names(part, part->address);
		else if (part->type->msgt_deallocate && moved == NULL)
			moved = part;
		else
			result = body_copyin_bring_data(part);
	}
	if (result == MACH_MSG_SUCCESS && moved != NULL)
		result = body_copyin_bring_moved(body, moved);
	return result;
}

/*
 * Unmaps the pages that hold `length` bytes, not 0, at `address`: they were there to be copied.
 * What cannot be unmapped, as that would take an entry of the map for which there is no memory,
 * stays mapped, with its contents or with zeroes: the other side has what was sent.
 */
static void body_copyin_unmap(user_address_t address, uint32_t length)
{
	user_address_t start = page_trunc(address);

	map_deallocate(current_task()->map, start, page_round(address + length) - start);
}

/* What moves is taken first: other parts may be in the same pages. */
void body_unmap_moved(const struct body *body)
{
	if (body->moved != NULL)
		copy_keep(body->moved);
	for (uint32_t i = 0; i < body->n_parts; i++) {
		const struct part *part = &body->parts[i];

		if (part->type->msgt_deallocate && part->length != 0)
			body_copyin_unmap(part->address, part->length);
		pause_each();
	}
}

/* ---------------- Rights ---------------- */

static mach_msg_return_t body_copyin_check_names(struct space *space, const struct part *part)
{
	const uint32_t *names = part_rights(part);
	uint32_t n = part_n_rights(part);

	for (uint32_t i = 0; i < n; i++) {
		if (MACH_PORT_VALID(names[i])) {
			struct entry *entry = space_find(space, names[i]);

			if (entry == NULL || right_check(entry, part->name) != KERN_SUCCESS)
				return MACH_SEND_INVALID_RIGHT;
		}
		pause_each();
	}
	return MACH_MSG_SUCCESS;
}

mach_msg_return_t body_check_rights(struct space *space, const struct body *body)
{
	mach_msg_return_t result = MACH_MSG_SUCCESS;

	for (uint32_t i = 0; i < body->n_parts && result == MACH_MSG_SUCCESS; i++) {
		if (body->parts[i].rights)
			result = body_copyin_check_names(space, &body->parts[i]);
		pause_each();
	}
	return result;
}

/*
 * Turns one name into a right, PORT_NULL and PORT_DEAD_NAME into themselves.  False, and PORT_NULL,
 * if there is no such right (any more).
 */
static bool body_copyin_take_name(struct space *space, uint32_t *name,
				  mach_msg_type_name_t disposition)
{
	struct entry *entry;

	if (!MACH_PORT_VALID(*name))
		return true;
	entry = space_find(space, *name);
	*name = (uint32_t)PORT_NULL;
	if (entry == NULL || right_check(entry, disposition) != KERN_SUCCESS)
		return false;
	*name = (uint32_t)right_take(entry, disposition);
	return true;
}

/*
 * The receive right is in the message.  One that would end up in its own queue could never be
 * received: the message is marked, and destroyed where others are queued.
 */
static void body_copyin_send_receive_right(struct message *message, struct port *port)
{
	struct port *dest = message_remote(message);

	assert(port->state == PORT_MOVING && port->destination == NULL);
	if (port_makes_cycle(port, dest))
		message->header.msgh_bits |= MACH_MSGH_BITS_CIRCULAR;
	else
		port->destination = port_reference(dest);
}

/* Takes a part's rights, or when not `good` wipes their names; returns whether all came. */
static bool body_copyin_take_names(struct space *space, struct message *message, struct part *part,
				   bool good)
{
	uint32_t *names = part_rights(part);
	uint32_t n = part_n_rights(part);

	for (uint32_t i = 0; i < n; i++) {
		if (!good)
			names[i] = (uint32_t)PORT_NULL;
		else
			good = body_copyin_take_name(space, &names[i], part->name);
		if (part->name == MACH_MSG_TYPE_MOVE_RECEIVE &&
		    port_is_valid((struct port *)names[i]))
			body_copyin_send_receive_right(message, (struct port *)names[i]);
		pause_each();
	}
	part_set_name(part, right_after(part->name));
	return good;
}

/* The message has the rights and their references; the rest of it need not be looked at. */
bool body_take_rights(struct space *space, struct message *message, struct body *body)
{
	bool good = true;

	for (uint32_t i = 0; i < body->n_parts; i++) {
		if (body->parts[i].rights)
			good = body_copyin_take_names(space, message, &body->parts[i], good);
		pause_each();
	}
	return good;
}

/* Disposes of a body with memory of the kernel's, but names that are still the sender's. */
void body_forget(struct message *message, struct body *body)
{
	for (uint32_t i = 0; i < body->n_parts; i++) {
		if (body->parts[i].rights)
			body_copyin_take_names(NULL, message, &body->parts[i], false);
		pause_each();
	}
	message_destroy_body(message);
}

/* ---------------- The way back ---------------- */

void names_take_back(struct space *space, uint32_t *names, uint32_t n, mach_msg_type_name_t kind)
{
	for (uint32_t i = 0; i < n; i++) {
		struct port *port;

		body_copyin_take_name(space, &names[i], kind);
		port = (struct port *)names[i];
		if (port_is_valid(port))
			right_release(port, kind);
		names[i] = (uint32_t)PORT_NULL;
		pause_each();
	}
}

/* Takes a part's memory out of the map; rights in it stay names, to be taken back. */
static void body_copyin_take_back_memory(const struct part *part)
{
	user_address_t address = *part->data;

	*part->data = 0;
	if (part->length == 0 || address == 0)
		return;
	if (part->rights)
		body_copyin_bring_names(part, address);
	body_copyin_unmap(address, part->length);
}

/*
 * Kinds of right are dispositions that move them, so that the message reads as if its receiver had
 * sent it on.  An array that cannot be read back, for want of memory, leaves its rights where they
 * are.
 */
void message_take_back(struct space *space, struct message *message)
{
	mach_msg_bits_t bits = message->header.msgh_bits;
	mach_port_t reply = message->header.msgh_remote_port;
	struct body_walk walk;
	struct part *part;

	names_take_back(space, &reply, 1, MACH_MSGH_BITS_REMOTE(bits));
	body_begin(&walk, message);
	while ((bits & MACH_MSGH_BITS_COMPLEX) != 0 && (part = body_next(&walk)) != NULL) {
		if (!part->in_line)
			body_copyin_take_back_memory(part);
		names_take_back(space, part_rights(part), part_n_rights(part), part->name);
	}
	message_set_ports(message, PORT_NULL, PORT_NULL);
	message_destroy(message);
}
