/* SPDX-License-Identifier: MIT */
/*
 * Names of rights: given, chosen, changed, counted, given back, listed; and what wrong arguments
 * are told.  Names far apart are tried in a task of their own, so that the tables they need end
 * with it.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=1
 */
#include "check.h"
#include "ipc.h"

#define MANY        3000
#define REFS_MAX    65534
#define NO_SUCH     0x7654
#define RIGHT_WRONG MACH_PORT_RIGHT_NUMBER

static mach_port_t self(void)
{
	return mach_task_self();
}

/* ---------------- Given and chosen ---------------- */

TEST(names_are_given)
{
	mach_port_t receive = 0, set = 0, dead = 0;

	EXPECT_EQ(mach_port_allocate(self(), MACH_PORT_RIGHT_RECEIVE, &receive), KERN_SUCCESS);
	EXPECT_EQ(mach_port_allocate(self(), MACH_PORT_RIGHT_PORT_SET, &set), KERN_SUCCESS);
	EXPECT_EQ(mach_port_allocate(self(), MACH_PORT_RIGHT_DEAD_NAME, &dead), KERN_SUCCESS);
	EXPECT(receive != set && set != dead && receive != dead);
	EXPECT_EQ(port_type(receive), MACH_PORT_TYPE_RECEIVE);
	EXPECT_EQ(port_type(set), MACH_PORT_TYPE_PORT_SET);
	EXPECT_EQ(port_type(dead), MACH_PORT_TYPE_DEAD_NAME);
	port_destroy(receive);
	port_destroy(set);
	port_destroy(dead);
	EXPECT_EQ(port_type(receive), 0);
	EXPECT_EQ(port_type(set), 0);
	EXPECT_EQ(port_type(dead), 0);
}

TEST(rights_that_cannot_be_allocated)
{
	mach_port_t name = 0;

	EXPECT_EQ(mach_port_allocate(self(), MACH_PORT_RIGHT_SEND, &name), KERN_INVALID_VALUE);
	EXPECT_EQ(mach_port_allocate(self(), MACH_PORT_RIGHT_SEND_ONCE, &name), KERN_INVALID_VALUE);
	EXPECT_EQ(mach_port_allocate(self(), RIGHT_WRONG, &name), KERN_INVALID_VALUE);
	EXPECT_EQ(mach_port_allocate(self(), ~0u, &name), KERN_INVALID_VALUE);
	EXPECT_EQ(mach_port_allocate_name(self(), MACH_PORT_RIGHT_SEND, NO_SUCH),
		  KERN_INVALID_VALUE);
}

/* Of another task, by its port: names of distant parts of the number space. */
TEST(names_are_chosen)
{
	static const mach_port_t names[] = {1000,       1001,       0x2000,     0x10000,
					    0x12345678, 0x7fffffff, 0x80000000, 0xfffffffe};
	mach_port_t child = child_new();
	mach_port_type_t type;

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		EXPECT_EQ(mach_port_type(child, names[i], &type), KERN_INVALID_NAME);
		EXPECT_EQ(mach_port_allocate_name(child, MACH_PORT_RIGHT_RECEIVE, names[i]),
			  KERN_SUCCESS);
		EXPECT_EQ(mach_port_allocate_name(child, MACH_PORT_RIGHT_PORT_SET, names[i]),
			  KERN_NAME_EXISTS);
	}
	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		EXPECT_EQ(mach_port_type(child, names[i], &type), KERN_SUCCESS);
		EXPECT_EQ(type, MACH_PORT_TYPE_RECEIVE);
		EXPECT_EQ(mach_port_type(child, names[i] ^ 4, &type), KERN_INVALID_NAME);
		if (i % 2 == 0)
			EXPECT_EQ(mach_port_destroy(child, names[i]), KERN_SUCCESS);
	}
	child_end(child);
}

TEST(names_that_cannot_be_chosen)
{
	EXPECT_EQ(mach_port_allocate_name(self(), MACH_PORT_RIGHT_RECEIVE, MACH_PORT_NULL),
		  KERN_INVALID_VALUE);
	EXPECT_EQ(mach_port_allocate_name(self(), MACH_PORT_RIGHT_RECEIVE, MACH_PORT_DEAD),
		  KERN_INVALID_VALUE);
}

TEST(a_freed_name_is_given_again)
{
	mach_port_t first = port_new(), second;

	port_destroy(first);
	second = port_new();
	EXPECT_EQ(second, first);
	port_destroy(second);
}

/* A name that was chosen is not given to anyone else, before or after its time. */
TEST(chosen_names_are_not_given)
{
	mach_port_t child = child_new(), name;

	for (mach_port_t chosen = 2; chosen < 40; chosen += 2)
		EXPECT_EQ(mach_port_allocate_name(child, MACH_PORT_RIGHT_DEAD_NAME, chosen),
			  KERN_SUCCESS);
	for (int i = 0; i < 40; i++) {
		mach_port_urefs_t refs = 0;

		EXPECT_EQ(mach_port_allocate(child, MACH_PORT_RIGHT_RECEIVE, &name), KERN_SUCCESS);
		EXPECT(name >= 40 || name % 2 == 1);
		EXPECT_EQ(mach_port_get_refs(child, name, MACH_PORT_RIGHT_RECEIVE, &refs),
			  KERN_SUCCESS);
		EXPECT_EQ(refs, 1);
	}
	child_end(child);
}

/* ---------------- Changed ---------------- */

TEST(names_change)
{
	mach_port_t child = child_new();
	mach_port_type_t type;

	EXPECT_EQ(mach_port_allocate_name(child, MACH_PORT_RIGHT_RECEIVE, 1000), KERN_SUCCESS);
	EXPECT_EQ(mach_port_rename(child, 1000, 111), KERN_SUCCESS);
	EXPECT_EQ(mach_port_type(child, 1000, &type), KERN_INVALID_NAME);
	EXPECT_EQ(mach_port_type(child, 111, &type), KERN_SUCCESS);
	EXPECT_EQ(type, MACH_PORT_TYPE_RECEIVE);
	EXPECT_EQ(mach_port_rename(child, 111, 0xabcdef01), KERN_SUCCESS);
	EXPECT_EQ(mach_port_type(child, 0xabcdef01, &type), KERN_SUCCESS);
	EXPECT_EQ(mach_port_allocate_name(child, MACH_PORT_RIGHT_PORT_SET, 1000), KERN_SUCCESS);
	EXPECT_EQ(mach_port_move_member(child, 0xabcdef01, 1000), KERN_SUCCESS);
	EXPECT_EQ(mach_port_rename(child, 1000, 7), KERN_SUCCESS);
	EXPECT_EQ(mach_port_rename(child, 0xabcdef01, 1000), KERN_SUCCESS);
	child_end(child);
}

/* The port is found by its new name where the kernel looks for it by the port. */
TEST(a_renamed_right_is_the_same)
{
	mach_port_t port = port_new_with_send();
	mach_port_t other = port_new();
	struct message message;

	port_destroy(other);
	EXPECT_EQ(mach_port_rename(self(), port, other), KERN_SUCCESS);
	EXPECT_EQ(mach_port_insert_right(self(), other, other, MACH_MSG_TYPE_MAKE_SEND),
		  KERN_SUCCESS);
	EXPECT_EQ(port_refs(other, MACH_PORT_RIGHT_SEND), 2);
	EXPECT_EQ(message_send_id(other, MACH_MSG_TYPE_COPY_SEND, 3), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, other, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_local_port, other);
	port_destroy(other);
}

TEST(wrong_renames)
{
	mach_port_t port = port_new(), other = port_new();

	EXPECT_EQ(mach_port_rename(self(), NO_SUCH, 200), KERN_INVALID_NAME);
	EXPECT_EQ(mach_port_rename(self(), port, other), KERN_NAME_EXISTS);
	EXPECT_EQ(mach_port_rename(self(), port, port), KERN_NAME_EXISTS);
	EXPECT_EQ(mach_port_rename(self(), port, MACH_PORT_NULL), KERN_INVALID_VALUE);
	EXPECT_EQ(mach_port_rename(self(), port, MACH_PORT_DEAD), KERN_INVALID_VALUE);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_RECEIVE);
	port_destroy(port);
	port_destroy(other);
}

/* ---------------- References ---------------- */

TEST(references_are_counted)
{
	mach_port_t port = port_new_with_send();

	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 1);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_RECEIVE), 1);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND_ONCE), 0);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_PORT_SET), 0);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_DEAD_NAME), 0);
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_SEND, 6), KERN_SUCCESS);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 7);
	port_drop_send(port);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 6);
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_SEND, -7), KERN_INVALID_VALUE);
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_SEND, -6), KERN_SUCCESS);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_RECEIVE);
	port_drop_receive(port);
	EXPECT_EQ(port_type(port), 0);
}

/* Without its receive right a send right's name is dead, with as many references. */
TEST(a_dead_name_keeps_its_references)
{
	mach_port_t port = port_new_with_send();

	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_SEND, 4), KERN_SUCCESS);
	port_drop_receive(port);
	EXPECT_EQ(port_type(port), MACH_PORT_TYPE_DEAD_NAME);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_DEAD_NAME), 5);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 0);
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_SEND, -1), KERN_INVALID_RIGHT);
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_DEAD_NAME, 2), KERN_SUCCESS);
	port_drop_send(port);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_DEAD_NAME), 6);
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_DEAD_NAME, -6), KERN_SUCCESS);
	EXPECT_EQ(port_type(port), 0);
}

TEST(references_overflow)
{
	mach_port_t port = port_new_with_send();

	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_SEND, REFS_MAX - 1),
		  KERN_SUCCESS);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), REFS_MAX);
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_SEND, 1), KERN_UREFS_OVERFLOW);
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_SEND, 0x7fffffff),
		  KERN_UREFS_OVERFLOW);
	EXPECT_EQ(mach_port_insert_right(self(), port, port, MACH_MSG_TYPE_MAKE_SEND),
		  KERN_UREFS_OVERFLOW);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), REFS_MAX);
	port_drop_receive(port);
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_DEAD_NAME, 1),
		  KERN_UREFS_OVERFLOW);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_DEAD_NAME), REFS_MAX);
	port_destroy(port);
}

/* Receive rights, sets and send-once rights have one reference, that can only go. */
TEST(references_that_are_always_one)
{
	mach_port_t port = port_new(), set = 0, once = port_send_once(port);

	EXPECT_EQ(mach_port_allocate(self(), MACH_PORT_RIGHT_PORT_SET, &set), KERN_SUCCESS);
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_RECEIVE, 0), KERN_SUCCESS);
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_RECEIVE, 1), KERN_INVALID_VALUE);
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_RECEIVE, -2),
		  KERN_INVALID_VALUE);
	EXPECT_EQ(mach_port_mod_refs(self(), set, MACH_PORT_RIGHT_PORT_SET, 1), KERN_INVALID_VALUE);
	EXPECT_EQ(mach_port_mod_refs(self(), set, MACH_PORT_RIGHT_PORT_SET, -1), KERN_SUCCESS);
	EXPECT_EQ(mach_port_mod_refs(self(), once, MACH_PORT_RIGHT_SEND_ONCE, 1),
		  KERN_INVALID_VALUE);
	EXPECT_EQ(mach_port_mod_refs(self(), once, MACH_PORT_RIGHT_SEND_ONCE, -1), KERN_SUCCESS);
	EXPECT_EQ(port_type(set), 0);
	EXPECT_EQ(port_type(once), 0);
	message_drain(port);
	port_destroy(port);
}

TEST(wrong_references)
{
	mach_port_t port = port_new();
	mach_port_urefs_t refs;

	EXPECT_EQ(mach_port_get_refs(self(), NO_SUCH, MACH_PORT_RIGHT_SEND, &refs),
		  KERN_INVALID_NAME);
	EXPECT_EQ(mach_port_get_refs(self(), port, RIGHT_WRONG, &refs), KERN_INVALID_VALUE);
	EXPECT_EQ(mach_port_mod_refs(self(), NO_SUCH, MACH_PORT_RIGHT_SEND, 1), KERN_INVALID_NAME);
	EXPECT_EQ(mach_port_mod_refs(self(), port, RIGHT_WRONG, 1), KERN_INVALID_VALUE);
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_SEND, 1), KERN_INVALID_RIGHT);
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_PORT_SET, -1),
		  KERN_INVALID_RIGHT);
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_DEAD_NAME, -1),
		  KERN_INVALID_RIGHT);
	EXPECT_EQ(mach_port_deallocate(self(), port), KERN_INVALID_RIGHT);
	EXPECT_EQ(mach_port_deallocate(self(), NO_SUCH), KERN_INVALID_NAME);
	EXPECT_EQ(mach_port_deallocate(self(), MACH_PORT_NULL), KERN_INVALID_NAME);
	EXPECT_EQ(mach_port_deallocate(self(), MACH_PORT_DEAD), KERN_INVALID_NAME);
	EXPECT_EQ(mach_port_destroy(self(), NO_SUCH), KERN_INVALID_NAME);
	port_destroy(port);
}

/* ---------------- Listed ---------------- */

static bool lists(const mach_port_t *names, const mach_port_type_t *types, uint32_t n,
		  mach_port_t name, mach_port_type_t type)
{
	for (uint32_t i = 0; i < n; i++) {
		if (names[i] == name)
			return types[i] == type;
	}
	return false;
}

TEST(names_are_listed_with_their_types)
{
	mach_port_t port = port_new_with_send(), notify = port_new(), previous = 77;
	mach_port_t *names = NULL;
	mach_port_type_t *types = NULL;
	mach_msg_type_number_t n_names = 0, n_types = 0;
	const mach_port_type_t wanted = MACH_PORT_TYPE_SEND_RECEIVE | MACH_PORT_TYPE_DNREQUEST;

	EXPECT_EQ(mach_port_request_notification(self(), port, MACH_NOTIFY_DEAD_NAME, 0, notify,
						 MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous),
		  KERN_SUCCESS);
	EXPECT_EQ(previous, MACH_PORT_NULL);
	EXPECT_EQ(port_type(port), wanted);
	EXPECT_EQ(mach_port_names(self(), &names, &n_names, &types, &n_types), KERN_SUCCESS);
	EXPECT_EQ(n_names, n_types);
	EXPECT(lists(names, types, n_names, port, wanted));
	EXPECT(lists(names, types, n_names, notify, MACH_PORT_TYPE_RECEIVE));
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)names, n_names * sizeof *names),
		  KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)types, n_types * sizeof *types),
		  KERN_SUCCESS);
	port_destroy(port);
	EXPECT_EQ(message_drain(notify), 1);
	port_destroy(notify);
}

TEST(many_names)
{
	mach_port_t child = child_new(), name;
	mach_port_t *names = NULL;
	mach_port_type_t *types = NULL;
	mach_msg_type_number_t n_names = 0, n_types = 0;

	for (int i = 0; i < MANY; i++)
		REQUIRE(mach_port_allocate(child, MACH_PORT_RIGHT_RECEIVE, &name) == KERN_SUCCESS);
	REQUIRE(mach_port_names(child, &names, &n_names, &types, &n_types) == KERN_SUCCESS);
	EXPECT_EQ(n_names, MANY);
	EXPECT_EQ(n_types, MANY);
	for (uint32_t i = 1; i < n_names; i++) {
		if (names[i] <= names[i - 1] || types[i] != MACH_PORT_TYPE_RECEIVE)
			check_fail("name %u: 0x%x, type 0x%x", i, names[i], types[i]);
	}
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)names, n_names * sizeof *names),
		  KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)types, n_types * sizeof *types),
		  KERN_SUCCESS);
	child_end(child);
}

/* ---------------- Whose names ---------------- */

TEST(names_of_what_is_no_task)
{
	mach_port_t thread = mach_thread_self(), host = mach_host_self(), child = child_new();
	mach_port_type_t type = 77;

	EXPECT_EQ(mach_port_type(thread, 1, &type), KERN_INVALID_TASK);
	EXPECT_EQ(mach_port_type(host, 1, &type), KERN_INVALID_TASK);
	EXPECT_EQ(mach_port_type(NO_SUCH, 1, &type), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(mach_port_type(MACH_PORT_NULL, 1, &type), MACH_SEND_INVALID_DEST);
	child_end(child);
	EXPECT_EQ(mach_port_type(child, 1, &type), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(type, 77);
	port_drop_send(host);
	port_drop_send(thread);
}

/* ---------------- Inserted and extracted ---------------- */

TEST(rights_between_tasks)
{
	mach_port_t child = child_new(), port = port_new(), got = 77;
	mach_msg_type_name_t kind = 0;

	child_give(child, 0x100, port, MACH_MSG_TYPE_MAKE_SEND);
	EXPECT_EQ(mach_port_extract_right(child, 0x100, MACH_MSG_TYPE_COPY_SEND, &got, &kind),
		  KERN_SUCCESS);
	EXPECT_EQ(got, port);
	EXPECT_EQ(kind, MACH_MSG_TYPE_PORT_SEND);
	port_drop_send(port);
	EXPECT_EQ(mach_port_extract_right(child, 0x100, MACH_MSG_TYPE_MAKE_SEND, &got, &kind),
		  KERN_INVALID_RIGHT);
	EXPECT_EQ(mach_port_extract_right(child, 0x101, MACH_MSG_TYPE_COPY_SEND, &got, &kind),
		  KERN_INVALID_NAME);
	EXPECT_EQ(mach_port_extract_right(child, 0x100, 99, &got, &kind), KERN_INVALID_VALUE);
	child_give(child, 0x100, port, MACH_MSG_TYPE_MOVE_RECEIVE);
	EXPECT_EQ(mach_port_extract_right(child, 0x100, MACH_MSG_TYPE_MOVE_RECEIVE, &got, &kind),
		  KERN_SUCCESS);
	EXPECT_EQ(kind, MACH_MSG_TYPE_PORT_RECEIVE);
	EXPECT_EQ(port_type(got), MACH_PORT_TYPE_RECEIVE);
	EXPECT_EQ(port_status(got).mps_srights, TRUE);
	child_end(child);
	EXPECT_EQ(port_status(got).mps_srights, FALSE);
	port_destroy(got);
}

TEST(wrong_insertions)
{
	mach_port_t port = port_new(), other = port_new();
	mach_port_t task = self();

	EXPECT_EQ(mach_port_insert_right(task, MACH_PORT_NULL, port, MACH_MSG_TYPE_MAKE_SEND),
		  KERN_INVALID_VALUE);
	EXPECT_EQ(mach_port_insert_right(task, MACH_PORT_DEAD, port, MACH_MSG_TYPE_MAKE_SEND),
		  KERN_INVALID_VALUE);
	EXPECT_EQ(mach_port_insert_right(task, 0x20, MACH_PORT_NULL, MACH_MSG_TYPE_MAKE_SEND),
		  KERN_INVALID_CAPABILITY);
	EXPECT_EQ(mach_port_insert_right(task, 0x20, MACH_PORT_DEAD, MACH_MSG_TYPE_MAKE_SEND),
		  KERN_INVALID_CAPABILITY);
	EXPECT_EQ(mach_port_insert_right(task, other, port, MACH_MSG_TYPE_MAKE_SEND),
		  KERN_RIGHT_EXISTS);
	EXPECT_EQ(mach_port_insert_right(task, other, port, MACH_MSG_TYPE_MAKE_SEND_ONCE),
		  KERN_NAME_EXISTS);
	EXPECT_EQ(port_status(port).mps_srights, FALSE);
	message_drain(port);
	port_destroy(port);
	port_destroy(other);
}
