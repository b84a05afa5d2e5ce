/* SPDX-License-Identifier: MIT */
/*
 * Rights in messages, in the header and in the body: made, copied, moved, dead; what a sender who
 * has them not is told, and that it then loses nothing.
 *
 * machine: cpus=1
 * machine: cpus=1 append="fastpath=off"
 * machine: cpus=2 seed=1
 */
#include "check.h"
#include "ipc.h"

#define NO_SUCH 0x7654

static mach_port_t self(void)
{
	return mach_task_self();
}

/* ---------------- In the body ---------------- */

TEST(make_send)
{
	mach_port_t port = port_new(), carrier = port_new();

	EXPECT_EQ(message_send_port(carrier, port, MACH_MSG_TYPE_MAKE_SEND), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_RECEIVE);
	EXPECT_EQ(port_status(port).mps_srights, TRUE);
	EXPECT_EQ(port_status(port).mps_mscount, 1);
	EXPECT_EQ(message_get_port(carrier), port);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_SEND_RECEIVE);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 1);
	port_destroy(port);
	port_destroy(carrier);
}

TEST(copy_send)
{
	mach_port_t port = port_new_with_send(), carrier = port_new();

	EXPECT_EQ(message_send_port(carrier, port, MACH_MSG_TYPE_COPY_SEND), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 1);
	EXPECT_EQ(message_get_port(carrier), port);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 2);
	EXPECT_EQ(port_status(port).mps_mscount, 1);
	port_destroy(port);
	port_destroy(carrier);
}

TEST(move_send)
{
	mach_port_t port = port_new_with_send(), carrier = port_new();

	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_SEND, 1), KERN_SUCCESS);
	EXPECT_EQ(message_send_port(carrier, port, MACH_MSG_TYPE_MOVE_SEND), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 1);
	EXPECT_EQ(message_send_port(carrier, port, MACH_MSG_TYPE_MOVE_SEND), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_RECEIVE);
	EXPECT_EQ(message_send_port(carrier, port, MACH_MSG_TYPE_MOVE_SEND),
		  MACH_SEND_INVALID_RIGHT);
	EXPECT_EQ(message_get_port(carrier), port);
	EXPECT_EQ(message_get_port(carrier), port);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 2);
	port_destroy(port);
	port_destroy(carrier);
}

TEST(move_receive)
{
	mach_port_t port = port_new(), carrier = port_new(), got;

	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 42), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_send_port(carrier, port, MACH_MSG_TYPE_MOVE_RECEIVE), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(port), 0);
	got = message_get_port(carrier);
	EXPECT_EQ(port_type(got), MACH_PORT_TYPE_RECEIVE);
	/* With the messages that were in it. */
	EXPECT_EQ(port_status(got).mps_msgcount, 1);
	EXPECT_EQ(message_drain(got), 1);
	port_destroy(got);
	port_destroy(carrier);
}

/* The send right stays, and takes the receive right's name when that comes back. */
TEST(move_receive_and_keep_a_send_right)
{
	mach_port_t port = port_new_with_send(), carrier = port_new();

	EXPECT_EQ(message_send_port(carrier, port, MACH_MSG_TYPE_MOVE_RECEIVE), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_SEND);
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_COPY_SEND, 5), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get_port(carrier), port);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_SEND_RECEIVE);
	EXPECT_EQ(message_drain(port), 1);
	port_destroy(port);
	port_destroy(carrier);
}

/* Each send-once right has a name of its own. */
TEST(send_once_rights_have_names_of_their_own)
{
	mach_port_t port = port_new_with_send();
	mach_port_t one = port_send_once(port), other = port_send_once(port);

	EXPECT(one != other && one != port && other != port);
	EXPECT_EQ(port_type(one), MACH_PORT_TYPE_SEND_ONCE);
	EXPECT_EQ(port_refs(one, MACH_PORT_RIGHT_SEND_ONCE), 1);
	EXPECT_EQ(port_status(port).mps_sorights, 2);
	EXPECT_EQ(message_send_id(one, MACH_MSG_TYPE_MOVE_SEND_ONCE, 1), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(one), 0);
	EXPECT_EQ(message_send_id(other, MACH_MSG_TYPE_MOVE_SEND_ONCE, 2), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_drain(port), 2);
	EXPECT_EQ(port_status(port).mps_sorights, 0);
	port_destroy(port);
}

TEST(move_send_once)
{
	mach_port_t port = port_new(), carrier = port_new(), once = port_send_once(port), got;

	EXPECT_EQ(message_send_port(carrier, once, MACH_MSG_TYPE_MOVE_SEND_ONCE), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(once), 0);
	got = message_get_port(carrier);
	EXPECT_EQ(port_type(got), MACH_PORT_TYPE_SEND_ONCE);
	EXPECT_EQ(port_status(port).mps_sorights, 1);
	port_destroy(port);
	EXPECT_EQ(port_type(got), MACH_PORT_TYPE_DEAD_NAME);
	port_destroy(got);
	port_destroy(carrier);
}

TEST(no_port_and_a_dead_port)
{
	static const uint32_t kinds[] = {
		MACH_MSG_TYPE_MOVE_RECEIVE, MACH_MSG_TYPE_MOVE_SEND, MACH_MSG_TYPE_MOVE_SEND_ONCE,
		MACH_MSG_TYPE_COPY_SEND,    MACH_MSG_TYPE_MAKE_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE};
	mach_port_t carrier = port_new();

	for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		EXPECT_EQ(message_send_port(carrier, MACH_PORT_NULL, kinds[i]), MACH_MSG_SUCCESS);
		EXPECT_EQ(message_get_port(carrier), MACH_PORT_NULL);
		EXPECT_EQ(message_send_port(carrier, MACH_PORT_DEAD, kinds[i]), MACH_MSG_SUCCESS);
		EXPECT_EQ(message_get_port(carrier), MACH_PORT_DEAD);
	}
	port_destroy(carrier);
}

/* A dead name goes like a send right, and arrives as MACH_PORT_DEAD. */
TEST(dead_names_in_the_body)
{
	mach_port_t name = port_new_with_send(), carrier = port_new();

	port_drop_receive(name);
	EXPECT_EQ(message_send_port(carrier, name, MACH_MSG_TYPE_COPY_SEND), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get_port(carrier), MACH_PORT_DEAD);
	EXPECT_EQ(port_refs(name, MACH_PORT_RIGHT_DEAD_NAME), 1);
	EXPECT_EQ(message_send_port(carrier, name, MACH_MSG_TYPE_MAKE_SEND),
		  MACH_SEND_INVALID_RIGHT);
	EXPECT_EQ(message_send_port(carrier, name, MACH_MSG_TYPE_MOVE_RECEIVE),
		  MACH_SEND_INVALID_RIGHT);
	EXPECT_EQ(message_send_port(carrier, name, MACH_MSG_TYPE_MOVE_SEND), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(name), 0);
	EXPECT_EQ(message_get_port(carrier), MACH_PORT_DEAD);
	port_destroy(carrier);
}

/* A port that dies on the way arrives as a dead name. */
TEST(a_port_that_dies_on_the_way)
{
	mach_port_t port = port_new(), carrier = port_new(), got;

	EXPECT_EQ(message_send_port(carrier, port, MACH_MSG_TYPE_MAKE_SEND), MACH_MSG_SUCCESS);
	port_destroy(port);
	got = message_get_port(carrier);
	EXPECT(got == MACH_PORT_DEAD || port_type(got) == MACH_PORT_TYPE_DEAD_NAME);
	if (got != MACH_PORT_DEAD)
		port_destroy(got);
	port_destroy(carrier);
}

/* What is wanted of a name that has something else; nothing changes, nothing is sent. */
TEST(wrong_rights_in_the_body)
{
	static const struct {
		uint32_t kind;
		mach_port_type_t able;
	} kinds[] = {
		{MACH_MSG_TYPE_MOVE_RECEIVE, MACH_PORT_TYPE_RECEIVE},
		{MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_TYPE_RECEIVE},
		{MACH_MSG_TYPE_MAKE_SEND_ONCE, MACH_PORT_TYPE_RECEIVE},
		{MACH_MSG_TYPE_MOVE_SEND, MACH_PORT_TYPE_SEND},
		{MACH_MSG_TYPE_COPY_SEND, MACH_PORT_TYPE_SEND},
		{MACH_MSG_TYPE_MOVE_SEND_ONCE, MACH_PORT_TYPE_SEND_ONCE},
	};
	mach_port_t carrier = port_new(), receive = port_new(), set = 0;
	mach_port_t once = port_send_once(receive);
	mach_port_t names[3];

	EXPECT_EQ(mach_port_allocate(self(), MACH_PORT_RIGHT_PORT_SET, &set), KERN_SUCCESS);
	names[0] = receive;
	names[1] = once;
	names[2] = set;
	for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		for (unsigned j = 0; j < 3; j++) {
			mach_port_type_t type = port_type(names[j]);

			if (type & kinds[i].able)
				continue;
			EXPECT_EQ(message_send_port(carrier, names[j], kinds[i].kind),
				  MACH_SEND_INVALID_RIGHT);
			EXPECT_EQ(port_type(names[j]), type);
		}
		EXPECT_EQ(message_send_port(carrier, NO_SUCH, kinds[i].kind),
			  MACH_SEND_INVALID_RIGHT);
	}
	EXPECT(message_none(carrier));
	port_destroy(set);
	port_destroy(once);
	port_destroy(receive);
	port_destroy(carrier);
}

/* The last of many rights is wrong: those before it come back. */
TEST(a_failed_send_gives_all_back)
{
	mach_port_t carrier = port_new(), receive = port_new(), sender = port_new_with_send();
	mach_port_t once = port_send_once(receive);
	struct message message;

	message_head(&message, carrier, MACH_MSG_TYPE_MAKE_SEND, receive,
		     MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_MOVE_SEND_ONCE, 32, 1);
	message.body[1] = once;
	message.body[2] = TYPE_INLINE(MACH_MSG_TYPE_MOVE_SEND, 32, 1);
	message.body[3] = sender;
	message.body[4] = TYPE_INLINE(MACH_MSG_TYPE_MOVE_RECEIVE, 32, 2);
	message.body[5] = receive;
	message.body[6] = NO_SUCH;
	EXPECT_EQ(message_post(&message, 7), MACH_SEND_INVALID_RIGHT);
	EXPECT_EQ(port_type(once), MACH_PORT_TYPE_SEND_ONCE);
	EXPECT_EQ(port_type(sender), MACH_PORT_TYPE_SEND_RECEIVE);
	EXPECT_EQ(port_type(receive), MACH_PORT_TYPE_RECEIVE);
	EXPECT_EQ(port_status(receive).mps_sorights, 1);
	EXPECT_EQ(port_status(receive).mps_msgcount, 0);
	EXPECT(message_none(carrier));
	port_destroy(once);
	port_destroy(receive);
	port_destroy(sender);
	port_destroy(carrier);
}

/* More references than can be counted: the right arrives, the count stays at its highest. */
TEST(received_references_do_not_overflow)
{
	mach_port_t port = port_new_with_send(), carrier = port_new();

	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_SEND, 65533), KERN_SUCCESS);
	EXPECT_EQ(message_send_port(carrier, port, MACH_MSG_TYPE_MAKE_SEND), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get_port(carrier), port);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 65534);
	port_destroy(port);
	port_destroy(carrier);
}

/* ---------------- In the header ---------------- */

static mach_msg_return_t send_head(mach_port_t remote, uint32_t remote_kind, mach_port_t local,
				   uint32_t local_kind)
{
	struct message message;

	message_head(&message, remote, remote_kind, local, local_kind, 1);
	return message_post(&message, 0);
}

TEST(reply_rights)
{
	static const uint32_t kinds[] = {MACH_MSG_TYPE_MAKE_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE,
					 MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MOVE_SEND};
	mach_port_t port = port_new(), reply = port_new_with_send();
	struct message message;

	for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		bool is_once = kinds[i] == MACH_MSG_TYPE_MAKE_SEND_ONCE;

		EXPECT_EQ(send_head(port, MACH_MSG_TYPE_MAKE_SEND, reply, kinds[i]),
			  MACH_MSG_SUCCESS);
		EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
		EXPECT_EQ(message.head.msgh_local_port, port);
		EXPECT_EQ(message.head.msgh_bits,
			  MACH_MSGH_BITS(is_once ? MACH_MSG_TYPE_PORT_SEND_ONCE
						 : MACH_MSG_TYPE_PORT_SEND,
					 MACH_MSG_TYPE_PORT_SEND));
		EXPECT_EQ(message.head.msgh_remote_port == reply, !is_once);
		if (is_once)
			EXPECT_EQ(message_send_id(message.head.msgh_remote_port,
						  MACH_MSG_TYPE_MOVE_SEND_ONCE, 2),
				  MACH_MSG_SUCCESS);
	}
	EXPECT_EQ(message_drain(reply), 1);
	EXPECT_EQ(port_refs(reply, MACH_PORT_RIGHT_SEND), 3);
	port_destroy(port);
	port_destroy(reply);
}

TEST(wrong_destinations)
{
	mach_port_t port = port_new(), set = 0, once = port_send_once(port);

	EXPECT_EQ(mach_port_allocate(self(), MACH_PORT_RIGHT_PORT_SET, &set), KERN_SUCCESS);
	EXPECT_EQ(send_head(NO_SUCH, MACH_MSG_TYPE_COPY_SEND, 0, 0), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(send_head(MACH_PORT_NULL, MACH_MSG_TYPE_COPY_SEND, 0, 0), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(send_head(MACH_PORT_DEAD, MACH_MSG_TYPE_COPY_SEND, 0, 0), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(send_head(port, MACH_MSG_TYPE_COPY_SEND, 0, 0), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(send_head(port, MACH_MSG_TYPE_MOVE_SEND, 0, 0), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(send_head(port, MACH_MSG_TYPE_MOVE_SEND_ONCE, 0, 0), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(send_head(once, MACH_MSG_TYPE_COPY_SEND, 0, 0), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(send_head(once, MACH_MSG_TYPE_MAKE_SEND, 0, 0), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(send_head(set, MACH_MSG_TYPE_MAKE_SEND, 0, 0), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(port_type(once), MACH_PORT_TYPE_SEND_ONCE);
	port_destroy(port);
	EXPECT_EQ(send_head(once, MACH_MSG_TYPE_MAKE_SEND_ONCE, 0, 0), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(port_type(once), MACH_PORT_TYPE_DEAD_NAME);
	port_destroy(once);
	port_destroy(set);
}

TEST(dispositions_that_cannot_be)
{
	mach_port_t port = port_new_with_send(), reply = port_new();

	EXPECT_EQ(send_head(port, 0, 0, 0), MACH_SEND_INVALID_HEADER);
	EXPECT_EQ(send_head(port, MACH_MSG_TYPE_MOVE_RECEIVE, 0, 0), MACH_SEND_INVALID_HEADER);
	EXPECT_EQ(send_head(port, 22, 0, 0), MACH_SEND_INVALID_HEADER);
	EXPECT_EQ(send_head(port, 255, 0, 0), MACH_SEND_INVALID_HEADER);
	EXPECT_EQ(send_head(port, MACH_MSG_TYPE_COPY_SEND, reply, 0), MACH_SEND_INVALID_HEADER);
	EXPECT_EQ(send_head(port, MACH_MSG_TYPE_COPY_SEND, reply, MACH_MSG_TYPE_MOVE_RECEIVE),
		  MACH_SEND_INVALID_HEADER);
	EXPECT_EQ(send_head(port, MACH_MSG_TYPE_COPY_SEND, reply, 23), MACH_SEND_INVALID_HEADER);
	EXPECT(message_none(port));
	port_destroy(port);
	port_destroy(reply);
}

TEST(wrong_replies)
{
	mach_port_t port = port_new_with_send(), reply = port_new();

	EXPECT_EQ(send_head(port, MACH_MSG_TYPE_MOVE_SEND, NO_SUCH, MACH_MSG_TYPE_MAKE_SEND),
		  MACH_SEND_INVALID_REPLY);
	EXPECT_EQ(send_head(port, MACH_MSG_TYPE_MOVE_SEND, reply, MACH_MSG_TYPE_COPY_SEND),
		  MACH_SEND_INVALID_REPLY);
	EXPECT_EQ(send_head(port, MACH_MSG_TYPE_MOVE_SEND, reply, MACH_MSG_TYPE_MOVE_SEND_ONCE),
		  MACH_SEND_INVALID_REPLY);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 1);
	EXPECT(message_none(port));
	port_destroy(port);
	port_destroy(reply);
}

/* A reply port may be dead or none: the receiver sees so. */
TEST(dead_and_no_reply)
{
	mach_port_t port = port_new(), dead = port_new_with_send();
	struct message message;

	port_drop_receive(dead);
	EXPECT_EQ(send_head(port, MACH_MSG_TYPE_MAKE_SEND, dead, MACH_MSG_TYPE_MOVE_SEND),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(dead), 0);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_remote_port, MACH_PORT_DEAD);
	EXPECT_EQ(send_head(port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_DEAD, MACH_MSG_TYPE_MAKE_SEND),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_remote_port, MACH_PORT_DEAD);
	EXPECT_EQ(send_head(port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, MACH_MSG_TYPE_MAKE_SEND),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_remote_port, MACH_PORT_NULL);
	port_destroy(port);
}

/* The kernel would send it; the library knows that there was no memory for the port. */
TEST(what_nobody_could_hear_the_answer_to_is_not_sent)
{
	mach_port_t port = port_new();
	struct message message;

	message_head(&message, port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL,
		     MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
	EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.head,
			   sizeof message, MACH_PORT_NULL, MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL),
		  MACH_SEND_INVALID_REPLY);
	EXPECT_EQ(message_get(&message, port, 0), MACH_RCV_TIMED_OUT);
	EXPECT_EQ(mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, MACH_PORT_NULL,
			   MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL),
		  MACH_RCV_INVALID_NAME);
	/* How much might be received means nothing where nothing is to be. */
	message_head(&message, port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, 0, 1);
	EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, sizeof message,
			   MACH_PORT_NULL, MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	port_destroy(port);
}

/* ---------------- The same name twice in one header ---------------- */

/* Every pair that one name with `refs` send references and the receive right can give. */
TEST(destination_and_reply_are_the_same)
{
	static const uint32_t kinds[] = {MACH_MSG_TYPE_MOVE_SEND, MACH_MSG_TYPE_COPY_SEND,
					 MACH_MSG_TYPE_MAKE_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE};
	struct message message;

	for (unsigned i = 0; i < 4; i++) {
		for (unsigned j = 0; j < 4; j++) {
			mach_port_t port = port_new_with_send();
			uint32_t moved = (kinds[i] == MACH_MSG_TYPE_MOVE_SEND) +
					 (kinds[j] == MACH_MSG_TYPE_MOVE_SEND);

			EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_SEND, 2),
				  KERN_SUCCESS);
			EXPECT_EQ(send_head(port, kinds[i], port, kinds[j]), MACH_MSG_SUCCESS);
			EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 3 - moved);
			EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
			message_drop_reply(&message);
			message_drain(port);
			EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 3 - moved);
			port_destroy(port);
		}
	}
}

/* One reference cannot be moved twice, and stays. */
TEST(one_reference_moved_twice)
{
	mach_port_t port = port_new_with_send(), once = port_send_once(port);
	mach_msg_return_t result;

	result = send_head(port, MACH_MSG_TYPE_MOVE_SEND, port, MACH_MSG_TYPE_MOVE_SEND);
	EXPECT(result == MACH_SEND_INVALID_DEST || result == MACH_SEND_INVALID_REPLY);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 1);
	result = send_head(once, MACH_MSG_TYPE_MOVE_SEND_ONCE, once, MACH_MSG_TYPE_MOVE_SEND_ONCE);
	EXPECT(result == MACH_SEND_INVALID_DEST || result == MACH_SEND_INVALID_REPLY);
	EXPECT_EQ(port_type(once), MACH_PORT_TYPE_SEND_ONCE);
	EXPECT(message_none(port));
	port_destroy(once);
	message_drain(port);
	port_destroy(port);
}

/* The last reference goes one way and a copy of it the other. */
TEST(one_reference_moved_and_copied)
{
	mach_port_t port = port_new_with_send();
	struct message message;

	EXPECT_EQ(send_head(port, MACH_MSG_TYPE_MOVE_SEND, port, MACH_MSG_TYPE_COPY_SEND),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_RECEIVE);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_remote_port, port);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 1);
	EXPECT_EQ(send_head(port, MACH_MSG_TYPE_COPY_SEND, port, MACH_MSG_TYPE_MOVE_SEND),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_RECEIVE);
	port_destroy(port);
}
