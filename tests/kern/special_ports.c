/* SPDX-License-Identifier: MIT */
/*
 * Special ports: of tasks and threads, registered ones, and what a child inherits.
 */
#include "check.h"
#include "ipc.h"

#define MANY_SELVES 70000

static mach_port_t self(void)
{
	return mach_task_self();
}

static mach_port_t task_port_of(mach_port_t task, int which)
{
	mach_port_t port = 77;

	EXPECT_EQ(task_get_special_port(task, which, &port), KERN_SUCCESS);
	return port;
}

static mach_port_t thread_port_of(mach_port_t thread, int which)
{
	mach_port_t port = 77;

	EXPECT_EQ(thread_get_special_port(thread, which, &port), KERN_SUCCESS);
	return port;
}

TEST(task_ports_are_set_and_got)
{
	static const int which[] = {TASK_EXCEPTION_PORT, TASK_BOOTSTRAP_PORT, TASK_KERNEL_PORT};
	mach_port_t child = child_new(), port = port_new_with_send();

	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(task_set_special_port(child, which[i], port), KERN_SUCCESS);
		EXPECT_EQ(task_port_of(child, which[i]), port);
		EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 2);
		port_drop_send(port);
		EXPECT_EQ(task_set_special_port(child, which[i], MACH_PORT_NULL), KERN_SUCCESS);
		EXPECT_EQ(task_port_of(child, which[i]), MACH_PORT_NULL);
	}
	child_end(child);
	port_drop_send(port);
	EXPECT_EQ(port_status(port).mps_srights, FALSE);
	port_destroy(port);
}

/* The kernel's own right goes with the task. */
TEST(task_ports_are_released_with_the_task)
{
	mach_port_t child = child_new(), port = port_new_with_send();

	EXPECT_EQ(task_set_special_port(child, TASK_EXCEPTION_PORT, port), KERN_SUCCESS);
	EXPECT_EQ(task_set_special_port(child, TASK_BOOTSTRAP_PORT, port), KERN_SUCCESS);
	port_drop_send(port);
	EXPECT_EQ(port_status(port).mps_srights, TRUE);
	child_end(child);
	EXPECT_EQ(port_status(port).mps_srights, FALSE);
	port_destroy(port);
}

TEST(a_special_port_may_die)
{
	mach_port_t child = child_new(), port = port_new_with_send();

	EXPECT_EQ(task_set_special_port(child, TASK_BOOTSTRAP_PORT, port), KERN_SUCCESS);
	port_destroy(port);
	EXPECT_EQ(task_port_of(child, TASK_BOOTSTRAP_PORT), MACH_PORT_DEAD);
	child_end(child);
}

TEST(wrong_task_ports)
{
	mach_port_t port = 77, thread = mach_thread_self();

	EXPECT_EQ(task_get_special_port(self(), 0, &port), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_get_special_port(self(), 2, &port), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_get_special_port(self(), 99, &port), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_set_special_port(self(), 99, MACH_PORT_NULL), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_get_special_port(thread, TASK_KERNEL_PORT, &port), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(port, 77);
	port_drop_send(thread);
}

/* What mach_task_self() gives is the special port, that others may stand behind. */
#define REPORT 0x101

static void report_self(uint32_t unused)
{
	struct message message;

	(void)unused;
	message_head(&message, REPORT, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_COPY_SEND, 32, 1);
	message.body[1] = mach_task_self();
	mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head + 8, 0, 0, 0, 0);
	for (;;)
		sleep_ms(LONG_WAIT);
}

TEST(the_self_port_can_be_another)
{
	mach_port_t child = child_new(), port = port_new_with_send(), report = port_new(), thread;
	struct message message;

	EXPECT_EQ(task_set_special_port(child, TASK_KERNEL_PORT, port), KERN_SUCCESS);
	child_give(child, REPORT, report, MACH_MSG_TYPE_MAKE_SEND);
	thread = child_start(child, 0, report_self, 0);
	EXPECT_EQ(message_get(&message, report, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.body[1], port);
	port_drop_send(port);
	child_end(child);
	port_destroy(thread);
	port_destroy(port);
	port_destroy(report);
}

TEST(a_child_inherits)
{
	mach_port_t port = port_new_with_send(), child = child_new(), grandchild = 0;

	EXPECT_EQ(task_set_special_port(child, TASK_BOOTSTRAP_PORT, port), KERN_SUCCESS);
	EXPECT_EQ(task_set_special_port(child, TASK_EXCEPTION_PORT, port), KERN_SUCCESS);
	EXPECT_EQ(task_create(child, FALSE, &grandchild), KERN_SUCCESS);
	EXPECT_EQ(task_port_of(grandchild, TASK_BOOTSTRAP_PORT), port);
	EXPECT_EQ(task_port_of(grandchild, TASK_EXCEPTION_PORT), port);
	EXPECT_EQ(task_port_of(grandchild, TASK_KERNEL_PORT), grandchild);
	port_drop_send(grandchild);
	child_end(grandchild);
	child_end(child);
	port_destroy(port);
}

/* ---------------- Threads ---------------- */

TEST(thread_ports_are_set_and_got)
{
	mach_port_t child = child_new(), port = port_new_with_send(), thread = 0;

	EXPECT_EQ(thread_create(child, &thread), KERN_SUCCESS);
	EXPECT_EQ(thread_port_of(thread, THREAD_KERNEL_PORT), thread);
	EXPECT_EQ(thread_port_of(thread, THREAD_EXCEPTION_PORT), MACH_PORT_NULL);
	EXPECT_EQ(thread_set_special_port(thread, THREAD_EXCEPTION_PORT, port), KERN_SUCCESS);
	EXPECT_EQ(thread_port_of(thread, THREAD_EXCEPTION_PORT), port);
	EXPECT_EQ(thread_set_special_port(thread, THREAD_KERNEL_PORT, port), KERN_SUCCESS);
	EXPECT_EQ(thread_port_of(thread, THREAD_KERNEL_PORT), port);
	EXPECT_EQ(thread_set_special_port(thread, 99, port), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_set_special_port(thread, 2, port), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 3);
	child_end(child);
	port_destroy(thread);
	EXPECT_EQ(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_SEND, -3), KERN_SUCCESS);
	EXPECT_EQ(port_status(port).mps_srights, FALSE);
	port_destroy(port);
}

/* ---------------- Registered ports ---------------- */

TEST(ports_are_registered)
{
	mach_port_t child = child_new(), ports[3] = {port_new_with_send(), MACH_PORT_NULL, 0};
	mach_port_t *list = NULL;
	mach_msg_type_number_t n = 0;

	ports[2] = port_new_with_send();
	EXPECT_EQ(mach_ports_register(child, ports, 3), KERN_SUCCESS);
	EXPECT_EQ(mach_ports_lookup(child, &list, &n), KERN_SUCCESS);
	EXPECT_EQ(n, 4);
	EXPECT_EQ(list[0], ports[0]);
	EXPECT_EQ(list[1], MACH_PORT_NULL);
	EXPECT_EQ(list[2], ports[2]);
	EXPECT_EQ(list[3], MACH_PORT_NULL);
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)list, n * sizeof *list), KERN_SUCCESS);
	EXPECT_EQ(port_refs(ports[0], MACH_PORT_RIGHT_SEND), 2);
	/* Others take their places. */
	EXPECT_EQ(mach_ports_register(child, ports + 2, 1), KERN_SUCCESS);
	EXPECT_EQ(mach_port_mod_refs(self(), ports[0], MACH_PORT_RIGHT_SEND, -2), KERN_SUCCESS);
	EXPECT_EQ(port_status(ports[0]).mps_srights, FALSE);
	child_end(child);
	port_destroy(ports[0]);
	port_destroy(ports[2]);
}

TEST(too_many_registered_ports)
{
	mach_port_t child = child_new(), port = port_new_with_send();
	mach_port_t ports[5] = {port, port, port, port, port};

	EXPECT_EQ(mach_ports_register(child, ports, 5), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(mach_ports_register(child, ports, 4), KERN_SUCCESS);
	EXPECT_EQ(mach_ports_register(child, NULL, 0), KERN_SUCCESS);
	port_drop_send(port);
	EXPECT_EQ(port_status(port).mps_srights, FALSE);
	child_end(child);
	port_destroy(port);
}

/* ---------------- Self ---------------- */

/* The same name every time; more references than can be counted do no harm. */
TEST(selves)
{
	mach_port_t thread = mach_thread_self(), host = mach_host_self();

	EXPECT_EQ(thread_port_of(thread, THREAD_KERNEL_PORT), thread);
	EXPECT_EQ(task_port_of(self(), TASK_KERNEL_PORT), self());
	for (int i = 0; i < MANY_SELVES; i++) {
		if (mach_thread_self() != thread || mach_host_self() != host) {
			check_fail("turn %d gives another name", i);
			break;
		}
	}
	EXPECT_EQ(port_type(thread), MACH_PORT_TYPE_SEND);
	EXPECT_EQ(port_type(host), MACH_PORT_TYPE_SEND);
	port_destroy(thread);
	port_destroy(host);
	/* Gone from the names, they come again. */
	EXPECT_EQ(port_type(mach_thread_self()), MACH_PORT_TYPE_SEND);
	EXPECT_EQ(port_type(mach_host_self()), MACH_PORT_TYPE_SEND);
}
