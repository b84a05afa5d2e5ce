/* SPDX-License-Identifier: MIT */
/*
 * Buffers for messages in memory that a pager has: thread_abort() does not lose what the thread has
 * been given, however long the pager takes.  Ending the thread does not wait for it.
 *
 * machine: cpus=1
 * machine: cpus=1 append="fastpath=off"
 * machine: cpus=2 seed=1
 */
#include "check.h"
#include "pager.h"

#define ID 77

static volatile uint32_t done;
static volatile mach_msg_return_t result;

static struct message *buffer(void)
{
	return (struct message *)memory;
}

static void receive(void *port)
{
	result = mach_msg_trap(&buffer()->head, MACH_RCV_MSG, 0, sizeof(struct message),
			       (mach_port_t)port, 0, 0);
	done = 1;
}

static mach_port_t start_receiving(mach_port_t port)
{
	done = 0;
	result = 0;
	worker_start(0, receive, (void *)port);
	return worker_port(0);
}

/* Three words, so that the fast path and the general one have a body to copy. */
static void send_to(mach_port_t port)
{
	struct message message;

	message_head(&message, port, MACH_MSG_TYPE_MAKE_SEND, 0, 0, ID);
	for (uint32_t n = 0; n < 3; n++)
		message.body[n] = ID + n;
	EXPECT_EQ(message_post(&message, 3), MACH_MSG_SUCCESS);
}

static void expect_received(void)
{
	EXPECT(wait_for(&done, 1));
	worker_join(0);
	EXPECT_EQ(result, MACH_MSG_SUCCESS);
	EXPECT_EQ(buffer()->head.msgh_id, ID);
	for (uint32_t n = 0; n < 3; n++)
		EXPECT_EQ(buffer()->body[n], ID + n);
}

/* The page that was written to is thrown away, and not sent to the pager. */
static void end_unwritten(void)
{
	lock_request(0, 1, MEMORY_OBJECT_RETURN_NONE, true, VM_PROT_NO_CHANGE);
	expect(LOCK_COMPLETED);
	end();
}

static void abort_thread(void *thread)
{
	EXPECT_EQ(thread_abort((mach_port_t)thread), KERN_SUCCESS);
}

/* ---------------- The message has come ---------------- */

TEST(an_abort_does_not_break_off_the_copy)
{
	mach_port_t port = port_new();

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	start_receiving(port);
	send_to(port);
	REQUIRE(expect(DATA_REQUEST));
	for (uint32_t n = 0; n < 3; n++) {
		EXPECT_EQ(thread_abort(worker_port(0)), KERN_SUCCESS);
		EXPECT_EQ(done, 0);
	}
	EXPECT(message_none(object));
	fill(0, 1, 0);
	expect_received();
	port_destroy(port);
	end_unwritten();
}

/* A suspended thread is at the edge of user mode when thread_abort() returns, and not before. */
TEST(an_abort_waits_for_the_copy)
{
	mach_port_t port = port_new(), thread;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	thread = start_receiving(port);
	send_to(port);
	REQUIRE(expect(DATA_REQUEST));
	EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
	worker_start(1, abort_thread, (void *)thread);
	sleep_ms(SHORT_WAIT);
	fill(0, 1, 0);
	worker_join(1);
	EXPECT_EQ(done, 0);
	EXPECT_EQ(buffer()->head.msgh_id, ID);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	expect_received();
	port_destroy(port);
	end_unwritten();
}

/* The message is given to a thread that is suspended; the abort finds it on its way. */
TEST(an_abort_before_the_copy)
{
	mach_port_t port = port_new(), thread;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	thread = start_receiving(port);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
	send_to(port);
	EXPECT(message_none(object));
	worker_start(1, abort_thread, (void *)thread);
	REQUIRE(expect(DATA_REQUEST));
	fill(0, 1, 0);
	worker_join(1);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	expect_received();
	port_destroy(port);
	end_unwritten();
}

/* Whoever aborts need not wait for ever. */
TEST(who_aborts_can_be_aborted)
{
	mach_port_t port = port_new(), thread;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	thread = start_receiving(port);
	send_to(port);
	REQUIRE(expect(DATA_REQUEST));
	EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
	start_touch(1, memory + PAGE_SIZE, false, 0);
	REQUIRE(expect(DATA_REQUEST));
	EXPECT_EQ(thread_abort(worker_port(1)), KERN_SUCCESS);
	EXPECT_NE(end_touch(1), KERN_SUCCESS);
	fill(0, 1, 0);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	expect_received();
	port_destroy(port);
	end_unwritten();
}

TEST(an_end_does_not_wait)
{
	mach_port_t port = port_new();

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	start_receiving(port);
	send_to(port);
	REQUIRE(expect(DATA_REQUEST));
	EXPECT_EQ(thread_abort(worker_port(0)), KERN_SUCCESS);
	EXPECT_EQ(thread_terminate(worker_port(0)), KERN_SUCCESS);
	worker_join(0);
	EXPECT_EQ(done, 0);
	EXPECT(message_none(port));
	port_destroy(port);
	end();
}

/* ---------------- Answers ---------------- */

/*
 * By an ordinary call: the buffer is there when the request goes, and gone when the answer comes.
 */
static void call(void *server)
{
	struct message *message = buffer();
	mach_port_t reply = mach_reply_port();

	message_head(message, (mach_port_t)server, MACH_MSG_TYPE_MAKE_SEND, reply,
		     MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
	result = mach_msg_trap(&message->head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message->head,
			       sizeof *message, reply, 0, 0);
	port_destroy(reply);
	done = 1;
}

static void reply_to(mach_port_t port)
{
	struct message message;

	message_head(&message, port, MACH_MSG_TYPE_MOVE_SEND_ONCE, 0, 0, ID);
	for (uint32_t n = 0; n < 3; n++)
		message.body[n] = ID + n;
	EXPECT_EQ(message_post(&message, 3), MACH_MSG_SUCCESS);
}

TEST(an_answer_is_not_lost)
{
	mach_port_t server = port_new(), reply;
	struct message request;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	fill(0, 1, 0);
	done = 0;
	worker_start(0, call, (void *)server);
	EXPECT_EQ(message_get(&request, server, LONG_WAIT), MACH_MSG_SUCCESS);
	reply = request.head.msgh_remote_port;
	lock_request(0, 1, MEMORY_OBJECT_RETURN_NONE, true, VM_PROT_NO_CHANGE);
	REQUIRE(expect(LOCK_COMPLETED));
	reply_to(reply);
	REQUIRE(expect(DATA_REQUEST));
	EXPECT_EQ(thread_abort(worker_port(0)), KERN_SUCCESS);
	fill(0, 1, 0);
	expect_received();
	port_destroy(server);
	end_unwritten();
}

/* ---------------- Buffers that are none ---------------- */

static void receive_nowhere(void *port)
{
	result = mach_msg_trap((mach_msg_header_t *)0x60000000, MACH_RCV_MSG, 0,
			       sizeof(struct message), (mach_port_t)port, 0, 0);
	done = 1;
}

TEST(an_abort_with_a_wrong_buffer)
{
	mach_port_t port = port_new(), thread;

	done = 0;
	worker_start(0, receive_nowhere, (void *)port);
	thread = worker_port(0);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
	send_to(port);
	EXPECT_EQ(thread_abort(thread), KERN_SUCCESS);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	worker_join(0);
	EXPECT_EQ(result, MACH_RCV_INVALID_DATA);
	port_destroy(port);
}
