/* SPDX-License-Identifier: MIT */
/* Walks over the bodies of messages: see message_body.h. */
#include "ipc/message_body.h"

#include "ipc/message.h"
#include "kern/assert.h"
#include "kern/work.h"

/* What one element of a part of rights must measure, in bits. */
#define RIGHT_BITS (8 * sizeof(mach_port_t))

static uint32_t round_to_word(uint32_t length)
{
	return (length + 3) & ~3u;
}

static const mach_msg_type_long_t *long_form(const struct part *part)
{
	return (const mach_msg_type_long_t *)part->type;
}

/*
 * Reads the descriptor at the walk's place; *huge says that the data is more than `length` can say.
 * Never looks beyond the message's end: MACH_SEND_MSG_TOO_SMALL.
 */
static inline mach_msg_return_t decode_type(const struct body_walk *walk, struct part *part,
					    bool *huge)
{
	mach_msg_type_t *type = (mach_msg_type_t *)walk->at;
	uint32_t left = (uint32_t)(walk->end - walk->at);

	assert(left >= sizeof *type); /* Messages are whole words. */
	part->type = type;
	part->in_line = type->msgt_inline;
	part->rights = false;
	*huge = false;
	if (type->msgt_longform) {
		uint64_t bytes;

		if (left < sizeof(mach_msg_type_long_t))
			return MACH_SEND_MSG_TOO_SMALL;
		part->name = long_form(part)->msgtl_name;
		bytes = ((uint64_t)long_form(part)->msgtl_number * long_form(part)->msgtl_size +
			 7) /
			8;
		*huge = bytes > UINT32_MAX;
		part->length = (uint32_t)bytes;
		part->data = (uint32_t *)(walk->at + sizeof(mach_msg_type_long_t));
	} else {
		part->name = type->msgt_name;
		part->length = (type->msgt_number * type->msgt_size + 7u) / 8;
		part->data = (uint32_t *)(walk->at + sizeof *type);
	}
	part->rights = MACH_MSG_TYPE_PORT_ANY(part->name);
	return MACH_MSG_SUCCESS;
}

/*
 * Takes the walk past the data.  MACH_SEND_MSG_TOO_SMALL; MACH_SEND_INVALID_MEMORY for more
 * out-of-line data than there are addresses.
 */
static inline mach_msg_return_t decode_data(struct body_walk *walk, const struct part *part,
					    bool huge)
{
	uint32_t left = (uint32_t)(walk->end - (char *)part->data);
	uint32_t used = sizeof(uint32_t);

	if (part->in_line) {
		if (huge || part->length > left)
			return MACH_SEND_MSG_TOO_SMALL;
		used = round_to_word(part->length);
	} else if (huge) {
		return MACH_SEND_INVALID_MEMORY;
	}
	if (used > left)
		return MACH_SEND_MSG_TOO_SMALL;
	walk->at = (char *)part->data + used;
	return MACH_MSG_SUCCESS;
}

/* Whether the descriptor's fields go together. */
static bool type_is_valid(const struct part *part)
{
	const mach_msg_type_t *type = part->type;
	uint32_t size = type->msgt_longform ? long_form(part)->msgtl_size : type->msgt_size;

	if (part->rights && size != RIGHT_BITS)
		return false;
	if (type->msgt_longform &&
	    (type->msgt_name != 0 || type->msgt_size != 0 || type->msgt_number != 0))
		return false;
	return !type->msgt_unused && !(type->msgt_deallocate && type->msgt_inline);
}

static void pause_sometimes(struct body_walk *walk)
{
	if (++walk->turns % 64 == 0)
		kernel_pause();
}

static mach_msg_return_t check_next(struct body_walk *walk, struct part *part)
{
	bool huge;
	mach_msg_return_t result = decode_type(walk, part, &huge);

	if (result != MACH_MSG_SUCCESS)
		return result;
	return type_is_valid(part) ? decode_data(walk, part, huge) : MACH_SEND_INVALID_TYPE;
}

mach_msg_return_t body_check(struct message *message, struct body_summary *summary)
{
	mach_msg_return_t result = MACH_MSG_SUCCESS;
	struct body_walk walk;
	struct part part;

	*summary = (struct body_summary){.rights = false};
	body_begin(&walk, message);
	while (result == MACH_MSG_SUCCESS && walk.at < walk.end) {
		result = check_next(&walk, &part);
		summary->rights |= part.rights;
		summary->out_of_line |= !part.in_line;
		summary->n_deallocate += part.type->msgt_deallocate;
		pause_sometimes(&walk);
	}
	return result;
}

bool body_next(struct body_walk *walk, struct part *part)
{
	mach_msg_return_t result;
	bool huge;

	if (walk->at >= walk->end)
		return false;
	result = decode_type(walk, part, &huge);
	if (result == MACH_MSG_SUCCESS)
		result = decode_data(walk, part, huge);
	assert(result == MACH_MSG_SUCCESS);
	pause_sometimes(walk);
	return true;
}

void part_set_name(struct part *part, mach_msg_type_name_t name)
{
	part->name = name;
	if (part->type->msgt_longform)
		((mach_msg_type_long_t *)part->type)->msgtl_name = (unsigned short)name;
	else
		part->type->msgt_name = name;
}
