/* SPDX-License-Identifier: MIT */
/*
 * Receive rights in messages: ports that nobody can reach any more, alone, in circles and in long
 * chains, are collected.  That they are is what the balance says after each test.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=1
 */
#include "check.h"
#include "ipc.h"

#define CHAIN 1000

/*
 * Sends the receive right `port` to `remote`, of which the caller has a send-once right or more; a
 * name that is gone with it is not needed any more.
 */
static mach_msg_return_t send_into(mach_port_t remote, uint32_t kind, mach_port_t port)
{
	struct message message;

	message_head(&message, remote, kind, MACH_PORT_NULL, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_MOVE_RECEIVE, 32, 1);
	message.body[1] = port;
	return message_post(&message, 2);
}

/* A port whose own receive right is in its queue: it is dead at once. */
TEST(a_port_inside_itself)
{
	mach_port_t port = port_new_with_send();

	EXPECT_EQ(send_into(port, MACH_MSG_TYPE_COPY_SEND, port), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_DEAD_NAME);
	port_destroy(port);
}

TEST(a_port_inside_itself_by_its_last_right)
{
	mach_port_t port = port_new_with_send();

	EXPECT_EQ(send_into(port, MACH_MSG_TYPE_MOVE_SEND, port), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(port), 0);
	port = port_new();
	EXPECT_EQ(send_into(port, MACH_MSG_TYPE_MAKE_SEND_ONCE, port), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(port), 0);
}

TEST(a_port_inside_itself_with_messages)
{
	mach_port_t port = port_new_with_send(), notify = port_new(), other = port_new();
	mach_port_t previous;
	struct message message;

	EXPECT_EQ(mach_port_request_notification(mach_task_self(), port, MACH_NOTIFY_DEAD_NAME, 0,
						 notify, MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous),
		  KERN_SUCCESS);
	EXPECT_EQ(message_send_port(port, other, MACH_MSG_TYPE_MAKE_SEND_ONCE), MACH_MSG_SUCCESS);
	EXPECT_EQ(send_into(port, MACH_MSG_TYPE_COPY_SEND, port), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, notify, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, MACH_NOTIFY_DEAD_NAME);
	EXPECT_EQ(message_get(&message, other, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, MACH_NOTIFY_SEND_ONCE);
	port_destroy(port);
	port_destroy(other);
	port_destroy(notify);
}

/* Each of `n` ports has the one before it in its queue, the first has the last. */
static void circle(uint32_t n)
{
	mach_port_t ports[8];

	for (uint32_t i = 0; i < n; i++)
		ports[i] = port_new_with_send();
	for (uint32_t i = 0; i < n; i++)
		EXPECT_EQ(send_into(ports[(i + 1) % n], MACH_MSG_TYPE_COPY_SEND, ports[i]),
			  MACH_MSG_SUCCESS);
	for (uint32_t i = 0; i < n; i++) {
		EXPECT_EQ(port_type(ports[i]), MACH_PORT_TYPE_DEAD_NAME);
		port_destroy(ports[i]);
	}
}

TEST(circles)
{
	for (uint32_t n = 2; n <= 8; n++)
		circle(n);
}

/* Two rights in one message that close two circles, and one that hangs on to them. */
TEST(circles_with_branches)
{
	mach_port_t root = port_new_with_send(), left = port_new_with_send();
	mach_port_t right = port_new_with_send(), leaf = port_new();
	struct message message;

	EXPECT_EQ(send_into(left, MACH_MSG_TYPE_COPY_SEND, leaf), MACH_MSG_SUCCESS);
	EXPECT_EQ(send_into(left, MACH_MSG_TYPE_COPY_SEND, root), MACH_MSG_SUCCESS);
	message_head(&message, root, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_MOVE_RECEIVE, 32, 2);
	message.body[1] = right;
	message.body[2] = left;
	EXPECT_EQ(message_post(&message, 3), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(root), MACH_PORT_TYPE_DEAD_NAME);
	EXPECT_EQ(port_type(left), MACH_PORT_TYPE_DEAD_NAME);
	EXPECT_EQ(port_type(right), MACH_PORT_TYPE_DEAD_NAME);
	port_destroy(root);
	port_destroy(left);
	port_destroy(right);
}

/* Out of line it is the same. */
TEST(a_circle_out_of_line)
{
	mach_port_t port = port_new_with_send(), other = port_new_with_send();
	mach_port_t array[2] = {MACH_PORT_NULL, other};
	struct message message;

	EXPECT_EQ(send_into(other, MACH_MSG_TYPE_COPY_SEND, port), MACH_MSG_SUCCESS);
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_FAR(MACH_MSG_TYPE_MOVE_RECEIVE, 32, 2);
	message.body[1] = (uint32_t)array;
	EXPECT_EQ(message_post(&message, 2), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_DEAD_NAME);
	EXPECT_EQ(port_type(other), MACH_PORT_TYPE_DEAD_NAME);
	port_destroy(port);
	port_destroy(other);
}

/* No circle: a receive right that is on its way somewhere may carry others. */
static mach_port_t chain_new(mach_port_t *end)
{
	mach_port_t inner = port_new(), outer;

	*end = inner;
	for (int i = 1; i < CHAIN; i++) {
		outer = port_new();
		EXPECT_EQ(send_into(outer, MACH_MSG_TYPE_MAKE_SEND, inner), MACH_MSG_SUCCESS);
		inner = outer;
	}
	return inner;
}

/* A thousand ports, each in the queue of the next: the last one's end is that of all. */
TEST(a_long_chain_ends)
{
	mach_port_t end, port = chain_new(&end);

	port_destroy(port);
}

TEST(a_long_chain_is_taken_apart)
{
	mach_port_t end, port = chain_new(&end), next;

	for (int i = 1; i < CHAIN; i++) {
		next = message_get_port(port);
		EXPECT_EQ(port_type(next), MACH_PORT_TYPE_RECEIVE);
		port_destroy(port);
		port = next;
	}
	port_destroy(port);
}

/* A chain from the other end: the innermost grows, and at last the circle is closed. */
TEST(a_long_circle)
{
	mach_port_t first = port_new_with_send(), last = first;

	for (int i = 1; i < CHAIN; i++) {
		mach_port_t next = port_new_with_send();

		EXPECT_EQ(send_into(next, MACH_MSG_TYPE_COPY_SEND, last), MACH_MSG_SUCCESS);
		if (last != first)
			port_drop_send(last);
		last = next;
	}
	EXPECT_EQ(send_into(first, MACH_MSG_TYPE_COPY_SEND, last), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(first), MACH_PORT_TYPE_DEAD_NAME);
	EXPECT_EQ(port_type(last), MACH_PORT_TYPE_DEAD_NAME);
	port_destroy(first);
	port_destroy(last);
}

/* The receive right of a message's own reply port. */
TEST(a_reply_port_inside_its_message)
{
	mach_port_t port = port_new(), reply = port_new();
	struct message message;

	message_head(&message, port, MACH_MSG_TYPE_MAKE_SEND, reply, MACH_MSG_TYPE_MAKE_SEND_ONCE,
		     1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_MOVE_RECEIVE, 32, 1);
	message.body[1] = reply;
	EXPECT_EQ(message_post(&message, 2), MACH_MSG_SUCCESS);
	port_destroy(port);
}

/* A task that ends with messages on their way inside it. */
TEST(a_task_ends_with_circles_in_its_hands)
{
	mach_port_t child = child_new(), port = port_new_with_send(), other = port_new();

	EXPECT_EQ(send_into(port, MACH_MSG_TYPE_COPY_SEND, other), MACH_MSG_SUCCESS);
	child_give(child, 0x100, port, MACH_MSG_TYPE_MOVE_RECEIVE);
	child_end(child);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_DEAD_NAME);
	port_destroy(port);
}
