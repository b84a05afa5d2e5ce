/* SPDX-License-Identifier: MIT */
/*
 * A thread hands the CPU to a receiver whose time runs out in the same moment.
 *
 * The sender has been asked to stop by many threads, which it wakes before it waits: the tick that
 * comes meanwhile finds the receiver with its message, but waiting still.
 *
 * machine: cpus=1
 */
#include "check.h"
#include "ipc.h"

#define SUSPENDERS 800
#define ROUNDS     4
#define TICK       10000000ull /* Nanoseconds. */
#define LIMIT      30          /* Of the receiver, in milliseconds. */

/* Names in the child. */
#define OUT    0x101
#define ANSWER 0x102

static uint8_t stacks[SUSPENDERS][1024] __attribute__((aligned(16)));
static uint32_t ids[SUSPENDERS];
static mach_port_t child;
static mach_msg_return_t received;

static uint64_t now(void)
{
	uint64_t nanos = 0;

	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &nanos);
	return nanos;
}

static void call(uint32_t unused)
{
	struct message message;

	(void)unused;
	message_head(&message, OUT, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0, 1);
	mach_msg_trap(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.head,
		      sizeof message, ANSWER, 0, 0);
}

static void suspend_child(void *unused)
{
	(void)unused;
	syscall_task_suspend(child);
}

static void receive(void *port)
{
	struct message message;

	received = mach_msg_trap(&message.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof message,
				 (mach_port_t)port, LIMIT, 0);
}

static void spin_until(uint64_t time)
{
	while (now() < time)
		;
}

/* The sender is let go `early` nanoseconds before the receiver's time is over. */
static void round(uint32_t early)
{
	static uint8_t stack[2 * PAGE_SIZE] __attribute__((aligned(16)));
	mach_port_t port = port_new_with_send(), thread;
	uint32_t receiver;
	uint64_t tick;

	for (uint32_t i = 0; i < MACH_PORT_QLIMIT_DEFAULT; i++)
		message_send_id(port, MACH_MSG_TYPE_COPY_SEND, (int)i);
	child = child_new();
	child_give(child, OUT, port, MACH_MSG_TYPE_COPY_SEND);
	mach_port_allocate_name(child, MACH_PORT_RIGHT_RECEIVE, ANSWER);
	thread = child_start(child, 0, call, 0);
	EXPECT_EQ(thread_priority(thread, PRIORITY_USUAL + 15, FALSE), KERN_SUCCESS);
	sleep_ms(SHORT_WAIT);
	tick = now();
	/* From here on the sender has room, but not the CPU. */
	EXPECT_EQ(message_drain(port), MACH_PORT_QLIMIT_DEFAULT);
	for (uint32_t i = 0; i < SUSPENDERS; i++)
		EXPECT_EQ(thread_start(suspend_child, NULL, stacks[i], sizeof stacks[i],
				       PRIORITY_USUAL - 1, &ids[i]),
			  KERN_SUCCESS);
	spin_until(tick + TICK / 2);
	EXPECT_EQ(thread_start(receive, (void *)port, stack, sizeof stack, PRIORITY_USUAL - 5,
			       &receiver),
		  KERN_SUCCESS);
	spin_until(tick + (LIMIT / 10 + 1) * TICK - early);
	EXPECT_EQ(assay_thread_join(receiver, LONG_WAIT), KERN_SUCCESS);
	/* The message was there before its time was over. */
	EXPECT_EQ(received, MACH_MSG_SUCCESS);
	for (uint32_t i = 0; i < SUSPENDERS; i++)
		EXPECT_EQ(assay_thread_join(ids[i], LONG_WAIT), KERN_SUCCESS);
	child_end(child);
	port_destroy(thread);
	port_destroy(port);
}

TEST(a_receiver_that_times_out_as_it_is_given_a_message)
{
	for (uint32_t i = 0; i < ROUNDS; i++)
		round(20000 + 20000 * i);
}
