/* SPDX-License-Identifier: MIT */
/* Messages part by part: see body.h. */
#include "core/body.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/dirent.h>
#include <sys/ux.h>

#include "core/ux.h"

struct body_cursor body_begin(const mach_msg_header_t *message, size_t head_size)
{
	const char *start = (const char *)message;

	return (struct body_cursor){start + head_size, start + message->msgh_size};
}

static size_t body_room(const struct body_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

/* Reads a descriptor; false at the end, or if it is not all there. */
static bool body_next_descriptor(struct body_cursor *cursor, struct body_part *part)
{
	const mach_msg_type_t *type = (const void *)cursor->at;
	const mach_msg_type_long_t *long_type = (const void *)cursor->at;
	uint32_t bits;

	if (body_room(cursor) < sizeof *type)
		return false;
	if (type->msgt_longform && body_room(cursor) < sizeof *long_type)
		return false;
	part->name = type->msgt_longform ? long_type->msgtl_name : type->msgt_name;
	part->number = type->msgt_longform ? long_type->msgtl_number : type->msgt_number;
	bits = type->msgt_longform ? long_type->msgtl_size : type->msgt_size;
	part->is_inline = type->msgt_inline;
	part->is_moved = type->msgt_deallocate;
	cursor->at += type->msgt_longform ? sizeof *long_type : sizeof *type;
	if (bits > 0 && part->number > UINT32_MAX / bits - 7)
		return false;
	part->bytes = (bits * part->number + 7) / 8;
	return true;
}

bool body_next_part(struct body_cursor *cursor, struct body_part *part)
{
	uint32_t taken;

	if (!body_next_descriptor(cursor, part))
		return false;
	taken = part->is_inline ? (part->bytes + 3) & ~3u : sizeof part->data;
	if (taken < part->bytes && part->is_inline)
		return false;
	if (taken > body_room(cursor))
		return false;
	part->data = part->is_inline ? cursor->at : *(const char *const *)(const void *)cursor->at;
	cursor->at += taken;
	return true;
}

/* ---------------- Looking ---------------- */

/* Whether a string ends within the message; what is behind its zero does not matter. */
static int body_check_string(const struct body_part *part)
{
	uint32_t length = 0;

	while (length < part->bytes && part->data[length] != '\0')
		length++;
	if (length >= PATH_MAX)
		return ENAMETOOLONG;
	return length < part->bytes ? 0 : EINVAL;
}

int body_check(const mach_msg_header_t *message)
{
	struct body_cursor cursor = body_begin(message, sizeof *message);
	uint32_t left = UX_TRANSFER_MAX;
	struct body_part part;
	int error = 0;

	while (error == 0 && cursor.at < cursor.end) {
		if (!body_next_part(&cursor, &part))
			return MIG_BAD_ARGUMENTS;
		if (part.name == MACH_MSG_TYPE_STRING_C && part.is_inline)
			error = body_check_string(&part);
		if (part.is_inline)
			continue;
		if (part.bytes > left)
			return E2BIG;
		left -= part.bytes;
	}
	return error;
}

/* ---------------- Bringing ---------------- */

int body_wire(const mach_msg_header_t *message)
{
	struct body_cursor cursor = body_begin(message, sizeof *message);
	struct body_part part;
	int error = 0;

	while (error == 0 && body_next_part(&cursor, &part)) {
		if (!part.is_inline && part.bytes > 0)
			error = ux_wire_sent((vm_address_t)part.data, part.bytes);
	}
	return error;
}

/* ---------------- Giving back ---------------- */

#define ERROR_NUMBER 0xfff /* Of a mach_msg_return_t: the rest says that it is of sending. */

bool body_is_unsent(mach_msg_return_t result)
{
	return result != MACH_MSG_SUCCESS && (result & ~(ERROR_NUMBER | MACH_MSG_MASK)) ==
						     (MACH_SEND_IN_PROGRESS & ~ERROR_NUMBER);
}

void right_release(mach_port_t name, mach_msg_type_name_t type)
{
	if (!MACH_PORT_VALID(name))
		return;
	if (type == MACH_MSG_TYPE_PORT_RECEIVE)
		mach_port_mod_refs(mach_task_self_cached(), name, MACH_PORT_RIGHT_RECEIVE, -1);
	else
		syscall_mach_port_deallocate(mach_task_self_cached(), name);
}

bool body_is_right(mach_msg_type_name_t name)
{
	return MACH_MSG_TYPE_PORT_ANY(name);
}

/* Rights that have been moved to somebody, here or there: others are still their owner's. */
static bool body_is_moved_right(mach_msg_type_name_t name)
{
	return name == MACH_MSG_TYPE_MOVE_RECEIVE || name == MACH_MSG_TYPE_MOVE_SEND ||
	       name == MACH_MSG_TYPE_MOVE_SEND_ONCE;
}

static void body_release_part(const struct body_part *part)
{
	const mach_port_t *names = (const void *)part->data;

	if (body_is_moved_right(part->name)) {
		for (uint32_t n = 0; n < part->number; n++)
			right_release(names[n], part->name);
	}
	if (!part->is_inline && part->is_moved && part->bytes > 0)
		syscall_vm_deallocate(mach_task_self_cached(), (vm_address_t)part->data,
				      part->bytes);
}

void body_release(const mach_msg_header_t *message)
{
	struct body_cursor cursor = body_begin(message, sizeof *message);
	struct body_part part;

	if ((message->msgh_bits & MACH_MSGH_BITS_COMPLEX) == 0)
		return;
	while (body_next_part(&cursor, &part))
		body_release_part(&part);
}
