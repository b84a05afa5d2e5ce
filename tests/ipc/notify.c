/* SPDX-License-Identifier: MIT */
/*
 * Notifications: who asked is told, once, with the right name, and nobody else.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=1
 */
#include "check.h"
#include "ipc.h"

#define NO_SUCH 0x7654

static mach_port_t self(void)
{
	return mach_task_self();
}

/* Asks that `notify`, a receive right or nobody, is told; returns who was to be told before. */
static mach_port_t request(mach_port_t name, mach_msg_id_t id, uint32_t sync, mach_port_t notify)
{
	mach_port_t previous = 77;

	EXPECT_EQ(mach_port_request_notification(self(), name, id, sync, notify,
						 MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous),
		  KERN_SUCCESS);
	return previous;
}

static kern_return_t try_request(mach_port_t name, mach_msg_id_t id, uint32_t sync,
				 mach_port_t notify)
{
	mach_port_t previous;

	return mach_port_request_notification(self(), name, id, sync, notify,
					      MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous);
}

/* The next message of `notify` is the notification `id`; its only word, or 0. */
static uint32_t expect_told(mach_port_t notify, mach_msg_id_t id)
{
	struct message message;

	EXPECT_EQ(message_get(&message, notify, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, id);
	EXPECT_EQ(message.head.msgh_local_port, notify);
	EXPECT_EQ(message.head.msgh_remote_port, MACH_PORT_NULL);
	EXPECT_EQ(MACH_MSGH_BITS_LOCAL(message.head.msgh_bits), MACH_MSG_TYPE_PORT_SEND_ONCE);
	if (id != MACH_NOTIFY_SEND_ONCE) {
		EXPECT_EQ(message.head.msgh_size, sizeof message.head + 8);
		EXPECT_EQ(message.body[0] >> 8, TYPE_INLINE(0, 32, 1) >> 8);
	}
	return message.body[1];
}

/* ---------------- Dead names ---------------- */

TEST(dead_name)
{
	mach_port_t port = port_new_with_send(), notify = port_new();

	EXPECT_EQ(request(port, MACH_NOTIFY_DEAD_NAME, 0, notify), MACH_PORT_NULL);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_SEND_RECEIVE | MACH_PORT_TYPE_DNREQUEST);
	EXPECT(message_none(notify));
	port_drop_receive(port);
	EXPECT_EQ(expect_told(notify, MACH_NOTIFY_DEAD_NAME), port);
	/* One reference more, for who is told. */
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_DEAD_NAME), 2);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_DEAD_NAME);
	port_destroy(port);
	EXPECT(message_none(notify));
	port_destroy(notify);
}

TEST(dead_name_of_a_send_once_right)
{
	mach_port_t port = port_new(), once = port_send_once(port), notify = port_new();

	request(once, MACH_NOTIFY_DEAD_NAME, 0, notify);
	EXPECT_EQ(port_type(once), MACH_PORT_TYPE_SEND_ONCE | MACH_PORT_TYPE_DNREQUEST);
	port_destroy(port);
	EXPECT_EQ(expect_told(notify, MACH_NOTIFY_DEAD_NAME), once);
	EXPECT_EQ(port_refs(once, MACH_PORT_RIGHT_DEAD_NAME), 2);
	port_destroy(once);
	port_destroy(notify);
}

/* A name that is dead already, if the caller will have that. */
TEST(dead_name_at_once)
{
	mach_port_t port = port_new_with_send(), notify = port_new();

	port_drop_receive(port);
	EXPECT_EQ(try_request(port, MACH_NOTIFY_DEAD_NAME, 0, notify), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(expect_told(notify, MACH_NOTIFY_SEND_ONCE), 0);
	request(port, MACH_NOTIFY_DEAD_NAME, 1, notify);
	EXPECT_EQ(expect_told(notify, MACH_NOTIFY_DEAD_NAME), port);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_DEAD_NAME), 2);
	port_destroy(port);
	port_destroy(notify);
}

TEST(the_previous_request_comes_back)
{
	mach_port_t port = port_new_with_send(), notify = port_new(), other = port_new(), once;

	EXPECT_EQ(request(port, MACH_NOTIFY_DEAD_NAME, 0, notify), MACH_PORT_NULL);
	once = request(port, MACH_NOTIFY_DEAD_NAME, 0, other);
	EXPECT_EQ(port_type(once), MACH_PORT_TYPE_SEND_ONCE);
	EXPECT_EQ(message_send_id(once, MACH_MSG_TYPE_MOVE_SEND_ONCE, 99), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_drain(notify), 1);
	once = request(port, MACH_NOTIFY_DEAD_NAME, 0, MACH_PORT_NULL);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_SEND_RECEIVE);
	port_drop_send(once);
	EXPECT_EQ(expect_told(other, MACH_NOTIFY_SEND_ONCE), 0);
	port_destroy(port);
	EXPECT(message_none(other));
	port_destroy(other);
	port_destroy(notify);
}

/* The name goes before the port dies. */
TEST(port_deleted)
{
	mach_port_t port = port_new(), once = port_send_once(port), notify = port_new();

	request(once, MACH_NOTIFY_DEAD_NAME, 0, notify);
	port_drop_send(once);
	EXPECT_EQ(expect_told(notify, MACH_NOTIFY_PORT_DELETED), once);
	message_drain(port);
	port_destroy(port);
	EXPECT(message_none(notify));
	port_destroy(notify);
}

TEST(port_deleted_when_moved)
{
	mach_port_t port = port_new(), once = port_send_once(port), notify = port_new();

	request(once, MACH_NOTIFY_DEAD_NAME, 0, notify);
	EXPECT_EQ(message_send_id(once, MACH_MSG_TYPE_MOVE_SEND_ONCE, 1), MACH_MSG_SUCCESS);
	EXPECT_EQ(expect_told(notify, MACH_NOTIFY_PORT_DELETED), once);
	port_destroy(port);
	port_destroy(notify);
}

/* As long as one right stays under the name, it is not deleted. */
TEST(port_not_yet_deleted)
{
	mach_port_t port = port_new_with_send(), notify = port_new();

	request(port, MACH_NOTIFY_DEAD_NAME, 0, notify);
	port_drop_send(port);
	EXPECT(message_none(notify));
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_RECEIVE | MACH_PORT_TYPE_DNREQUEST);
	port_destroy(port);
	EXPECT_EQ(expect_told(notify, MACH_NOTIFY_PORT_DELETED), port);
	port_destroy(notify);
}

/* Who asked may be gone: nobody is told and nothing is lost. */
TEST(nobody_to_tell)
{
	mach_port_t port = port_new_with_send(), notify = port_new();

	request(port, MACH_NOTIFY_DEAD_NAME, 0, notify);
	port_destroy(notify);
	port_drop_receive(port);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_DEAD_NAME);
	port_destroy(port);
}

/* The port is its own witness. */
TEST(a_port_that_notifies_itself)
{
	mach_port_t port = port_new_with_send();

	request(port, MACH_NOTIFY_DEAD_NAME, 0, port);
	request(port, MACH_NOTIFY_NO_SENDERS, 0, port);
	request(port, MACH_NOTIFY_PORT_DESTROYED, 0, port);
	port_drop_receive(port);
	EXPECT(port_type(port) == MACH_PORT_TYPE_DEAD_NAME);
	port_destroy(port);
}

/* ---------------- No senders ---------------- */

TEST(no_senders)
{
	mach_port_t port = port_new_with_send(), notify = port_new();

	EXPECT_EQ(request(port, MACH_NOTIFY_NO_SENDERS, 1, notify), MACH_PORT_NULL);
	EXPECT_EQ(port_status(port).mps_nsrequest, TRUE);
	EXPECT(message_none(notify));
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_SEND, 1), KERN_SUCCESS);
	port_drop_send(port);
	EXPECT(message_none(notify));
	port_drop_send(port);
	EXPECT_EQ(expect_told(notify, MACH_NOTIFY_NO_SENDERS), 1);
	EXPECT_EQ(port_status(port).mps_nsrequest, FALSE);
	/* Only once. */
	EXPECT_EQ(mach_port_insert_right(self(), port, port, MACH_MSG_TYPE_MAKE_SEND),
		  KERN_SUCCESS);
	port_drop_send(port);
	EXPECT(message_none(notify));
	port_destroy(port);
	port_destroy(notify);
}

TEST(no_senders_at_once)
{
	mach_port_t port = port_new(), notify = port_new();

	request(port, MACH_NOTIFY_NO_SENDERS, 0, notify);
	EXPECT_EQ(expect_told(notify, MACH_NOTIFY_NO_SENDERS), 0);
	/* Rights that are yet to come: nothing now. */
	request(port, MACH_NOTIFY_NO_SENDERS, 1, notify);
	EXPECT(message_none(notify));
	EXPECT_EQ(mach_port_insert_right(self(), port, port, MACH_MSG_TYPE_MAKE_SEND),
		  KERN_SUCCESS);
	port_drop_send(port);
	EXPECT_EQ(expect_told(notify, MACH_NOTIFY_NO_SENDERS), 1);
	EXPECT_EQ(mach_port_set_mscount(self(), port, 10), KERN_SUCCESS);
	EXPECT_EQ(port_status(port).mps_mscount, 10);
	request(port, MACH_NOTIFY_NO_SENDERS, 10, notify);
	EXPECT_EQ(expect_told(notify, MACH_NOTIFY_NO_SENDERS), 10);
	port_destroy(port);
	port_destroy(notify);
}

/* A send right in a message is a sender; when the message is destroyed it is none. */
TEST(no_senders_in_messages)
{
	mach_port_t port = port_new_with_send(), carrier = port_new(), notify = port_new();

	request(port, MACH_NOTIFY_NO_SENDERS, 0, notify);
	EXPECT_EQ(message_send_port(carrier, port, MACH_MSG_TYPE_MOVE_SEND), MACH_MSG_SUCCESS);
	EXPECT(message_none(notify));
	port_destroy(carrier);
	EXPECT_EQ(expect_told(notify, MACH_NOTIFY_NO_SENDERS), 1);
	/* The destination of a message too. */
	request(port, MACH_NOTIFY_NO_SENDERS, 2, notify);
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
	EXPECT(message_none(notify));
	message_drain(port);
	EXPECT_EQ(expect_told(notify, MACH_NOTIFY_NO_SENDERS), 2);
	port_destroy(port);
	port_destroy(notify);
}

/* A task that ends gives up its send rights. */
TEST(no_senders_after_a_tasks_end)
{
	mach_port_t port = port_new(), notify = port_new(), child = child_new();
	struct message message;

	child_give(child, 0x100, port, MACH_MSG_TYPE_MAKE_SEND);
	request(port, MACH_NOTIFY_NO_SENDERS, 1, notify);
	EXPECT(message_none(notify));
	child_end(child);
	EXPECT_EQ(message_get(&message, notify, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, MACH_NOTIFY_NO_SENDERS);
	port_destroy(port);
	port_destroy(notify);
}

/* ---------------- Ports that are destroyed ---------------- */

/* The receive right comes to who asked, with its messages and its senders. */
TEST(port_destroyed)
{
	mach_port_t port = port_new_with_send(), notify = port_new(), got;

	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_COPY_SEND, 3), MACH_MSG_SUCCESS);
	EXPECT_EQ(request(port, MACH_NOTIFY_PORT_DESTROYED, 0, notify), MACH_PORT_NULL);
	EXPECT_EQ(port_status(port).mps_pdrequest, TRUE);
	port_drop_receive(port);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_SEND);
	got = expect_told(notify, MACH_NOTIFY_PORT_DESTROYED);
	EXPECT_EQ(got, port);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_SEND_RECEIVE);
	EXPECT_EQ(port_status(port).mps_pdrequest, FALSE);
	EXPECT_EQ(message_drain(port), 1);
	port_destroy(port);
	EXPECT(message_none(notify));
	port_destroy(notify);
}

TEST(port_destroyed_by_a_tasks_end)
{
	mach_port_t port = port_new_with_send(), notify = port_new(), child = child_new();
	mach_port_t previous = 77;
	struct message message;

	child_give(child, 0x100, port, MACH_MSG_TYPE_MOVE_RECEIVE);
	EXPECT_EQ(mach_port_request_notification(child, 0x100, MACH_NOTIFY_PORT_DESTROYED, 0,
						 notify, MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous),
		  KERN_SUCCESS);
	child_end(child);
	EXPECT_EQ(message_get(&message, notify, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, MACH_NOTIFY_PORT_DESTROYED);
	EXPECT_EQ(message.body[1], port);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_SEND_RECEIVE);
	port_destroy(port);
	port_destroy(notify);
}

/* Whom to tell may be gone: then the port dies after all. */
TEST(port_destroyed_and_nobody_to_have_it)
{
	mach_port_t port = port_new_with_send(), notify = port_new();

	request(port, MACH_NOTIFY_PORT_DESTROYED, 0, notify);
	port_destroy(notify);
	port_drop_receive(port);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_DEAD_NAME);
	port_destroy(port);
}

/* ---------------- Send-once rights ---------------- */

TEST(send_once)
{
	mach_port_t port = port_new(), once = port_send_once(port), carrier = port_new();

	port_drop_send(once);
	expect_told(port, MACH_NOTIFY_SEND_ONCE);
	/* One that is destroyed with the message that it is in, and as a reply right. */
	EXPECT_EQ(message_send_port(carrier, port, MACH_MSG_TYPE_MAKE_SEND_ONCE), MACH_MSG_SUCCESS);
	port_destroy(carrier);
	expect_told(port, MACH_NOTIFY_SEND_ONCE);
	EXPECT(message_none(port));
	port_destroy(port);
}

TEST(send_once_after_a_tasks_end)
{
	mach_port_t port = port_new(), child = child_new();
	struct message message;

	child_give(child, 0x100, port, MACH_MSG_TYPE_MAKE_SEND_ONCE);
	child_end(child);
	EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, MACH_NOTIFY_SEND_ONCE);
	port_destroy(port);
}

/* ---------------- Wrong requests ---------------- */

TEST(wrong_requests)
{
	mach_port_t port = port_new(), notify = port_new(), once = port_send_once(port), set = 0;

	EXPECT_EQ(mach_port_allocate(self(), MACH_PORT_RIGHT_PORT_SET, &set), KERN_SUCCESS);
	EXPECT_EQ(try_request(NO_SUCH, MACH_NOTIFY_DEAD_NAME, 0, notify), KERN_INVALID_NAME);
	EXPECT_EQ(try_request(port, MACH_NOTIFY_SEND_ONCE, 0, notify), KERN_INVALID_VALUE);
	EXPECT_EQ(try_request(port, 0, 0, notify), KERN_INVALID_VALUE);
	EXPECT_EQ(try_request(port, MACH_NOTIFY_PORT_DESTROYED, 1, notify), KERN_INVALID_VALUE);
	EXPECT_EQ(try_request(once, MACH_NOTIFY_PORT_DESTROYED, 0, notify), KERN_INVALID_RIGHT);
	EXPECT_EQ(try_request(once, MACH_NOTIFY_NO_SENDERS, 0, notify), KERN_INVALID_RIGHT);
	EXPECT_EQ(try_request(set, MACH_NOTIFY_DEAD_NAME, 0, notify), KERN_INVALID_RIGHT);
	EXPECT_EQ(try_request(port, MACH_NOTIFY_DEAD_NAME, 0, MACH_PORT_DEAD),
		  KERN_INVALID_CAPABILITY);
	/* Each that failed has dropped its send-once right; the last had none. */
	EXPECT_EQ(message_drain(notify), 7);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_RECEIVE);
	port_destroy(set);
	port_destroy(once);
	message_drain(port);
	port_destroy(port);
	port_destroy(notify);
}
