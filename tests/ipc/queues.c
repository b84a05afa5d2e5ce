/* SPDX-License-Identifier: MIT */
/*
 * Queues: their limits, what a sender does at a full one and a receiver at an empty one, in which
 * order and with which numbers messages come, and what ends a wait.
 *
 * machine: cpus=1
 * machine: cpus=1 append="fastpath=off"
 * machine: cpus=2 seed=1
 * machine: cpus=2 seed=2
 */
#include "check.h"
#include "ipc.h"

#define NO_SUCH 0x7654
#define QUEUED  MACH_PORT_QLIMIT_DEFAULT

static volatile uint32_t done;
static volatile mach_msg_return_t result;

static mach_port_t self(void)
{
	return mach_task_self();
}

static uint64_t now(void)
{
	uint64_t nanos = 0;

	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &nanos);
	return nanos;
}

/* Fills a new port's queue with messages 0, 1, ... by its own send right. */
static mach_port_t port_full(void)
{
	mach_port_t port = port_new_with_send();

	for (uint32_t i = 0; i < QUEUED; i++)
		EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_COPY_SEND, (int)i), MACH_MSG_SUCCESS);
	return port;
}

/* Receives the messages first, first + 1, ... last. */
static void expect_ids(mach_port_t port, int first, int last)
{
	struct message message;

	for (int id = first; id <= last; id++) {
		EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
		EXPECT_EQ(message.head.msgh_id, id);
	}
}

/* ---------------- Limits and numbers ---------------- */

TEST(messages_come_in_order)
{
	mach_port_t port = port_full();
	struct message message;

	for (uint32_t i = 0; i < QUEUED; i++) {
		EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
		EXPECT_EQ(message.head.msgh_id, i);
		EXPECT_EQ(message.head.msgh_seqno, i);
	}
	EXPECT(message_none(port));
	EXPECT_EQ(port_status(port).mps_seqno, QUEUED);
	EXPECT_EQ(mach_port_set_seqno(self(), port, 0xfffffffe), KERN_SUCCESS);
	for (uint32_t i = 0; i < 4; i++) {
		EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_COPY_SEND, 9), MACH_MSG_SUCCESS);
		EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
		EXPECT_EQ(message.head.msgh_seqno, 0xfffffffeu + i);
	}
	port_destroy(port);
}

TEST(the_limit_is_kept)
{
	mach_port_t port = port_new();

	for (mach_port_msgcount_t limit = 1; limit <= MACH_PORT_QLIMIT_MAX; limit++) {
		EXPECT_EQ(mach_port_set_qlimit(self(), port, limit), KERN_SUCCESS);
		EXPECT_EQ(port_status(port).mps_qlimit, limit);
		while (message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 1) == MACH_MSG_SUCCESS)
			continue;
		EXPECT_EQ(port_status(port).mps_msgcount, limit);
	}
	EXPECT_EQ(mach_port_set_qlimit(self(), port, MACH_PORT_QLIMIT_MAX + 1), KERN_INVALID_VALUE);
	EXPECT_EQ(mach_port_set_qlimit(self(), NO_SUCH, 1), KERN_INVALID_NAME);
	EXPECT_EQ(message_drain(port), MACH_PORT_QLIMIT_MAX);
	/* Each message that did not fit came back with a send right. */
	port_destroy(port);
}

/* A message that does not fit comes back: its right is the sender's, to be moved this time. */
TEST(a_timed_out_message_comes_back)
{
	mach_port_t port = port_full(), right = port_new();
	struct message message;

	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, right, MACH_MSG_TYPE_MAKE_SEND_ONCE,
		     5);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_MAKE_SEND, 32, 1);
	message.body[1] = right;
	EXPECT_EQ(message_post(&message, 2), MACH_SEND_TIMED_OUT);
	EXPECT_EQ(message.head.msgh_bits,
		  MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND, MACH_MSG_TYPE_MOVE_SEND_ONCE) |
			  MACH_MSGH_BITS_COMPLEX);
	EXPECT_EQ(message.head.msgh_remote_port, port);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 2);
	EXPECT_EQ(port_type(message.head.msgh_local_port), MACH_PORT_TYPE_SEND_ONCE);
	EXPECT_EQ(message.body[0], TYPE_INLINE(MACH_MSG_TYPE_MOVE_SEND, 32, 1));
	EXPECT_EQ(message.body[1], right);
	EXPECT_EQ(port_refs(right, MACH_PORT_RIGHT_SEND), 1);
	/* Sent as it is, with room now, it arrives. */
	expect_ids(port, 0, 0);
	EXPECT_EQ(message_post(&message, 2), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(right), MACH_PORT_TYPE_RECEIVE);
	expect_ids(port, 1, 4);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, 5);
	message_drop_reply(&message);
	EXPECT_EQ(message_drain(right), 1);
	port_destroy(port);
	port_destroy(right);
}

TEST(timeouts_last_as_long_as_they_say)
{
	static const uint32_t limits[] = {0, 1, 15, 70};
	mach_port_t port = port_full(), empty = port_new();
	struct message message;

	for (unsigned i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		uint64_t before = now();

		EXPECT_EQ(message_get(&message, empty, limits[i]), MACH_RCV_TIMED_OUT);
		EXPECT_LE(limits[i] * 1000000ull, now() - before);
		EXPECT_LT(now() - before, (limits[i] + 100) * 1000000ull);
		before = now();
		message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0, 1);
		EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG | MACH_SEND_TIMEOUT,
				   sizeof message.head, 0, 0, limits[i], 0),
			  MACH_SEND_TIMED_OUT);
		EXPECT_LE(limits[i] * 1000000ull, now() - before);
		EXPECT_LT(now() - before, (limits[i] + 100) * 1000000ull);
	}
	port_destroy(port);
	port_destroy(empty);
}

/* Send-once rights know no limit. */
TEST(send_once_is_never_too_much)
{
	mach_port_t port = port_full();

	for (int i = 0; i < 20; i++)
		EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND_ONCE, 5 + i),
			  MACH_MSG_SUCCESS);
	EXPECT_EQ(port_status(port).mps_msgcount, QUEUED + 20);
	expect_ids(port, 0, QUEUED + 19);
	port_destroy(port);
}

/* ---------------- Waiting senders ---------------- */

static void send_slowly(void *port)
{
	struct message message;

	message_head(&message, (mach_port_t)port, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0, 77);
	result = mach_msg_trap(&message.head, MACH_SEND_MSG, sizeof message.head, 0, 0, 0, 0);
	__atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
}

TEST(senders_wait_for_room)
{
	mach_port_t port = port_full();

	done = 0;
	for (uint32_t i = 0; i < 4; i++)
		worker_start(i, send_slowly, (void *)port);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(done, 0);
	for (uint32_t i = 0; i < 4; i++) {
		expect_ids(port, (int)i, (int)i);
		EXPECT(wait_for(&done, i + 1));
	}
	for (uint32_t i = 0; i < 4; i++)
		worker_join(i);
	expect_ids(port, 4, 4);
	for (uint32_t i = 0; i < 4; i++)
		expect_ids(port, 77, 77);
	port_destroy(port);
}

TEST(a_higher_limit_lets_senders_go_on)
{
	mach_port_t port = port_full();

	done = 0;
	worker_start(0, send_slowly, (void *)port);
	worker_start(1, send_slowly, (void *)port);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(mach_port_set_qlimit(self(), port, QUEUED + 2), KERN_SUCCESS);
	EXPECT(wait_for(&done, 2));
	worker_join(0);
	worker_join(1);
	EXPECT_EQ(message_drain(port), QUEUED + 2);
	port_destroy(port);
}

/* The port dies: the message is gone, which is no error of the sender's. */
TEST(senders_to_a_dying_port)
{
	mach_port_t port = port_full();

	done = 0;
	result = -1;
	worker_start(0, send_slowly, (void *)port);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(done, 0);
	port_drop_receive(port);
	EXPECT(wait_for(&done, 1));
	EXPECT_EQ(result, MACH_MSG_SUCCESS);
	worker_join(0);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_DEAD_NAME);
	port_destroy(port);
}

TEST(an_aborted_sender)
{
	mach_port_t port = port_full();

	done = 0;
	worker_start(0, send_slowly, (void *)port);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(done, 0);
	EXPECT_EQ(thread_abort(worker_port(0)), KERN_SUCCESS);
	EXPECT(wait_for(&done, 1));
	EXPECT_EQ(result, MACH_SEND_INTERRUPTED);
	worker_join(0);
	/* The message has come back to it. */
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 2);
	EXPECT_EQ(message_drain(port), QUEUED);
	port_destroy(port);
}

/* Room is not lost on senders that are suspended while they wait for it. */
TEST(suspended_senders_are_not_in_the_way)
{
	mach_port_t port = port_full();

	done = 0;
	for (uint32_t i = 0; i < QUEUED; i++) {
		worker_start(i, send_slowly, (void *)port);
		sleep_ms(SHORT_WAIT);
		EXPECT_EQ(thread_suspend(worker_port(i)), KERN_SUCCESS);
	}
	worker_start(QUEUED, send_slowly, (void *)port);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(done, 0);
	expect_ids(port, 0, QUEUED - 1);
	EXPECT(wait_for(&done, 1));
	expect_ids(port, 77, 77);
	for (uint32_t i = 0; i < QUEUED; i++)
		EXPECT_EQ(thread_resume(worker_port(i)), KERN_SUCCESS);
	EXPECT(wait_for(&done, QUEUED + 1));
	for (uint32_t i = 0; i <= QUEUED; i++)
		worker_join(i);
	EXPECT_EQ(message_drain(port), QUEUED);
	port_destroy(port);
}

/* A message that goes straight to a receiver is never taken out of the queue. */
TEST(all_senders_have_their_turn_at_a_waiting_receiver)
{
	mach_port_t port = port_new_with_send();
	struct message message;

	EXPECT_EQ(mach_port_set_qlimit(self(), port, 1), KERN_SUCCESS);
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_COPY_SEND, 77), MACH_MSG_SUCCESS);
	for (uint32_t i = 0; i < WORKERS; i++)
		worker_start(i, send_slowly, (void *)port);
	sleep_ms(SHORT_WAIT);
	for (uint32_t i = 0; i <= WORKERS; i++)
		EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
	for (uint32_t i = 0; i < WORKERS; i++)
		worker_join(i);
	EXPECT(message_none(port));
	port_destroy(port);
}

/* ---------------- Waiting receivers ---------------- */

static void receive_slowly(void *port)
{
	struct message message;

	result = mach_msg_trap(&message.head, MACH_RCV_MSG, 0, sizeof message, (mach_port_t)port, 0,
			       0);
	__atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
}

static void receiver_start(mach_port_t port)
{
	done = 0;
	result = -1;
	worker_start(0, receive_slowly, (void *)port);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(done, 0);
}

static void receiver_expect(mach_msg_return_t wanted)
{
	EXPECT(wait_for(&done, 1));
	EXPECT_EQ(result, wanted);
	worker_join(0);
}

TEST(a_receiver_waits)
{
	mach_port_t port = port_new();

	receiver_start(port);
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
	receiver_expect(MACH_MSG_SUCCESS);
	port_destroy(port);
}

TEST(a_receiver_from_a_dying_port)
{
	mach_port_t port = port_new();

	receiver_start(port);
	port_destroy(port);
	receiver_expect(MACH_RCV_PORT_DIED);
}

/* A receive right that leaves ends waits for it as if the port had died. */
TEST(a_receiver_from_a_port_that_leaves)
{
	mach_port_t port = port_new(), carrier = port_new();

	receiver_start(port);
	EXPECT_EQ(message_send_port(carrier, port, MACH_MSG_TYPE_MOVE_RECEIVE), MACH_MSG_SUCCESS);
	receiver_expect(MACH_RCV_PORT_DIED);
	port_destroy(message_get_port(carrier));
	port_destroy(carrier);
}

TEST(an_aborted_receiver)
{
	mach_port_t port = port_new();

	receiver_start(port);
	EXPECT_EQ(thread_abort(worker_port(0)), KERN_SUCCESS);
	receiver_expect(MACH_RCV_INTERRUPTED);
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_drain(port), 1);
	port_destroy(port);
}

TEST(wrong_receives)
{
	mach_port_t port = port_new(), send = port_new_with_send(), once = port_send_once(port);
	struct message message;

	EXPECT_EQ(message_get(&message, NO_SUCH, 0), MACH_RCV_INVALID_NAME);
	EXPECT_EQ(message_get(&message, MACH_PORT_NULL, 0), MACH_RCV_INVALID_NAME);
	EXPECT_EQ(message_get(&message, MACH_PORT_DEAD, 0), MACH_RCV_INVALID_NAME);
	EXPECT_EQ(message_get(&message, once, 0), MACH_RCV_INVALID_NAME);
	port_drop_receive(send);
	EXPECT_EQ(message_get(&message, send, 0), MACH_RCV_INVALID_NAME);
	port_destroy(send);
	port_destroy(once);
	message_drain(port);
	port_destroy(port);
}

/* Many senders, many receivers, one port: each message is received once. */
#define SENDERS 3
#define EACH    200

static volatile uint32_t sum;

static void send_many(void *port)
{
	struct message message;

	for (int i = 1; i <= EACH; i++) {
		message_head(&message, (mach_port_t)port, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL,
			     0, i);
		if (mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, 0, 0, 0, 0) !=
		    MACH_MSG_SUCCESS)
			check_fail("message %d is not sent", i);
	}
}

static void receive_many(void *port)
{
	struct message message;

	while (message_get(&message, (mach_port_t)port, LONG_WAIT) == MACH_MSG_SUCCESS &&
	       message.head.msgh_id != 0)
		__atomic_fetch_add(&sum, (uint32_t)message.head.msgh_id, __ATOMIC_SEQ_CST);
}

TEST(many_send_and_many_receive)
{
	mach_port_t port = port_new_with_send();

	sum = 0;
	for (uint32_t i = 0; i < SENDERS; i++) {
		worker_start(i, send_many, (void *)port);
		worker_start(SENDERS + i, receive_many, (void *)port);
	}
	for (uint32_t i = 0; i < SENDERS; i++)
		worker_join(i);
	for (uint32_t i = 0; i < SENDERS; i++)
		EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND_ONCE, 0), MACH_MSG_SUCCESS);
	for (uint32_t i = 0; i < SENDERS; i++)
		worker_join(SENDERS + i);
	EXPECT_EQ(sum, SENDERS * EACH * (EACH + 1) / 2);
	EXPECT_EQ(port_status(port).mps_seqno, SENDERS * (EACH + 1));
	port_destroy(port);
}

/* ---------------- MACH_SEND_NOTIFY and MACH_SEND_CANCEL ---------------- */

static mach_msg_return_t send_notify(mach_port_t port, mach_port_t notify)
{
	struct message message;

	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0, 5);
	return mach_msg(&message.head, MACH_SEND_MSG | MACH_SEND_TIMEOUT | MACH_SEND_NOTIFY,
			sizeof message.head, 0, 0, 0, notify);
}

/* A message beyond the limit is queued, and its sender told when it is received. */
TEST(a_message_that_will_be_accepted)
{
	mach_port_t port = port_full(), notify = port_new();
	struct message message;

	EXPECT_EQ(send_notify(port, notify), MACH_SEND_WILL_NOTIFY);
	EXPECT_EQ(port_status(port).mps_msgcount, QUEUED + 1);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_SEND_RECEIVE | MACH_PORT_TYPE_MAREQUEST);
	EXPECT_EQ(send_notify(port, notify), MACH_SEND_NOTIFY_IN_PROGRESS);
	/* That message has come back, with its right. */
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 2);
	expect_ids(port, 0, 5);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_SEND_RECEIVE);
	EXPECT_EQ(message_get(&message, notify, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, MACH_NOTIFY_MSG_ACCEPTED);
	EXPECT_EQ(message.body[1], port);
	EXPECT(message_none(notify));
	port_destroy(port);
	port_destroy(notify);
}

TEST(there_is_room_and_nobody_is_told)
{
	mach_port_t port = port_new_with_send(), notify = port_new();

	EXPECT_EQ(send_notify(port, notify), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_drain(port), 1);
	EXPECT(message_none(notify));
	port_destroy(port);
	port_destroy(notify);
}

TEST(a_wrong_notify_port)
{
	mach_port_t port = port_full();

	EXPECT_EQ(send_notify(port, NO_SUCH), MACH_SEND_INVALID_NOTIFY);
	EXPECT_EQ(port_status(port).mps_msgcount, QUEUED);
	port_destroy(port);
}

/* A right moved away takes its dead-name request along, in silence if so asked. */
static uint32_t told_of_moving(mach_msg_option_t option)
{
	mach_port_t port = port_new(), notify = port_new(), once = port_send_once(port);
	mach_port_t previous = 77;
	struct message message;
	uint32_t told;

	EXPECT_EQ(mach_port_request_notification(self(), once, MACH_NOTIFY_DEAD_NAME, 0, notify,
						 MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous),
		  KERN_SUCCESS);
	message_head(&message, once, MACH_MSG_TYPE_MOVE_SEND_ONCE, MACH_PORT_NULL, 0, 1);
	EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG | option, sizeof message.head, 0, 0, 0,
			   option ? notify : MACH_PORT_NULL),
		  MACH_MSG_SUCCESS);
	told = message_drain(notify);
	message_drain(port);
	port_destroy(port);
	port_destroy(notify);
	return told;
}

TEST(requests_are_cancelled_if_asked)
{
	EXPECT_EQ(told_of_moving(0), 1);
	EXPECT_EQ(told_of_moving(MACH_SEND_CANCEL), 0);
}
