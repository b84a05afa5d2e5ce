/* SPDX-License-Identifier: MIT */
/* links: ipc/message_body.c */
/* Walks over the bodies of messages (ipc/message_body.h), valid ones and ones that lie. */
#include "ipc/message_body.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "host/kernel.h"
#include "ipc/message.h"
#include "ipc/right.h"
#include "thread/work.h"

#define WORDS  64
#define BODIES 200000

uint32_t pause_turns_left = 1;

void kernel_pause(void)
{
}

/* What message_body.c knows of rights: the kinds that are moved stay what they are. */
const struct disposition dispositions[] = {
	{MACH_MSG_TYPE_PORT_RECEIVE, 0},   {MACH_MSG_TYPE_PORT_SEND, 0},
	{MACH_MSG_TYPE_PORT_SEND_ONCE, 0}, {MACH_MSG_TYPE_PORT_SEND, 0},
	{MACH_MSG_TYPE_PORT_SEND, 0},      {MACH_MSG_TYPE_PORT_SEND_ONCE, 0},
};

static bool no_memory;

void *(kernel_memory_alloc)(uint32_t size)
{
	return no_memory ? NULL : malloc(size);
}

void kernel_memory_free(void *memory, uint32_t size)
{
	(void)size;
	free(memory);
}

/* A message with room for WORDS words of body, and nothing behind them that one may look at. */
static struct message *new_message(uint32_t words)
{
	uint32_t size = (uint32_t)(sizeof(mach_msg_header_t) + words * sizeof(uint32_t));
	static _Alignas(16) char memory[sizeof(struct message) + WORDS * sizeof(uint32_t)];
	struct message *message = (struct message *)memory;

	memset(memory, 0, sizeof memory);
	message->magic = MESSAGE_MAGIC;
	message->room = size;
	message->header.msgh_bits = MACH_MSGH_BITS_COMPLEX;
	message->header.msgh_size = size;
	return message;
}

static uint32_t *body_of(struct message *message)
{
	return (uint32_t *)(&message->header + 1);
}

static mach_msg_type_t *put_type(uint32_t *at, unsigned name, unsigned size, unsigned number)
{
	mach_msg_type_t *type = (mach_msg_type_t *)at;

	*type = (mach_msg_type_t){
		.msgt_name = name,
		.msgt_size = size,
		.msgt_number = number,
		.msgt_inline = 1,
	};
	return type;
}

static mach_msg_type_long_t *put_long(uint32_t *at, unsigned name, unsigned size, unsigned number)
{
	mach_msg_type_long_t *type = (mach_msg_type_long_t *)at;

	*type = (mach_msg_type_long_t){
		.msgtl_header = {.msgt_longform = 1},
		.msgtl_name = (unsigned short)name,
		.msgtl_size = (unsigned short)size,
		.msgtl_number = number,
	};
	return type;
}

TEST(body_of_nothing)
{
	struct body body;

	EXPECT_EQ(body_check(new_message(0), &body), MACH_MSG_SUCCESS);
	EXPECT(!body.rights && !body.out_of_line);
}

/* Words that would be a wrong descriptor are data in a message that is not complex. */
TEST(body_without_descriptors)
{
	struct message *message = new_message(2);
	struct body body;

	memset(body_of(message), 0xff, 2 * sizeof(uint32_t));
	EXPECT_NE(body_check(message, &body), MACH_MSG_SUCCESS);
	EXPECT(!body_is_special(&body));
	message->header.msgh_bits = 0;
	EXPECT_EQ(body_check(message, &body), MACH_MSG_SUCCESS);
	EXPECT(!body_is_special(&body));
}

TEST(body_data_rounds_up_to_words)
{
	struct message *message = new_message(6);
	struct body_walk walk;
	struct body body;
	struct part *part;

	put_type(body_of(message), MACH_MSG_TYPE_CHAR, 8, 5);
	put_type(body_of(message) + 3, MACH_MSG_TYPE_INTEGER_32, 32, 0);
	put_type(body_of(message) + 4, MACH_MSG_TYPE_MAKE_SEND, 32, 1);
	EXPECT_EQ(body_check(message, &body), MACH_MSG_SUCCESS);
	EXPECT(body.rights && !body.out_of_line);
	body_begin(&walk, message);
	part = body_next(&walk);
	EXPECT(part != NULL && part->data == body_of(message) + 5);
	EXPECT(body_next(&walk) == NULL);
	EXPECT(walk.at == walk.end);
}

TEST(body_rights_and_memory)
{
	struct message *message = new_message(7);
	struct body_walk walk;
	struct body body;
	struct part *part;

	put_type(body_of(message), MACH_MSG_TYPE_MAKE_SEND, 32, 2);
	put_long(body_of(message) + 3, MACH_MSG_TYPE_BYTE, 8, 4096)->msgtl_header.msgt_deallocate =
		1;
	EXPECT_EQ(body_check(message, &body), MACH_MSG_SUCCESS);
	EXPECT(body.rights && body.out_of_line);
	EXPECT_EQ(body.n_parts, 2);
	EXPECT_EQ(body.parts[1].length, 4096);
	body_begin(&walk, message);
	part = body_next(&walk);
	EXPECT_EQ(part_n_rights(part), 2);
	part_set_name(part, MACH_MSG_TYPE_PORT_SEND);
	EXPECT_EQ(part->type->msgt_name, MACH_MSG_TYPE_PORT_SEND);
	part = body_next(&walk);
	EXPECT_EQ(part->length, 4096);
	EXPECT(part->data == body_of(message) + 6 && !part->in_line);
	EXPECT_EQ(part_n_rights(part), 0);
	EXPECT(body_next(&walk) == NULL);
}

/* Where there may be a right and is none nothing has to be taken, and its kind is set at once. */
TEST(body_places_without_rights)
{
	struct message *message = new_message(6);
	struct body body;

	put_type(body_of(message), MACH_MSG_TYPE_MAKE_SEND_ONCE, 32, 1);
	put_type(body_of(message) + 2, MACH_MSG_TYPE_COPY_SEND, 32, 1);
	body_of(message)[3] = 7;
	put_type(body_of(message) + 4, MACH_MSG_TYPE_MOVE_SEND, 32, 1);
	EXPECT_EQ(body_check(message, &body), MACH_MSG_SUCCESS);
	EXPECT(body.rights && !body.out_of_line);
	EXPECT_EQ(body.n_parts, 1);
	EXPECT(body.parts[0].data == body_of(message) + 3);
	EXPECT_EQ(((mach_msg_type_t *)body_of(message))->msgt_name, MACH_MSG_TYPE_PORT_SEND_ONCE);
	EXPECT_EQ(body.parts[0].type->msgt_name, MACH_MSG_TYPE_COPY_SEND);
}

TEST(body_of_many_parts)
{
	struct message *message = new_message(WORDS);
	struct body body;

	for (unsigned i = 0; i < WORDS; i += 2) {
		put_type(body_of(message) + i, MACH_MSG_TYPE_COPY_SEND, 32, 1);
		body_of(message)[i + 1] = i % 4 == 0 ? MACH_PORT_NULL : i + 1;
	}
	no_memory = true;
	EXPECT_EQ(body_check(message, &body), MACH_SEND_NO_BUFFER);
	no_memory = false;
	EXPECT_EQ(body_check(message, &body), MACH_MSG_SUCCESS);
	EXPECT_EQ(body.n_parts, WORDS / 4);
	for (unsigned i = 0; i < body.n_parts; i++)
		EXPECT_EQ(*body.parts[i].data, 4 * i + 3);
	body_done(&body);
}

TEST(body_too_small)
{
	struct message *message = new_message(3);
	struct body body;

	put_type(body_of(message), MACH_MSG_TYPE_INTEGER_32, 32, 3);
	EXPECT_EQ(body_check(message, &body), MACH_SEND_MSG_TOO_SMALL);
	put_type(body_of(message), MACH_MSG_TYPE_CHAR, 8, 9);
	EXPECT_EQ(body_check(message, &body), MACH_SEND_MSG_TOO_SMALL);
	put_long(body_of(message), MACH_MSG_TYPE_BYTE, 8, 1); /* No word for its address. */
	EXPECT_EQ(body_check(message, &body), MACH_SEND_MSG_TOO_SMALL);
	message = new_message(2);
	put_type(body_of(message), 0, 0, 0)->msgt_longform = 1;
	EXPECT_EQ(body_check(message, &body), MACH_SEND_MSG_TOO_SMALL);
}

TEST(body_lengths_that_wrap)
{
	struct message *message = new_message(4);
	struct body body;
	mach_msg_type_long_t *type =
		put_long(body_of(message), MACH_MSG_TYPE_INTEGER_32, 32, 0x40000000);

	EXPECT_EQ(body_check(message, &body), MACH_SEND_INVALID_MEMORY);
	type->msgtl_header.msgt_inline = 1;
	EXPECT_EQ(body_check(message, &body), MACH_SEND_MSG_TOO_SMALL);
	put_long(body_of(message), MACH_MSG_TYPE_BYTE, 8, UINT32_MAX)->msgtl_header.msgt_inline = 1;
	EXPECT_EQ(body_check(message, &body), MACH_SEND_MSG_TOO_SMALL);
}

TEST(body_invalid_types)
{
	struct message *message = new_message(4);
	struct body body;

	put_type(body_of(message), MACH_MSG_TYPE_MOVE_SEND, 16, 2);
	EXPECT_EQ(body_check(message, &body), MACH_SEND_INVALID_TYPE);
	put_type(body_of(message), MACH_MSG_TYPE_BYTE, 8, 4)->msgt_deallocate = 1;
	EXPECT_EQ(body_check(message, &body), MACH_SEND_INVALID_TYPE);
	put_type(body_of(message), MACH_MSG_TYPE_BYTE, 8, 4)->msgt_unused = 1;
	EXPECT_EQ(body_check(message, &body), MACH_SEND_INVALID_TYPE);
	put_long(body_of(message), MACH_MSG_TYPE_BYTE, 8, 4)->msgtl_header.msgt_number = 1;
	EXPECT_EQ(body_check(message, &body), MACH_SEND_INVALID_TYPE);
}

/* Whatever the words are: the check ends, and a body that passes can be walked to its very end. */
TEST(body_random)
{
	uint32_t seed = 1, good = 0;

	for (unsigned i = 0; i < BODIES; i++) {
		uint32_t words = host_random_below(&seed, 8);
		struct message *message = new_message(words);
		struct body_walk walk;
		struct body body;
		struct part *part;
		uint32_t parts = 0;

		for (uint32_t word = 0; word < words; word++) {
			put_type(body_of(message) + word, host_random_below(&seed, 24),
				 8 * host_random_below(&seed, 5), host_random_below(&seed, 4));
			if (host_random_below(&seed, 4) == 0)
				body_of(message)[word] ^= random_next(&seed);
		}
		if (body_check(message, &body) != MACH_MSG_SUCCESS)
			continue;
		good++;
		body_begin(&walk, message);
		for (; (part = body_next(&walk)) != NULL; parts++)
			EXPECT((uint32_t *)part->type < part->data && part_is_special(part));
		EXPECT(walk.at == walk.end);
		EXPECT(parts >= body.n_parts);
		body_done(&body);
	}
	EXPECT(good > BODIES / 100);
}
