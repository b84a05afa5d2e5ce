/* SPDX-License-Identifier: MIT */
/*
 * thread_abort(): what it breaks off, what the broken call answers, and that what is set meanwhile
 * is what the thread goes on with.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=1
 */
#include "check.h"
#include "ipc.h"

static volatile uint32_t done;
static volatile mach_msg_return_t result;

static void receive(void *port)
{
	struct message message;

	result = mach_msg_trap(&message.head, MACH_RCV_MSG, 0, sizeof message, (mach_port_t)port, 0,
			       0);
	done = 1;
}

static void receive_with_limit(void *port)
{
	struct message message;

	result = mach_msg_trap(&message.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT | MACH_RCV_INTERRUPT,
			       0, sizeof message, (mach_port_t)port, LONG_WAIT, 0);
	done = 1;
}

static mach_port_t start_waiting(void (*run)(void *), void *argument)
{
	mach_port_t thread;

	done = 0;
	result = 0;
	worker_start(0, run, argument);
	thread = worker_port(0);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(done, 0);
	return thread;
}

static void expect_interrupted(mach_msg_return_t wanted)
{
	EXPECT(wait_for(&done, 1));
	EXPECT_EQ(result, wanted);
	worker_join(0);
}

TEST(a_receive_is_broken_off)
{
	mach_port_t port = port_new();

	EXPECT_EQ(thread_abort(start_waiting(receive, (void *)port)), KERN_SUCCESS);
	expect_interrupted(MACH_RCV_INTERRUPTED);
	EXPECT_EQ(thread_abort(start_waiting(receive_with_limit, (void *)port)), KERN_SUCCESS);
	expect_interrupted(MACH_RCV_INTERRUPTED);
	port_destroy(port);
}

/* Suspended first, it is broken off and still does not go on. */
TEST(a_suspended_receive_is_broken_off)
{
	mach_port_t port = port_new(), thread = start_waiting(receive, (void *)port);

	EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
	EXPECT_EQ(thread_abort(thread), KERN_SUCCESS);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(done, 0);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	expect_interrupted(MACH_RCV_INTERRUPTED);
	port_destroy(port);
}

static struct i386_thread_state read_state(mach_port_t thread)
{
	struct i386_thread_state state = {0};
	mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;

	EXPECT_EQ(thread_get_state(thread, i386_THREAD_STATE, (thread_state_t)&state, &count),
		  KERN_SUCCESS);
	return state;
}

/* The trap's answer is in the state of the thread that was broken off, and can be changed there. */
TEST(what_is_set_is_what_the_trap_answers)
{
	mach_port_t port = port_new(), thread = start_waiting(receive, (void *)port);
	struct i386_thread_state state;

	EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
	EXPECT_EQ(thread_abort(thread), KERN_SUCCESS);
	state = read_state(thread);
	EXPECT_EQ(state.eax, MACH_RCV_INTERRUPTED);
	state.eax = 0x1234567;
	EXPECT_EQ(thread_set_state(thread, i386_THREAD_STATE, (thread_state_t)&state,
				   i386_THREAD_STATE_COUNT),
		  KERN_SUCCESS);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	expect_interrupted(0x1234567);
	port_destroy(port);
}

/* ---------------- Calls of the kernel ---------------- */

static void sleep_once(void *unused)
{
	(void)unused;
	result = thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, LONG_WAIT);
	done = 1;
}

TEST(a_sleep_is_broken_off)
{
	mach_port_t thread = start_waiting(sleep_once, NULL);

	EXPECT_EQ(thread_abort(thread), KERN_SUCCESS);
	EXPECT(wait_for(&done, 1));
	worker_join(0);
}

static volatile mach_port_t returned; /* The reply right, with the message. */

static void call(void *port)
{
	struct message message;

	message_head(&message, (mach_port_t)port, MACH_MSG_TYPE_COPY_SEND, (mach_port_t)port,
		     MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
	result = mach_msg_trap(&message.head, MACH_SEND_MSG, sizeof message.head, 0, 0, 0, 0);
	returned = message.head.msgh_local_port;
	done = 1;
}

TEST(a_send_is_broken_off)
{
	mach_port_t port = port_new_with_send();

	for (int i = 0; i < 5; i++)
		EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_COPY_SEND, 1), MACH_MSG_SUCCESS);
	EXPECT_EQ(thread_abort(start_waiting(call, (void *)port)), KERN_SUCCESS);
	expect_interrupted(MACH_SEND_INTERRUPTED);
	/* The message came back with a reference and a send-once right. */
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 2);
	EXPECT_EQ(port_type(returned), MACH_PORT_TYPE_SEND_ONCE);
	port_drop_send(returned);
	message_drain(port);
	port_destroy(port);
}

/* ---------------- What is not broken off ---------------- */

static volatile uint32_t stop;

static void spin(void *unused)
{
	(void)unused;
	while (!stop)
		__asm__ volatile("pause");
	done = 1;
}

/* A thread that waits for nothing goes on with what it does, also in its next wait. */
TEST(a_running_thread_is_not_disturbed)
{
	mach_port_t thread;

	stop = 0;
	done = 0;
	worker_start(0, spin, NULL);
	thread = worker_port(0);
	for (int i = 0; i < 10; i++)
		EXPECT_EQ(thread_abort(thread), KERN_SUCCESS);
	stop = 1;
	EXPECT(wait_for(&done, 1));
	worker_join(0);
}

static void spin_and_receive(void *port)
{
	while (!stop)
		__asm__ volatile("pause");
	receive(port);
}

TEST(an_abort_does_not_wait_for_the_next_wait)
{
	mach_port_t port = port_new(), thread;

	stop = 0;
	done = 0;
	worker_start(0, spin_and_receive, (void *)port);
	thread = worker_port(0);
	EXPECT_EQ(thread_abort(thread), KERN_SUCCESS);
	stop = 1;
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(done, 0);
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
	expect_interrupted(MACH_MSG_SUCCESS);
	port_destroy(port);
}

/* Aborts and messages at the same time: each message is received, whatever comes between. */
#define MESSAGES 100

static volatile uint32_t received;

static void receive_all(void *port)
{
	struct message message;

	while (received < MESSAGES) {
		mach_msg_return_t got = mach_msg_trap(&message.head, MACH_RCV_MSG, 0,
						      sizeof message, (mach_port_t)port, 0, 0);

		if (got == MACH_MSG_SUCCESS)
			received++;
		else
			EXPECT_EQ(got, MACH_RCV_INTERRUPTED);
	}
}

TEST(no_message_is_lost_by_an_abort)
{
	mach_port_t port = port_new(), thread;

	received = 0;
	worker_start(0, receive_all, (void *)port);
	thread = worker_port(0);
	for (int i = 0; i < MESSAGES; i++) {
		EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND_ONCE, i), MACH_MSG_SUCCESS);
		if (i < MESSAGES - 1)
			EXPECT_EQ(thread_abort(thread), KERN_SUCCESS);
		if (i % 3 == 0)
			swtch_pri(0);
	}
	EXPECT(wait_for(&received, MESSAGES));
	worker_join(0);
	port_destroy(port);
}
