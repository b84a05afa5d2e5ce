/* SPDX-License-Identifier: MIT */
/*
 * Owners of messages: what nobody sends, as notifications, and what nobody may refuse, as answers,
 * is held to the limits too, of one owner and of all together; what is lost by that is counted, and
 * what it carried is given back.  And what lies in a queue does not keep alive what nobody pays.
 *
 * machine: cpus=1 arguments="${host-port}"
 * machine: cpus=2 seed=1 arguments="${host-port}"
 */
#include <mach/notify.h>
#include <mach/owner.h>

#include "check.h"
#include "ipc.h"
#include "owners.h"

enum {
	TOGETHER = 200, /* Units that all may have together, */
	MANY = 300,     /* of which these are more. */
	SURE = 64,      /* Units that one may have in any case. */
};

static uint32_t lost(unsigned owner)
{
	owner_uses_t uses;

	return owner_uses(owner, &uses) ? uses.lost : 0;
}

/* All owners but the system may have so many units together; how many it was. */
static uint32_t set_together(uint32_t limit)
{
	uint32_t before = 0;
	owner_uses_t uses;

	EXPECT(owner_uses(OWNER_OTHERS, &uses));
	before = uses.uses[OWNER_QUEUED].limit;
	EXPECT_EQ(set_limit(OWNER_OTHERS, OWNER_QUEUED, limit), KERN_SUCCESS);
	return before;
}

static mach_port_t port_of(unsigned owner)
{
	mach_port_t port;

	become(owner);
	port = port_new();
	become(OWNER_SYSTEM);
	return port;
}

/* ---------------- What the kernel sends ---------------- */

/* Each right that is thrown away is told of. */
static void notify(mach_port_t port, uint32_t n)
{
	while (n-- > 0)
		port_drop_send(port_send_once(port));
}

TEST(all_together_have_no_more_notifications_than_they_may)
{
	mach_port_t alice = port_of(ALICE), bob = port_of(BOB);
	uint32_t before = set_together(TOGETHER), lost_before = lost(OWNER_OTHERS);

	notify(alice, MANY);
	notify(bob, MANY);
	EXPECT_EQ(used(ALICE, OWNER_QUEUED), TOGETHER);
	EXPECT_EQ(used(BOB, OWNER_QUEUED), SURE);
	EXPECT_EQ(used(OWNER_OTHERS, OWNER_QUEUED), TOGETHER + SURE);
	EXPECT_EQ(lost(ALICE), MANY - TOGETHER);
	EXPECT_EQ(lost(BOB), MANY - SURE);
	EXPECT_EQ(lost(OWNER_OTHERS) - lost_before, 2 * MANY - TOGETHER - SURE);
	EXPECT_EQ(message_drain(alice), TOGETHER);
	EXPECT_EQ(message_drain(bob), SURE);
	port_destroy(alice);
	port_destroy(bob);
	set_together(before);
	EXPECT(is_unknown(ALICE) && is_unknown(BOB));
}

/* Who has little asks, and is answered, whatever others have. */
TEST(who_has_little_is_answered_when_others_have_all)
{
	mach_port_t alice = port_of(ALICE), task = self(), bob;
	uint32_t before = set_together(TOGETHER);
	struct message message;

	notify(alice, MANY);
	become(BOB);
	bob = port_new();
	for (uint32_t n = 0; n < SURE; n++) {
		message_head(&message, task, MACH_MSG_TYPE_COPY_SEND, bob,
			     MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
		EXPECT_EQ(message_post(&message, 0), MACH_MSG_SUCCESS);
	}
	message_head(&message, task, MACH_MSG_TYPE_COPY_SEND, bob, MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
	EXPECT_EQ(message_post(&message, 0), MACH_SEND_NO_BUFFER);
	port_destroy(message.head.msgh_local_port); /* The right has come back, */
	EXPECT_EQ(lost(BOB), 1);                    /* and of its end nobody can be told. */
	EXPECT_EQ(message_drain(bob), SURE);
	become(OWNER_SYSTEM);
	port_destroy(alice);
	port_destroy(bob);
	set_together(before);
}

/* ---------------- Answers ---------------- */

enum {
	ANSWERS = 5,
	DATA = 3 * PAGE_SIZE,
};

/* Asks and answers; the answer brings a send right to `carried`, and memory. */
static void answer_with(mach_port_t reply, mach_port_t carried)
{
	static char data[DATA];
	struct message message;

	message_head(&message, port_send_once(reply), MACH_MSG_TYPE_MOVE_SEND_ONCE, 0, 0, 2);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_MAKE_SEND, 32, 1);
	message.body[1] = carried;
	message.body[2] = TYPE_FAR(MACH_MSG_TYPE_INTEGER_32, 32, DATA / 4);
	message.body[3] = (uint32_t)data;
	EXPECT_EQ(message_post(&message, 4), MACH_MSG_SUCCESS);
}

/* Who answers hears nothing of it, but has back what the answer carried; and root sees it. */
TEST(an_answer_that_is_refused_is_counted_and_gives_back_what_it_carried)
{
	mach_port_t reply = port_of(ALICE), carried = port_new(), told = port_new(), previous;
	struct message message;

	EXPECT_EQ(mach_port_request_notification(self(), carried, MACH_NOTIFY_NO_SENDERS, ANSWERS,
						 told, MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous),
		  KERN_SUCCESS);
	EXPECT_EQ(set_limit(ALICE, OWNER_QUEUED, 10), KERN_SUCCESS);
	for (uint32_t n = 0; n < ANSWERS; n++)
		answer_with(reply, carried);
	EXPECT_EQ(used(ALICE, OWNER_QUEUED), 0);
	EXPECT_EQ(lost(ALICE), ANSWERS);
	EXPECT_EQ(port_status(carried).mps_srights, 0);
	EXPECT_EQ(message_get(&message, told, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, MACH_NOTIFY_NO_SENDERS);
	port_destroy(reply);
	port_destroy(carried);
	port_destroy(told);
	EXPECT(is_unknown(ALICE));
}

/* ---------------- What waits to be sent ---------------- */

static kern_return_t request(mach_port_t task, mach_port_t name, mach_port_t told)
{
	mach_port_t previous = MACH_PORT_NULL;
	kern_return_t result =
		mach_port_request_notification(task, name, MACH_NOTIFY_DEAD_NAME, 0, told,
					       MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous);

	if (result == KERN_SUCCESS && previous != MACH_PORT_NULL)
		port_destroy(previous);
	return result;
}

/* A request to be told has its message already. */
TEST(requests_to_be_told_are_charged)
{
	enum {
		REQUESTS = 20
	};
	mach_port_t task = task_of(ALICE), told = port_new(), ports[REQUESTS + 1];

	EXPECT_EQ(set_limit(ALICE, OWNER_QUEUED, REQUESTS), KERN_SUCCESS);
	for (uint32_t n = 0; n <= REQUESTS; n++) {
		EXPECT_EQ(mach_port_allocate(task, MACH_PORT_RIGHT_RECEIVE, &ports[n]),
			  KERN_SUCCESS);
		EXPECT_EQ(request(task, ports[n], told),
			  n < REQUESTS ? KERN_SUCCESS : KERN_RESOURCE_SHORTAGE);
	}
	EXPECT_EQ(used(ALICE, OWNER_QUEUED), REQUESTS);
	/* One is replaced, one taken back, and one comes true. */
	EXPECT_EQ(request(task, ports[0], told), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_QUEUED), REQUESTS);
	EXPECT_EQ(request(task, ports[0], MACH_PORT_NULL), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_QUEUED), REQUESTS - 1);
	EXPECT_EQ(mach_port_destroy(task, ports[1]), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_QUEUED), REQUESTS - 2);
	child_end(task);
	EXPECT(is_unknown(ALICE));
	EXPECT_EQ(message_drain(told), REQUESTS + 2); /* The rights that came back tell, too. */
	port_destroy(told);
}

/* A message whose acceptance is to be told of brings another one. */
TEST(a_promise_to_tell_is_charged)
{
	mach_port_t full = port_new_with_send(), told = port_new();
	struct message message;
	uint32_t before;

	become(ALICE);
	while (message_send_id(full, MACH_MSG_TYPE_COPY_SEND, 1) == MACH_MSG_SUCCESS)
		continue;
	before = used(ALICE, OWNER_QUEUED);
	message_head(&message, full, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
	EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG | MACH_SEND_TIMEOUT | MACH_SEND_NOTIFY,
			   sizeof message.head, 0, MACH_PORT_NULL, 0, told),
		  MACH_SEND_WILL_NOTIFY);
	EXPECT_EQ(used(ALICE, OWNER_QUEUED), before + 2);
	message_drain(full);
	become(OWNER_SYSTEM);
	EXPECT_EQ(message_drain(told), 1);
	port_destroy(full);
	port_destroy(told);
	EXPECT(is_unknown(ALICE));
}

/* ---------------- Ports of what is gone ---------------- */

/* Rights to them keep them, in names and in messages, of which each costs four bytes. */
TEST(ports_of_threads_that_are_gone_are_charged)
{
	enum {
		GONE = 50
	};
	mach_port_t task, queue = port_new_with_send(), threads[GONE];
	struct message message;

	task = task_of(ALICE);
	EXPECT_EQ(set_limit(ALICE, OWNER_PORTS, GONE), KERN_SUCCESS);
	message_head(&message, queue, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_MOVE_SEND, 32, GONE);
	for (uint32_t n = 0; n < GONE; n++) {
		EXPECT_EQ(thread_create(task, &threads[n]), KERN_SUCCESS);
		message.body[1 + n] = threads[n];
	}
	EXPECT_EQ(thread_create(task, &threads[0]), KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(message_post(&message, 1 + GONE), MACH_MSG_SUCCESS);
	child_end(task);
	EXPECT_EQ(used(ALICE, OWNER_THREADS), 0);
	EXPECT_EQ(used(ALICE, OWNER_PORTS), GONE);
	EXPECT_EQ(message_drain(queue), 1);
	EXPECT(is_unknown(ALICE));
	port_destroy(queue);
}
