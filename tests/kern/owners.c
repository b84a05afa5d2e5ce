/* SPDX-License-Identifier: MIT */
/*
 * Owners: what a task takes is charged to who pays for it, to the unit, and is given back; who is
 * over a limit gets a shortage, and nobody else; and a task ends with the one that made it.
 *
 * machine: cpus=1 arguments="${host-port}"
 * machine: cpus=2 seed=1 arguments="${host-port}"
 */
#include <mach/owner.h>

#include "block.h"
#include "check.h"
#include "ipc.h"
#include "owners.h"

enum {
	REPORT = 0x101, /* In a child: where it sends words to. */
	MANY = 100,
};

static bool is_dead(mach_port_t name)
{
	return port_type(name) == MACH_PORT_TYPE_DEAD_NAME;
}

/* ---------------- Ports and names ---------------- */

TEST(ports_are_charged_to_the_unit)
{
	mach_port_t task = task_of(ALICE), names[MANY], set;
	uint32_t tables = used(ALICE, OWNER_NAMES);

	EXPECT_EQ(used(ALICE, OWNER_PORTS), 0);
	for (uint32_t n = 0; n < MANY; n++)
		EXPECT_EQ(mach_port_allocate(task, MACH_PORT_RIGHT_RECEIVE, &names[n]),
			  KERN_SUCCESS);
	EXPECT_EQ(mach_port_allocate(task, MACH_PORT_RIGHT_PORT_SET, &set), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_PORTS), MANY + 1);
	EXPECT_LT(tables, used(ALICE, OWNER_NAMES));
	EXPECT_EQ(mach_port_destroy(task, set), KERN_SUCCESS);
	for (uint32_t n = 0; n < MANY; n++)
		EXPECT_EQ(mach_port_mod_refs(task, names[n], MACH_PORT_RIGHT_RECEIVE, -1),
			  KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_PORTS), 0);
	child_end(task);
	EXPECT(is_unknown(ALICE));
}

/* A table has 32 names; one in the far, chosen, needs three tables of tables, and its own. */
TEST(names_are_charged_by_the_table)
{
	mach_port_t task = task_of(ALICE), name;
	uint32_t tables = used(ALICE, OWNER_NAMES);

	EXPECT_EQ(tables, 0);
	EXPECT_EQ(mach_port_allocate_name(task, MACH_PORT_RIGHT_RECEIVE, 0x12345678), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_NAMES), tables + 4);
	EXPECT_EQ(mach_port_allocate_name(task, MACH_PORT_RIGHT_RECEIVE, 0x12345679), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_NAMES), tables + 4);
	EXPECT_EQ(mach_port_allocate(task, MACH_PORT_RIGHT_RECEIVE, &name), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_NAMES), tables + 6);
	child_end(task);
	EXPECT(is_unknown(ALICE));
}

TEST(who_is_over_gets_a_shortage_and_nobody_else)
{
	mach_port_t alice = task_of(ALICE), bob = task_of(BOB), name, last = MACH_PORT_NULL;
	uint32_t n = 0;

	EXPECT_EQ(set_limit(ALICE, OWNER_PORTS, MANY), KERN_SUCCESS);
	while (mach_port_allocate(alice, MACH_PORT_RIGHT_RECEIVE, &name) == KERN_SUCCESS) {
		last = name;
		n++;
	}
	EXPECT_EQ(n, MANY);
	EXPECT_EQ(mach_port_allocate(alice, MACH_PORT_RIGHT_RECEIVE, &name),
		  KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(mach_port_allocate(bob, MACH_PORT_RIGHT_RECEIVE, &name), KERN_SUCCESS);
	EXPECT_EQ(mach_port_destroy(alice, last), KERN_SUCCESS);
	EXPECT_EQ(mach_port_allocate(alice, MACH_PORT_RIGHT_RECEIVE, &name), KERN_SUCCESS);
	EXPECT_EQ(set_limit(ALICE, OWNER_NAMES, 0), KERN_SUCCESS);
	EXPECT_EQ(mach_port_allocate_name(alice, MACH_PORT_RIGHT_DEAD_NAME, 0x12345678),
		  KERN_RESOURCE_SHORTAGE);
	child_end(alice);
	child_end(bob);
}

/* The port is there as long as somebody has a right to it, and is Alice's, whoever has that. */
TEST(a_port_stays_whose_it_was)
{
	mach_port_t alice = task_of(ALICE), port, name;
	mach_msg_type_name_t type;

	EXPECT_EQ(mach_port_allocate(alice, MACH_PORT_RIGHT_RECEIVE, &name), KERN_SUCCESS);
	EXPECT_EQ(mach_port_extract_right(alice, name, MACH_MSG_TYPE_MOVE_RECEIVE, &port, &type),
		  KERN_SUCCESS);
	child_end(alice);
	EXPECT_EQ(used(ALICE, OWNER_PORTS), 1);
	EXPECT_EQ(used(ALICE, OWNER_TASKS), 0);
	port_destroy(port);
	EXPECT(is_unknown(ALICE));
}

/* ---------------- Tasks and threads ---------------- */

TEST(tasks_and_threads_are_charged_to_the_unit)
{
	mach_port_t task = task_of(ALICE), child, threads[MANY];

	for (uint32_t n = 0; n < MANY; n++)
		EXPECT_EQ(thread_create(task, &threads[n]), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_THREADS), MANY);
	EXPECT_EQ(task_create(task, false, &child), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_TASKS), 2);
	for (uint32_t n = 0; n < MANY; n++) {
		EXPECT_EQ(thread_terminate(threads[n]), KERN_SUCCESS);
		EXPECT_EQ(used(ALICE, OWNER_THREADS), MANY - n - 1);
		port_drop_send(threads[n]);
	}
	child_end(child);
	EXPECT_EQ(used(ALICE, OWNER_TASKS), 1);
	child_end(task);
	EXPECT(is_unknown(ALICE));
}

TEST(tasks_and_threads_have_limits)
{
	mach_port_t task = task_of(ALICE), child, thread, names[3];

	EXPECT_EQ(set_limit(ALICE, OWNER_TASKS, 3), KERN_SUCCESS);
	EXPECT_EQ(set_limit(ALICE, OWNER_THREADS, 1), KERN_SUCCESS);
	for (uint32_t n = 0; n < 2; n++)
		EXPECT_EQ(task_create(task, false, &names[n]), KERN_SUCCESS);
	EXPECT_EQ(task_create(task, false, &child), KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(thread_create(names[0], &names[2]), KERN_SUCCESS);
	EXPECT_EQ(thread_create(task, &thread), KERN_RESOURCE_SHORTAGE);
	port_drop_send(names[2]);
	for (uint32_t n = 0; n < 2; n++)
		child_end(names[n]);
	EXPECT_EQ(thread_create(task, &thread), KERN_SUCCESS);
	port_drop_send(thread);
	child_end(task);
}

/* All but the system have a limit together, however much each may have. */
TEST(what_is_left_is_the_system_s)
{
	mach_port_t alice = task_of(ALICE), bob = task_of(BOB), name;
	owner_uses_t uses;
	uint32_t limit;

	EXPECT(owner_uses(OWNER_OTHERS, &uses));
	limit = uses.uses[OWNER_PORTS].limit;
	EXPECT_EQ(set_limit(OWNER_OTHERS, OWNER_PORTS, 2), KERN_SUCCESS);
	EXPECT_EQ(mach_port_allocate(alice, MACH_PORT_RIGHT_RECEIVE, &name), KERN_SUCCESS);
	EXPECT_EQ(mach_port_allocate(bob, MACH_PORT_RIGHT_RECEIVE, &name), KERN_SUCCESS);
	EXPECT_EQ(mach_port_allocate(bob, MACH_PORT_RIGHT_RECEIVE, &name), KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(used(OWNER_OTHERS, OWNER_PORTS), 2);
	name = port_new();
	EXPECT(MACH_PORT_VALID(name));
	port_destroy(name);
	EXPECT_EQ(set_limit(OWNER_OTHERS, OWNER_PORTS, limit), KERN_SUCCESS);
	child_end(alice);
	child_end(bob);
	EXPECT_EQ(used(OWNER_OTHERS, OWNER_PORTS), 0);
}

TEST(what_a_task_holds_goes_along)
{
	mach_port_t task = task_of(ALICE), name, thread;

	EXPECT_EQ(mach_port_allocate(task, MACH_PORT_RIGHT_RECEIVE, &name), KERN_SUCCESS);
	EXPECT_EQ(thread_create(task, &thread), KERN_SUCCESS);
	EXPECT_EQ(task_set_owner(host_priv(), task, BOB), KERN_SUCCESS);
	EXPECT_EQ(used(BOB, OWNER_TASKS), 1);
	EXPECT_EQ(used(BOB, OWNER_THREADS), 1);
	EXPECT_EQ(used(BOB, OWNER_NAMES), 2);
	EXPECT_EQ(used(BOB, OWNER_PORTS), 0);
	EXPECT_EQ(used(ALICE, OWNER_PORTS), 2); /* The thread's, too. */
	EXPECT_EQ(used(ALICE, OWNER_NAMES), 0);
	port_drop_send(thread);
	child_end(task);
	EXPECT(is_unknown(ALICE) && is_unknown(BOB));
}

TEST(only_who_has_the_host_says_who_pays)
{
	mach_port_t task = task_of(ALICE), host = mach_host_self();
	owner_uses_t uses;
	unsigned owner = 0;

	EXPECT_EQ(task_set_owner(host, task, BOB), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_set_owner(host_priv(), host, BOB), KERN_INVALID_TASK);
	EXPECT_EQ(task_set_owner(host_priv(), task, OWNER_OTHERS), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(host_owner_limit(host, ALICE, OWNER_PORTS, 1), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(host_owner_limit(host_priv(), ALICE, OWNER_KINDS, 1), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(host_owner_limit(host_priv(), ALICE, -1, 1), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(host_owner_limit(host_priv(), BOB, OWNER_PORTS, 1), KERN_INVALID_VALUE);
	EXPECT_EQ(host_owner_limit(host_priv(), OWNER_SYSTEM, OWNER_PORTS, 1), KERN_INVALID_VALUE);
	EXPECT_EQ(host_owner(task, &owner, &uses), KERN_INVALID_ARGUMENT);
	child_end(task);
	port_drop_send(host);
}

/* ---------------- Messages ---------------- */

/* So many words of body, of which each makes a small message a unit. */
static mach_msg_return_t post(mach_port_t port, uint32_t words)
{
	static struct message message;

	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
	return message_post(&message, words);
}

TEST(queued_messages_are_charged_to_the_unit)
{
	mach_port_t port = port_new_with_send();

	become(ALICE);
	EXPECT_EQ(post(port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_QUEUED), 1);
	EXPECT_EQ(post(port, 200), MACH_MSG_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_QUEUED), 1 + 16);
	EXPECT_EQ(message_drain(port), 2);
	EXPECT_EQ(used(ALICE, OWNER_QUEUED), 0);
	EXPECT_EQ(post(port, 0), MACH_MSG_SUCCESS);
	port_destroy(port);
	EXPECT_EQ(used(ALICE, OWNER_QUEUED), 0);
	become(OWNER_SYSTEM);
	EXPECT(is_unknown(ALICE));
}

TEST(memory_in_a_queue_is_charged_by_the_page)
{
	mach_port_t port = port_new_with_send();
	static struct message message;
	static char data[5000];

	become(ALICE);
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_FAR(MACH_MSG_TYPE_INTEGER_32, 32, sizeof data / 4);
	message.body[1] = (uint32_t)data;
	EXPECT_EQ(message_post(&message, 2), MACH_MSG_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_QUEUED), 1 + 2 * 16);
	port_destroy(port);
	EXPECT_EQ(used(ALICE, OWNER_QUEUED), 0);
	become(OWNER_SYSTEM);
}

TEST(who_may_have_no_more_in_queues_keeps_the_message)
{
	mach_port_t port = port_new_with_send();

	become(ALICE);
	EXPECT_EQ(set_limit(ALICE, OWNER_QUEUED, 2), KERN_SUCCESS);
	EXPECT_EQ(post(port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(post(port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(post(port, 0), MACH_SEND_NO_BUFFER);
	EXPECT_EQ(message_drain(port), 2);
	EXPECT_EQ(post(port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_drain(port), 1);
	become(OWNER_SYSTEM);
	port_destroy(port);
}

/* Answers wait for no room; so who asks for them and does not take them pays. */
TEST(answers_are_paid_by_who_asked)
{
	mach_port_t server = port_new_with_send(), port;
	struct message message;

	become(ALICE);
	port = port_new();
	become(OWNER_SYSTEM);
	for (uint32_t n = 0; n < MANY; n++) {
		message_head(&message, server, MACH_MSG_TYPE_COPY_SEND, port,
			     MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
		EXPECT_EQ(message_post(&message, 0), MACH_MSG_SUCCESS);
		EXPECT_EQ(message_get(&message, server, 0), MACH_MSG_SUCCESS);
		message_head(&message, message.head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE,
			     0, 0, 2);
		if (n == 2)
			EXPECT_EQ(set_limit(ALICE, OWNER_QUEUED, 3), KERN_SUCCESS);
		/* The server hears nothing of it. */
		EXPECT_EQ(message_post(&message, 0), MACH_MSG_SUCCESS);
	}
	EXPECT_EQ(used(ALICE, OWNER_QUEUED), 3);
	EXPECT_EQ(message_drain(port), 3);
	EXPECT_EQ(used(ALICE, OWNER_QUEUED), 0);
	port_destroy(port);
	port_destroy(server);
	EXPECT(is_unknown(ALICE));
}

/* The kernel's answers come in any case: it takes no request from who is over already. */
TEST(who_may_have_no_more_in_queues_asks_nothing)
{
	mach_port_t port, task = self();
	struct message message;
	uint32_t n = 0;

	become(ALICE);
	port = port_new();
	EXPECT_EQ(set_limit(ALICE, OWNER_QUEUED, MANY), KERN_SUCCESS);
	do
		message_head(&message, task, MACH_MSG_TYPE_COPY_SEND, port,
			     MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
	while (message_post(&message, 0) == MACH_MSG_SUCCESS && n++ < 2 * MANY);
	EXPECT_EQ(n, MANY);
	port_destroy(message.head.msgh_local_port); /* The right has come back. */
	EXPECT_EQ(message_drain(port), MANY);
	become(OWNER_SYSTEM);
	port_destroy(port);
	EXPECT(is_unknown(ALICE));
}

static void spin(uint32_t unused)
{
	(void)unused;
	for (;;)
		use_cpu();
}

enum {
	PARTS = 1024,
	EACH = 1u << 30,
	LARGE = 5 * PAGE_SIZE, /* In units of 16 a page, as the parts are. */
	WORDS = (LARGE - sizeof(mach_msg_header_t)) / 4,
};

/* Carries the memory that it is in as often as makes, with itself, a count of 32 bits 0. */
static void fill_endless(struct message *message, mach_port_t port)
{
	uint32_t *at = message->body;

	message_head(message, port, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
	message->head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	for (uint32_t n = 0; n < PARTS; n++) {
		*at++ = TYPE_LONG;
		*at++ = 8u << 16 | MACH_MSG_TYPE_BYTE;
		*at++ = n == 0 ? EACH - LARGE : EACH;
		*at++ = (uint32_t)message;
	}
	*at++ = TYPE_LONG | TYPE_IS_INLINE;
	*at++ = 32u << 16 | MACH_MSG_TYPE_INTEGER_32;
	*at = WORDS - 4 * PARTS - 3;
}

/* In a child: tells what became of such a message. */
static void post_endless(uint32_t unused)
{
	mach_port_t port = mach_reply_port();
	vm_address_t area = 0;
	mach_msg_return_t result;

	mach_port_insert_right(self(), port, port, MACH_MSG_TYPE_MAKE_SEND);
	vm_allocate(self(), &area, EACH, true);
	fill_endless((struct message *)area, port);
	result = message_post((struct message *)area, WORDS);
	message_send_id(REPORT, MACH_MSG_TYPE_COPY_SEND, result & ~MACH_MSG_MASK);
	spin(unused);
}

TEST(more_memory_than_can_be_counted_is_too_much)
{
	mach_port_t port = port_new(), child = child_new(), thread;
	struct message message;

	EXPECT_EQ(task_set_owner(host_priv(), child, ALICE), KERN_SUCCESS);
	child_give(child, REPORT, port, MACH_MSG_TYPE_MAKE_SEND);
	thread = child_start(child, 0, post_endless, 0);
	EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, MACH_SEND_NO_BUFFER);
	port_drop_send(thread);
	child_end(child);
	port_destroy(port);
	EXPECT(is_unknown(ALICE));
}

/* ---------------- Ending with the maker ---------------- */

static void send_port(mach_port_t port)
{
	struct message message;

	message_head(&message, REPORT, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_COPY_SEND, 32, 1);
	message.body[1] = port;
	mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head + 8, 0, 0, 0, 0);
}

/* In a child: makes a task that runs, which makes one too, and so on; each tells of its child. */
static void make_line(uint32_t length)
{
	mach_port_t task, report = REPORT;

	if (length > 0 && task_create(mach_task_self(), true, &task) == KERN_SUCCESS) {
		mach_port_insert_right(task, REPORT, report, MACH_MSG_TYPE_COPY_SEND);
		child_start(task, 0, make_line, length - 1);
		send_port(task);
	}
	spin(0);
}

TEST(a_task_ends_with_the_one_that_made_it)
{
	enum {
		LENGTH = 5
	};
	mach_port_t port = port_new(), child = child_new(), line[LENGTH], thread;
	struct message message;

	child_give(child, REPORT, port, MACH_MSG_TYPE_MAKE_SEND);
	thread = child_start(child, 0, make_line, LENGTH);
	for (uint32_t n = 0; n < LENGTH; n++) {
		EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
		line[n] = message.body[1];
		EXPECT_EQ(port_type(line[n]), MACH_PORT_TYPE_SEND);
	}
	port_drop_send(thread);
	child_end(child);
	for (uint32_t n = 0; n < LENGTH; n++) {
		EXPECT(is_dead(line[n]));
		port_destroy(line[n]);
	}
	port_destroy(port);
}

TEST(a_task_that_ends_has_its_maker_go_on)
{
	mach_port_t one, two;

	EXPECT_EQ(task_create(self(), false, &one), KERN_SUCCESS);
	EXPECT_EQ(task_create(one, false, &two), KERN_SUCCESS);
	child_end(one);
	/* The one that it was made from is not the one that made it. */
	EXPECT_EQ(port_type(two), MACH_PORT_TYPE_SEND);
	child_end(two);
}
