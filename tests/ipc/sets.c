/* SPDX-License-Identifier: MIT */
/*
 * Port sets: several ports received from as one.
 *
 * machine: cpus=1
 * machine: cpus=1 append="fastpath=off"
 * machine: cpus=2 seed=1
 */
#include "check.h"
#include "ipc.h"

#define NO_SUCH 0x7654
#define MEMBERS 40

static volatile uint32_t done;
static volatile mach_msg_return_t result;
static volatile mach_port_t source;

static mach_port_t self(void)
{
	return mach_task_self();
}

static mach_port_t set_new(void)
{
	mach_port_t set = MACH_PORT_NULL;

	EXPECT_EQ(mach_port_allocate(self(), MACH_PORT_RIGHT_PORT_SET, &set), KERN_SUCCESS);
	return set;
}

static mach_port_t member_new(mach_port_t set)
{
	mach_port_t port = port_new();

	EXPECT_EQ(mach_port_move_member(self(), port, set), KERN_SUCCESS);
	EXPECT_EQ(port_status(port).mps_pset, set);
	return port;
}

/* How many members the set has, and whether `name` is one of them. */
static uint32_t members(mach_port_t set, mach_port_t name, bool *is_there)
{
	mach_port_t *list = NULL;
	mach_msg_type_number_t n = 0;

	*is_there = false;
	EXPECT_EQ(mach_port_get_set_status(self(), set, &list, &n), KERN_SUCCESS);
	for (uint32_t i = 0; i < n; i++)
		*is_there |= list[i] == name;
	if (n > 0)
		EXPECT_EQ(vm_deallocate(self(), (vm_address_t)list, n * sizeof *list),
			  KERN_SUCCESS);
	return n;
}

static void expect_from(mach_port_t set, mach_port_t port, int id)
{
	struct message message;

	EXPECT_EQ(message_get(&message, set, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_local_port, port);
	EXPECT_EQ(message.head.msgh_id, id);
}

TEST(members_come_and_go)
{
	mach_port_t set = set_new(), port = member_new(set), other = member_new(set);
	bool is_there;

	EXPECT_EQ(members(set, port, &is_there), 2);
	EXPECT(is_there);
	EXPECT_EQ(mach_port_move_member(self(), port, MACH_PORT_NULL), KERN_SUCCESS);
	EXPECT_EQ(port_status(port).mps_pset, MACH_PORT_NULL);
	EXPECT_EQ(members(set, port, &is_there), 1);
	EXPECT(!is_there);
	EXPECT_EQ(mach_port_move_member(self(), port, MACH_PORT_NULL), KERN_NOT_IN_SET);
	port_destroy(other);
	EXPECT_EQ(members(set, other, &is_there), 0);
	port_destroy(set);
	port_destroy(port);
}

TEST(members_move_to_another_set)
{
	mach_port_t one = set_new(), other = set_new(), port = member_new(one);
	bool is_there;

	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 3), MACH_MSG_SUCCESS);
	EXPECT_EQ(mach_port_move_member(self(), port, other), KERN_SUCCESS);
	EXPECT_EQ(members(one, port, &is_there), 0);
	EXPECT_EQ(members(other, port, &is_there), 1);
	EXPECT(message_none(one));
	expect_from(other, port, 3);
	port_destroy(one);
	port_destroy(other);
	EXPECT_EQ(port_status(port).mps_pset, MACH_PORT_NULL);
	port_destroy(port);
}

TEST(wrong_members)
{
	mach_port_t set = set_new(), port = port_new();
	mach_port_t *list;
	mach_msg_type_number_t n;

	EXPECT_EQ(mach_port_move_member(self(), NO_SUCH, set), KERN_INVALID_NAME);
	EXPECT_EQ(mach_port_move_member(self(), port, NO_SUCH), KERN_INVALID_NAME);
	EXPECT_EQ(mach_port_move_member(self(), port, port), KERN_INVALID_RIGHT);
	EXPECT_EQ(mach_port_move_member(self(), set, set), KERN_INVALID_RIGHT);
	EXPECT_EQ(mach_port_get_set_status(self(), port, &list, &n), KERN_INVALID_RIGHT);
	EXPECT_EQ(mach_port_get_set_status(self(), NO_SUCH, &list, &n), KERN_INVALID_NAME);
	EXPECT_EQ(mach_port_set_qlimit(self(), set, 3), KERN_INVALID_RIGHT);
	port_destroy(set);
	port_destroy(port);
}

/* Messages that were queued before the port came to the set, and after. */
TEST(messages_are_received_from_a_set)
{
	mach_port_t set = set_new(), port = port_new(), other = member_new(set);

	EXPECT(message_none(set));
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
	EXPECT_EQ(mach_port_move_member(self(), port, set), KERN_SUCCESS);
	expect_from(set, port, 1);
	EXPECT_EQ(message_send_id(other, MACH_MSG_TYPE_MAKE_SEND, 2), MACH_MSG_SUCCESS);
	expect_from(set, other, 2);
	EXPECT(message_none(set));
	port_destroy(set);
	port_destroy(port);
	port_destroy(other);
}

TEST(a_member_alone_cannot_be_received_from)
{
	mach_port_t set = set_new(), port = member_new(set);
	struct message message;

	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, port, 0), MACH_RCV_IN_SET);
	port_destroy(set);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	port_destroy(port);
}

/* A member that always has messages does not starve the others. */
TEST(members_take_turns)
{
	mach_port_t set = set_new(), ports[3];
	uint32_t counts[3] = {0, 0, 0};
	struct message message;

	for (int i = 0; i < 3; i++) {
		ports[i] = member_new(set);
		for (int n = 0; n < 5; n++)
			EXPECT_EQ(message_send_id(ports[i], MACH_MSG_TYPE_MAKE_SEND, i),
				  MACH_MSG_SUCCESS);
	}
	for (int turn = 0; turn < 9; turn++) {
		EXPECT_EQ(message_get(&message, set, 0), MACH_MSG_SUCCESS);
		counts[message.head.msgh_id % 3]++;
	}
	for (int i = 0; i < 3; i++) {
		EXPECT_LE(2, counts[i]);
		port_destroy(ports[i]);
	}
	EXPECT(message_none(set));
	port_destroy(set);
}

TEST(many_members)
{
	mach_port_t set = set_new(), ports[MEMBERS];
	bool is_there;

	for (int i = 0; i < MEMBERS; i++)
		ports[i] = member_new(set);
	EXPECT_EQ(members(set, ports[0], &is_there), MEMBERS);
	for (int i = 0; i < MEMBERS; i++)
		EXPECT_EQ(message_send_id(ports[i], MACH_MSG_TYPE_MAKE_SEND, i), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_drain(set), MEMBERS);
	port_destroy(set);
	for (int i = 0; i < MEMBERS; i++)
		port_destroy(ports[i]);
}

/* ---------------- Waiting ---------------- */

static void receive_once(void *set)
{
	struct message message;

	result = mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, (mach_port_t)set, 0, 0);
	source = message.head.msgh_local_port;
	__atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
}

static void receiver_start(mach_port_t name)
{
	done = 0;
	result = -1;
	worker_start(0, receive_once, (void *)name);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(done, 0);
}

static void receiver_expect(mach_msg_return_t wanted)
{
	EXPECT(wait_for(&done, 1));
	EXPECT_EQ(result, wanted);
	worker_join(0);
}

TEST(a_receiver_waits_on_a_set)
{
	mach_port_t set = set_new(), one = member_new(set), other = member_new(set);

	receiver_start(set);
	EXPECT_EQ(message_send_id(other, MACH_MSG_TYPE_MAKE_SEND, 2), MACH_MSG_SUCCESS);
	receiver_expect(MACH_MSG_SUCCESS);
	EXPECT_EQ(source, other);
	port_destroy(set);
	port_destroy(one);
	port_destroy(other);
}

TEST(a_port_with_messages_comes_to_a_waiting_set)
{
	mach_port_t set = set_new(), port = port_new();

	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 2), MACH_MSG_SUCCESS);
	receiver_start(set);
	EXPECT_EQ(mach_port_move_member(self(), port, set), KERN_SUCCESS);
	receiver_expect(MACH_MSG_SUCCESS);
	EXPECT_EQ(source, port);
	port_destroy(set);
	port_destroy(port);
}

TEST(a_set_ends_under_its_receiver)
{
	mach_port_t set = set_new(), port = member_new(set);

	receiver_start(set);
	port_destroy(set);
	receiver_expect(MACH_RCV_PORT_DIED);
	port_destroy(port);
}

/* A member that dies is no end of the set's receivers. */
TEST(a_member_dies_under_a_sets_receiver)
{
	mach_port_t set = set_new(), port = member_new(set), other = member_new(set);

	receiver_start(set);
	port_destroy(port);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(done, 0);
	EXPECT_EQ(message_send_id(other, MACH_MSG_TYPE_MAKE_SEND, 2), MACH_MSG_SUCCESS);
	receiver_expect(MACH_MSG_SUCCESS);
	port_destroy(set);
	port_destroy(other);
}

TEST(a_port_joins_a_set_under_its_receiver)
{
	mach_port_t set = set_new(), port = port_new();

	receiver_start(port);
	EXPECT_EQ(mach_port_move_member(self(), port, set), KERN_SUCCESS);
	receiver_expect(MACH_RCV_PORT_CHANGED);
	port_destroy(set);
	port_destroy(port);
}

/* A receive right that is moved leaves its set. */
TEST(a_member_is_moved_away)
{
	mach_port_t set = set_new(), port = member_new(set), carrier = port_new();
	bool is_there;

	EXPECT_EQ(message_send_port(carrier, port, MACH_MSG_TYPE_MOVE_RECEIVE), MACH_MSG_SUCCESS);
	EXPECT_EQ(members(set, port, &is_there), 0);
	port = message_get_port(carrier);
	EXPECT_EQ(port_status(port).mps_pset, MACH_PORT_NULL);
	port_destroy(port);
	port_destroy(carrier);
	port_destroy(set);
}
