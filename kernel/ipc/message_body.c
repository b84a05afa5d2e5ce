/* SPDX-License-Identifier: MIT */
/* Walks over the bodies of messages: see message_body.h. */
#include "ipc/message_body.h"

#include "ipc/right.h"
#include "thread/work.h"

/* What one element of a part of rights must measure, in bits. */
#define RIGHT_BITS (8 * sizeof(mach_port_t))

static uint32_t body_round_to_word(uint32_t length)
{
	return (length + 3) & ~3u;
}

static const mach_msg_type_long_t *body_long_form(const struct part *part)
{
	return (const mach_msg_type_long_t *)part->type;
}

/*
 * Reads the descriptor at the walk's place; *huge says that the data is more than `length` can say.
 * Never looks beyond the message's end: MACH_SEND_MSG_TOO_SMALL.
 */
static inline mach_msg_return_t body_decode_type(const struct body_walk *walk, struct part *part,
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
		part->name = body_long_form(part)->msgtl_name;
		bytes = ((uint64_t)body_long_form(part)->msgtl_number *
				 body_long_form(part)->msgtl_size +
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
static inline mach_msg_return_t body_decode_data(struct body_walk *walk, const struct part *part,
						 bool huge)
{
	uint32_t left = (uint32_t)(walk->end - (char *)part->data);
	uint32_t used = sizeof(uint32_t);

	if (part->in_line) {
		if (huge || part->length > left)
			return MACH_SEND_MSG_TOO_SMALL;
		used = body_round_to_word(part->length);
	} else if (huge) {
		return MACH_SEND_INVALID_MEMORY;
	}
	if (used > left)
		return MACH_SEND_MSG_TOO_SMALL;
	walk->at = (char *)part->data + used;
	return MACH_MSG_SUCCESS;
}

/* Whether the descriptor's fields go together. */
static bool body_type_is_valid(const struct part *part)
{
	const mach_msg_type_t *type = part->type;
	uint32_t size = type->msgt_longform ? body_long_form(part)->msgtl_size : type->msgt_size;

	if (part->rights && size != RIGHT_BITS)
		return false;
	if (type->msgt_longform &&
	    (type->msgt_name != 0 || type->msgt_size != 0 || type->msgt_number != 0))
		return false;
	return !type->msgt_unused && !(type->msgt_deallocate && type->msgt_inline);
}

/* ---------------- Words ---------------- */

/*
 * Most parts of most messages are one word in line, whose descriptor is this but for its name: they
 * are looked at without taking the descriptor to pieces.
 */
#define ONE_WORD  (32u << 8 | 1u << 16 | 1u << 28)
#define WORD_SIZE (sizeof(mach_msg_type_t) + sizeof(uint32_t))

static inline bool body_is_word(const char *at, const char *end)
{
	return end - at >= (int)WORD_SIZE && (*(const uint32_t *)at & ~0xffu) == ONE_WORD;
}

static inline mach_msg_type_name_t body_name_of_word(const char *at)
{
	return *(const uint8_t *)at;
}

/* Takes the walk past words that are not rights: a word that it then stands at is one. */
static inline void body_skip_words(struct body_walk *walk)
{
	char *at = walk->at;

	while (body_is_word(at, walk->end) && !MACH_MSG_TYPE_PORT_ANY(body_name_of_word(at))) {
		at += WORD_SIZE;
		pause_each();
	}
	walk->at = at;
}

/* Takes the walk past the word that it stands at, which is a right. */
static inline void body_take_right(struct body_walk *walk, struct part *part)
{
	char *at = walk->at;

	part->type = (mach_msg_type_t *)at;
	part->name = body_name_of_word(at);
	part->length = sizeof(uint32_t);
	part->data = (uint32_t *)(at + sizeof(mach_msg_type_t));
	part->rights = true;
	part->in_line = true;
	walk->at = at + WORD_SIZE;
}

/* Whether the place for a right, a word, has none. */
static inline bool body_is_no_right(const char *at)
{
	return ((const uint32_t *)at)[1] == MACH_PORT_NULL;
}

/* Takes the walk past such a word, of which there is nothing to take but its kind. */
static inline void body_skip_no_right(struct body_walk *walk)
{
	mach_msg_type_t *type = (mach_msg_type_t *)walk->at;

	type->msgt_name = right_after(body_name_of_word(walk->at));
	walk->at += WORD_SIZE;
}

/* ---------------- Whole bodies ---------------- */

static mach_msg_return_t body_check_other(struct body_walk *walk, struct part *part)
{
	bool huge;
	mach_msg_return_t result = body_decode_type(walk, part, &huge);

	if (result != MACH_MSG_SUCCESS)
		return result;
	return body_type_is_valid(part) ? body_decode_data(walk, part, huge)
					: MACH_SEND_INVALID_TYPE;
}

/* Adds a special part, which is in its place if there is one, to what is known of the body. */
static inline void body_add_part(struct body *body, const struct part *part)
{
	body->rights |= part->rights;
	body->out_of_line |= !part->in_line;
	body->n_parts++;
}

/* What is known of a body without special parts, or that is wrong. */
static mach_msg_return_t body_refuse(struct body *body, mach_msg_return_t why)
{
	body->rights = false;
	body->out_of_line = false;
	body->n_parts = 0;
	return why;
}

/* The body has been checked, and has more special parts than there are places. */
static mach_msg_return_t body_note_all(struct message *message, struct body *body)
{
	struct part *parts = kernel_memory_alloc(body->n_parts * sizeof *parts);
	struct body_walk walk;

	if (parts == NULL)
		return body_refuse(body, MACH_SEND_NO_BUFFER);
	body->parts = parts;
	body_begin(&walk, message);
	for (uint32_t i = 0; i < body->n_parts;) {
		const struct part *part = body_next(&walk);
		const char *at = (const char *)part->type;

		if (!body_is_word(at, walk.end) || !body_is_no_right(at))
			parts[i++] = *part;
	}
	return MACH_MSG_SUCCESS;
}

mach_msg_return_t body_check(struct message *message, struct body *body)
{
	struct body_walk walk;

	body_refuse(body, MACH_MSG_SUCCESS);
	body->parts = body->few;
	if ((message->header.msgh_bits & MACH_MSGH_BITS_COMPLEX) == 0)
		return MACH_MSG_SUCCESS;
	body_begin(&walk, message);
	for (body_skip_words(&walk); walk.at < walk.end; body_skip_words(&walk)) {
		struct part *part =
			body->n_parts < BODY_FEW ? &body->few[body->n_parts] : &walk.part;
		mach_msg_return_t result = MACH_MSG_SUCCESS;

		pause_each();
		if (!body_is_word(walk.at, walk.end)) {
			result = body_check_other(&walk, part);
		} else if (body_is_no_right(walk.at)) {
			body_skip_no_right(&walk);
			body->rights = true;
			continue;
		} else {
			body_take_right(&walk, part);
		}
		if (result != MACH_MSG_SUCCESS)
			return body_refuse(body, result);
		if (part_is_special(part))
			body_add_part(body, part);
	}
	return body->n_parts > BODY_FEW ? body_note_all(message, body) : MACH_MSG_SUCCESS;
}

static void body_next_other(struct body_walk *walk)
{
	bool huge;
	mach_msg_return_t result = body_decode_type(walk, &walk->part, &huge);

	if (result == MACH_MSG_SUCCESS)
		result = body_decode_data(walk, &walk->part, huge);
	assert(result == MACH_MSG_SUCCESS);
}

struct part *body_next(struct body_walk *walk)
{
	struct part *part = &walk->part;

	for (body_skip_words(walk); walk->at < walk->end; body_skip_words(walk)) {
		pause_each();
		if (body_is_word(walk->at, walk->end)) {
			body_take_right(walk, part);
			return part;
		}
		body_next_other(walk);
		if (part_is_special(part))
			return part;
	}
	return NULL;
}

void part_set_name(struct part *part, mach_msg_type_name_t name)
{
	part->name = name;
	if (part->type->msgt_longform)
		((mach_msg_type_long_t *)part->type)->msgtl_name = (unsigned short)name;
	else
		part->type->msgt_name = name;
}
