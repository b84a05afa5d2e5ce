/* SPDX-License-Identifier: MIT */
/* Protected payloads: a word of the receiver's own choice in place of the port's name. */
#include "check.h"
#include "ipc.h"

#define NO_SUCH 0x7654
#define PAYLOAD 0xfeedface

static mach_port_t self(void)
{
	return mach_task_self();
}

/* What the next message of `port` says it came by: kind and word. */
static void expect_by(mach_port_t port, uint32_t send_kind, uint32_t kind, uint32_t word)
{
	struct message message;

	EXPECT_EQ(message_send_id(port, send_kind, 1), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(MACH_MSGH_BITS_LOCAL(message.head.msgh_bits), kind);
	EXPECT_EQ(message.head.msgh_protected_payload, word);
}

TEST(payloads_are_set_and_cleared)
{
	mach_port_t port = port_new();

	expect_by(port, MACH_MSG_TYPE_MAKE_SEND, MACH_MSG_TYPE_PORT_SEND, port);
	EXPECT_EQ(mach_port_set_protected_payload(self(), port, PAYLOAD), KERN_SUCCESS);
	expect_by(port, MACH_MSG_TYPE_MAKE_SEND, MACH_MSG_TYPE_PROTECTED_PAYLOAD, PAYLOAD);
	expect_by(port, MACH_MSG_TYPE_MAKE_SEND_ONCE, MACH_MSG_TYPE_PROTECTED_PAYLOAD, PAYLOAD);
	EXPECT_EQ(mach_port_set_protected_payload(self(), port, 0), KERN_SUCCESS);
	expect_by(port, MACH_MSG_TYPE_MAKE_SEND, MACH_MSG_TYPE_PROTECTED_PAYLOAD, 0);
	EXPECT_EQ(mach_port_clear_protected_payload(self(), port), KERN_SUCCESS);
	expect_by(port, MACH_MSG_TYPE_MAKE_SEND, MACH_MSG_TYPE_PORT_SEND, port);
	port_destroy(port);
}

/* A receive right that goes to another hand leaves its payload behind. */
TEST(payloads_do_not_travel)
{
	mach_port_t port = port_new(), carrier = port_new();

	EXPECT_EQ(mach_port_set_protected_payload(self(), port, PAYLOAD), KERN_SUCCESS);
	EXPECT_EQ(message_send_port(carrier, port, MACH_MSG_TYPE_MOVE_RECEIVE), MACH_MSG_SUCCESS);
	port = message_get_port(carrier);
	expect_by(port, MACH_MSG_TYPE_MAKE_SEND, MACH_MSG_TYPE_PORT_SEND, port);
	port_destroy(port);
	port_destroy(carrier);
}

TEST(payloads_from_sets)
{
	mach_port_t port = port_new(), set = 0;
	struct message message;

	EXPECT_EQ(mach_port_allocate(self(), MACH_PORT_RIGHT_PORT_SET, &set), KERN_SUCCESS);
	EXPECT_EQ(mach_port_move_member(self(), port, set), KERN_SUCCESS);
	EXPECT_EQ(mach_port_set_protected_payload(self(), port, PAYLOAD), KERN_SUCCESS);
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, set, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_protected_payload, PAYLOAD);
	port_destroy(set);
	port_destroy(port);
}

/* Nobody can send by a payload. */
TEST(payloads_are_no_rights)
{
	mach_port_t port = port_new();

	EXPECT_EQ(mach_port_set_protected_payload(self(), port, PAYLOAD), KERN_SUCCESS);
	EXPECT_EQ(message_send_id(PAYLOAD, MACH_MSG_TYPE_COPY_SEND, 1), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_PROTECTED_PAYLOAD, 1),
		  MACH_SEND_INVALID_HEADER);
	port_destroy(port);
}

TEST(wrong_payloads)
{
	mach_port_t port = port_new_with_send();

	EXPECT_EQ(mach_port_set_protected_payload(self(), NO_SUCH, 1), KERN_INVALID_NAME);
	EXPECT_EQ(mach_port_clear_protected_payload(self(), NO_SUCH), KERN_INVALID_NAME);
	port_drop_receive(port);
	EXPECT_EQ(mach_port_set_protected_payload(self(), port, 1), KERN_INVALID_RIGHT);
	EXPECT_EQ(mach_port_clear_protected_payload(self(), port), KERN_INVALID_RIGHT);
	port_destroy(port);
}
