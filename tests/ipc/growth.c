/* SPDX-License-Identifier: MIT */
/*
 * Nothing grows: after very many calls of a kind the kernel has what it had before.
 *
 *     tools/guest boot --icount -- 'ipc/growth rounds=1000000'
 *
 * The counts are the balance of each test.  What zones and stacks keep for their next use is not
 * among them, so the second half of the rounds must do without a page that the first did not need.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=3
 */
#include "check.h"
#include "ipc.h"

#define ROUNDS 20000u

static uint32_t free_pages(void)
{
	struct vm_statistics statistics = {0};

	EXPECT_EQ(vm_statistics(mach_task_self_cached(), &statistics), KERN_SUCCESS);
	return (uint32_t)statistics.free_count;
}

/* Runs `round` so many times, until one fails. */
static bool repeat(bool (*round)(void), uint32_t times)
{
	for (uint32_t i = 0; i < times; i++) {
		if (!round()) {
			check_fail("round %u of %u failed", i, times);
			return false;
		}
	}
	return true;
}

/* What has just ended may be on its way out on another CPU: it gets a moment. */
static void expect_no_growth(bool (*round)(void))
{
	uint32_t rounds = check_parameter("rounds", ROUNDS), half, end;

	REQUIRE(repeat(round, rounds / 2));
	sleep_ms(SHORT_WAIT);
	half = free_pages();
	REQUIRE(repeat(round, rounds - rounds / 2));
	sleep_ms(SHORT_WAIT);
	end = free_pages();
	EXPECT_LE(half, end);
}

/* ---------------- Messages ---------------- */

#define OVER 99

static mach_port_t service, answers;

/* Receives and replies in one trap, as servers do, until it is told that it is over. */
static void server(void *argument)
{
	struct message message;
	mach_msg_option_t option = MACH_RCV_MSG;

	(void)argument;
	for (;;) {
		if (mach_msg(&message.head, option, sizeof message.head, sizeof message, service, 0,
			     MACH_PORT_NULL) != MACH_MSG_SUCCESS)
			return;
		if (message.head.msgh_id == OVER)
			return;
		message_head(&message, message.head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE,
			     MACH_PORT_NULL, 0, message.head.msgh_id + 1);
		option = MACH_SEND_MSG | MACH_RCV_MSG;
	}
}

static bool call_server(void)
{
	struct message message;

	message_head(&message, service, MACH_MSG_TYPE_COPY_SEND, answers,
		     MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
	return mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.head,
			sizeof message, answers, 0, MACH_PORT_NULL) == MACH_MSG_SUCCESS &&
	       message.head.msgh_id == 2;
}

TEST(rpc_does_not_grow)
{
	service = port_new_with_send();
	answers = port_new();
	worker_start(0, server, NULL);
	expect_no_growth(call_server);
	EXPECT_EQ(message_send_id(service, MACH_MSG_TYPE_COPY_SEND, OVER), MACH_MSG_SUCCESS);
	worker_join(0);
	port_destroy(service);
	port_destroy(answers);
}

/* A page of memory and a right go out of line and come back, to be freed by the receiver. */
static bool carry_memory(void)
{
	static const mach_port_t nothing[4];
	struct message message;

	message_head(&message, service, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_FAR(MACH_MSG_TYPE_BYTE, 8, 64);
	message.body[1] = (uint32_t)&nothing;
	message.body[2] = TYPE_FAR(MACH_MSG_TYPE_COPY_SEND, 32, 4);
	message.body[3] = (uint32_t)&nothing;
	return message_post(&message, 4) == MACH_MSG_SUCCESS &&
	       message_get(&message, service, 0) == MACH_MSG_SUCCESS &&
	       vm_deallocate(mach_task_self_cached(), message.body[1], 64) == KERN_SUCCESS &&
	       vm_deallocate(mach_task_self_cached(), message.body[3], 16) == KERN_SUCCESS;
}

TEST(memory_in_messages_does_not_grow)
{
	service = port_new_with_send();
	EXPECT(carry_memory()); /* The page table for what is received stays. */
	port_destroy(service);
	balance_note();
	service = port_new_with_send();
	expect_no_growth(carry_memory);
	port_destroy(service);
}

/* ---------------- Objects ---------------- */

/* With a message in its queue that asks for a reply, which its end makes a notification of. */
static bool make_port(void)
{
	mach_port_t port, self = mach_task_self_cached();
	struct message message;

	if (mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &port) != KERN_SUCCESS)
		return false;
	message_head(&message, port, MACH_MSG_TYPE_MAKE_SEND, port, MACH_MSG_TYPE_MAKE_SEND_ONCE,
		     1);
	return message_post(&message, 0) == MACH_MSG_SUCCESS &&
	       mach_port_destroy(self, port) == KERN_SUCCESS;
}

TEST(ports_do_not_grow)
{
	expect_no_growth(make_port);
}

static bool make_thread(void)
{
	mach_port_t thread;

	return thread_create(mach_task_self_cached(), &thread) == KERN_SUCCESS &&
	       thread_terminate(thread) == KERN_SUCCESS &&
	       mach_port_deallocate(mach_task_self_cached(), thread) == KERN_SUCCESS;
}

TEST(threads_do_not_grow)
{
	expect_no_growth(make_thread);
}

static bool make_task(void)
{
	mach_port_t task;

	return task_create(mach_task_self_cached(), FALSE, &task) == KERN_SUCCESS &&
	       task_terminate(task) == KERN_SUCCESS &&
	       mach_port_deallocate(mach_task_self_cached(), task) == KERN_SUCCESS;
}

TEST(tasks_do_not_grow)
{
	expect_no_growth(make_task);
}
