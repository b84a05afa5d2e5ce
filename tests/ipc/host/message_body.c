/* SPDX-License-Identifier: MIT */
/* links: ipc/message_body.c */
/* Walks over the bodies of messages (ipc/message_body.h), valid ones and ones that lie. */
#include "ipc/message_body.h"

#include <string.h>

#include "host/kernel.h"
#include "ipc/message.h"
#include "kern/random.h"
#include "kern/work.h"

#define WORDS  64
#define BODIES 200000

void kernel_pause(void)
{
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
	message->header.msgh_size = size;
	return message;
}

static uint32_t *body(struct message *message)
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

static mach_msg_return_t check(struct message *message, struct body_summary *summary)
{
	return body_check(message, summary);
}

TEST(body_of_nothing)
{
	struct body_summary summary;

	EXPECT_EQ(check(new_message(0), &summary), MACH_MSG_SUCCESS);
	EXPECT(!(summary.rights || summary.out_of_line));
}

TEST(body_data_rounds_up_to_words)
{
	struct message *message = new_message(4);
	struct body_summary summary;
	struct body_walk walk;
	struct part part;

	put_type(body(message), MACH_MSG_TYPE_CHAR, 8, 5);
	put_type(body(message) + 3, MACH_MSG_TYPE_INTEGER_32, 32, 0);
	EXPECT_EQ(check(message, &summary), MACH_MSG_SUCCESS);
	EXPECT(!(summary.rights || summary.out_of_line));
	body_begin(&walk, message);
	EXPECT(body_next(&walk, &part));
	EXPECT_EQ(part.length, 5);
	EXPECT(part.data == body(message) + 1 && part.in_line && !part.rights);
	EXPECT(body_next(&walk, &part));
	EXPECT_EQ(part.length, 0);
	EXPECT(!body_next(&walk, &part));
}

TEST(body_rights_and_memory)
{
	struct message *message = new_message(7);
	struct body_summary summary;
	struct body_walk walk;
	struct part part;

	put_type(body(message), MACH_MSG_TYPE_MAKE_SEND, 32, 2);
	put_long(body(message) + 3, MACH_MSG_TYPE_BYTE, 8, 4096)->msgtl_header.msgt_deallocate = 1;
	EXPECT_EQ(check(message, &summary), MACH_MSG_SUCCESS);
	EXPECT((summary.rights || summary.out_of_line));
	EXPECT_EQ(summary.n_deallocate, 1);
	body_begin(&walk, message);
	EXPECT(body_next(&walk, &part));
	EXPECT_EQ(part_n_rights(&part), 2);
	part_set_name(&part, MACH_MSG_TYPE_PORT_SEND);
	EXPECT_EQ(part.type->msgt_name, MACH_MSG_TYPE_PORT_SEND);
	EXPECT(body_next(&walk, &part));
	EXPECT_EQ(part.length, 4096);
	EXPECT(part.data == body(message) + 6 && !part.in_line);
	EXPECT_EQ(part_n_rights(&part), 0);
}

TEST(body_too_small)
{
	struct message *message = new_message(3);
	struct body_summary summary;

	put_type(body(message), MACH_MSG_TYPE_INTEGER_32, 32, 3);
	EXPECT_EQ(check(message, &summary), MACH_SEND_MSG_TOO_SMALL);
	put_type(body(message), MACH_MSG_TYPE_CHAR, 8, 9);
	EXPECT_EQ(check(message, &summary), MACH_SEND_MSG_TOO_SMALL);
	put_long(body(message), MACH_MSG_TYPE_BYTE, 8, 1); /* No word for its address. */
	EXPECT_EQ(check(message, &summary), MACH_SEND_MSG_TOO_SMALL);
	message = new_message(2);
	put_type(body(message), 0, 0, 0)->msgt_longform = 1;
	EXPECT_EQ(check(message, &summary), MACH_SEND_MSG_TOO_SMALL);
}

TEST(body_lengths_that_wrap)
{
	struct message *message = new_message(4);
	struct body_summary summary;
	mach_msg_type_long_t *type =
		put_long(body(message), MACH_MSG_TYPE_INTEGER_32, 32, 0x40000000);

	EXPECT_EQ(check(message, &summary), MACH_SEND_INVALID_MEMORY);
	type->msgtl_header.msgt_inline = 1;
	EXPECT_EQ(check(message, &summary), MACH_SEND_MSG_TOO_SMALL);
	put_long(body(message), MACH_MSG_TYPE_BYTE, 8, UINT32_MAX)->msgtl_header.msgt_inline = 1;
	EXPECT_EQ(check(message, &summary), MACH_SEND_MSG_TOO_SMALL);
}

TEST(body_invalid_types)
{
	struct message *message = new_message(4);
	struct body_summary summary;

	put_type(body(message), MACH_MSG_TYPE_MOVE_SEND, 16, 2);
	EXPECT_EQ(check(message, &summary), MACH_SEND_INVALID_TYPE);
	put_type(body(message), MACH_MSG_TYPE_BYTE, 8, 4)->msgt_deallocate = 1;
	EXPECT_EQ(check(message, &summary), MACH_SEND_INVALID_TYPE);
	put_type(body(message), MACH_MSG_TYPE_BYTE, 8, 4)->msgt_unused = 1;
	EXPECT_EQ(check(message, &summary), MACH_SEND_INVALID_TYPE);
	put_long(body(message), MACH_MSG_TYPE_BYTE, 8, 4)->msgtl_header.msgt_number = 1;
	EXPECT_EQ(check(message, &summary), MACH_SEND_INVALID_TYPE);
}

/* Whatever the words are: the check ends, and a body that passes can be walked to its very end. */
TEST(body_random)
{
	uint32_t seed = 1, good = 0;

	for (unsigned i = 0; i < BODIES; i++) {
		uint32_t words = host_random_below(&seed, 8);
		struct message *message = new_message(words);
		struct body_summary summary;
		struct body_walk walk;
		struct part part;

		for (uint32_t word = 0; word < words; word++) {
			put_type(body(message) + word, host_random_below(&seed, 24),
				 8 * host_random_below(&seed, 5), host_random_below(&seed, 4));
			if (host_random_below(&seed, 4) == 0)
				body(message)[word] ^= random_next(&seed);
		}
		if (check(message, &summary) != MACH_MSG_SUCCESS)
			continue;
		good++;
		body_begin(&walk, message);
		while (body_next(&walk, &part))
			EXPECT((uint32_t *)part.type < part.data || part.data == NULL);
		EXPECT(walk.at == walk.end);
	}
	EXPECT(good > BODIES / 100);
}
