/* SPDX-License-Identifier: MIT */
/* mach_msg_destroy(): gives up what a message has brought, whatever that is. */
#include "mach.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a message's body. */
struct part {
	mach_msg_type_name_t name;
	uint32_t number;
	uint32_t bytes; /* Of the data. */
	bool is_inline;
	bool is_moved; /* Of memory that is not in the message: it is the receiver's. */
	void *data;
};

/* From where on there are parts, and where they end. */
struct rest {
	char *at;
	char *end;
};

static size_t room(const struct rest *rest)
{
	return (size_t)(rest->end - rest->at);
}

static bool take_type(struct rest *rest, struct part *part)
{
	const mach_msg_type_t *type = (const void *)rest->at;
	const mach_msg_type_long_t *long_type = (const void *)rest->at;
	bool is_long = room(rest) >= sizeof *type && type->msgt_longform;
	size_t size = is_long ? sizeof *long_type : sizeof *type;
	uint64_t bits;

	if (room(rest) < size)
		return false;
	part->name = is_long ? long_type->msgtl_name : type->msgt_name;
	part->number = is_long ? long_type->msgtl_number : type->msgt_number;
	part->is_inline = type->msgt_inline;
	part->is_moved = type->msgt_deallocate;
	bits = (uint64_t)part->number * (is_long ? long_type->msgtl_size : type->msgt_size);
	part->bytes = (uint32_t)((bits + 7) / 8);
	rest->at += size;
	return (bits + 7) / 8 <= UINT32_MAX - 3;
}

/* The next part; false at the end. */
static bool take_part(struct rest *rest, struct part *part)
{
	uint32_t size;

	if (!take_type(rest, part))
		return false;
	size = part->is_inline ? (part->bytes + 3) & ~3u : sizeof part->data;
	if (size > room(rest))
		return false;
	part->data = part->is_inline ? rest->at : *(void **)(void *)rest->at;
	rest->at += size;
	return true;
}

static void destroy_right(mach_port_t name, mach_msg_type_name_t type)
{
	if (!MACH_PORT_VALID(name))
		return;
	if (type == MACH_MSG_TYPE_PORT_RECEIVE)
		mach_port_mod_refs(mach_task_self_cached(), name, MACH_PORT_RIGHT_RECEIVE, -1);
	else if (type == MACH_MSG_TYPE_PORT_SEND || type == MACH_MSG_TYPE_PORT_SEND_ONCE)
		syscall_mach_port_deallocate(mach_task_self_cached(), name);
}

static void destroy_part(const struct part *part)
{
	const mach_port_t *names = part->data;

	if (MACH_MSG_TYPE_PORT_ANY(part->name)) {
		for (uint32_t n = 0; n < part->number; n++)
			destroy_right(names[n], part->name);
	}
	if (!part->is_inline && part->is_moved && part->bytes > 0)
		syscall_vm_deallocate(mach_task_self_cached(), (vm_address_t)part->data,
				      part->bytes);
}

void mach_msg_destroy(mach_msg_header_t *message)
{
	struct rest rest = {(char *)(message + 1), (char *)message + message->msgh_size};
	struct part part;

	destroy_right(message->msgh_remote_port, MACH_MSGH_BITS_REMOTE(message->msgh_bits));
	message->msgh_remote_port = MACH_PORT_NULL;
	if ((message->msgh_bits & MACH_MSGH_BITS_COMPLEX) == 0)
		return;
	while (take_part(&rest, &part))
		destroy_part(&part);
}
