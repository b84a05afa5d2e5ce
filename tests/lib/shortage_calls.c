/* SPDX-License-Identifier: MIT */
/* Scenarios of shortage: calls whose messages are too long for a thread's inbox. */
#include "shortage.h"

static uint8_t thread_stack[PAGE_SIZE];

/* Answers two requests; where there is no memory for an answer there is for its second attempt. */
static void answer_twice(void *port)
{
	mach_port_t served = (mach_port_t)port;
	struct message message;
	mach_msg_return_t result =
		mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, served, 0, MACH_PORT_NULL);

	for (uint32_t n = 0; n < 2 && result == MACH_MSG_SUCCESS; n++) {
		message_head(&message, message.head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE,
			     MACH_PORT_NULL, 0, 2);
		do
			result = mach_msg(&message.head,
					  n == 0 ? MACH_SEND_MSG | MACH_RCV_MSG : MACH_SEND_MSG,
					  sizeof message.head, sizeof message, served, 0,
					  MACH_PORT_NULL);
		while (result == MACH_SEND_NO_BUFFER);
	}
}

/* The second request finds its server waiting: the fast path makes a message of it. */
void shortage_long_calls(void)
{
	struct message message;
	mach_port_t port, reply;
	uint32_t id;

	TRY(mach_port_allocate(mach_task_self_cached(), MACH_PORT_RIGHT_RECEIVE, &port));
	TRY(mach_port_insert_right(mach_task_self_cached(), port, port, MACH_MSG_TYPE_MAKE_SEND));
	TRY(mach_port_allocate(mach_task_self_cached(), MACH_PORT_RIGHT_RECEIVE, &reply));
	TRY(thread_start(answer_twice, (void *)port, thread_stack, sizeof thread_stack,
			 PRIORITY_USUAL, &id));
	for (uint32_t words = 0; words <= 60; words += 60) {
		message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, reply,
			     MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
		TRY(mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG,
			     sizeof message.head + 4 * words, sizeof message, reply, 0,
			     MACH_PORT_NULL));
	}
	TRY(assay_thread_join(id, LONG_WAIT));
}
