/* SPDX-License-Identifier: MIT */
/*
 * Tasks: made with a copy of memory or none, with threads or without, ended from inside, from
 * outside and in the middle of anything.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=1
 * machine: cpus=2 seed=2
 */
#include "block.h"
#include "check.h"
#include "ipc.h"

#define REPORT 0x101 /* In a child: where it sends words to. */

static mach_port_t self(void)
{
	return mach_task_self();
}

static volatile uint32_t shared_word = 5;

/* Sends one word to REPORT. */
static void report(uint32_t word)
{
	struct message message;

	message_head(&message, REPORT, MACH_MSG_TYPE_COPY_SEND, 0, 0, (int)word);
	mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, 0, 0, 0, 0);
}

static void expect_report(mach_port_t port, uint32_t word)
{
	struct message message;

	EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, word);
}

static bool has_ended(mach_port_t name)
{
	for (int tries = 0; tries < LONG_WAIT; tries++) {
		if (port_type(name) == MACH_PORT_TYPE_DEAD_NAME)
			return true;
		sleep_ms(1);
	}
	return false;
}

static void spin(uint32_t unused)
{
	(void)unused;
	for (;;)
		use_cpu();
}

static void sleep_long(uint32_t unused)
{
	(void)unused;
	for (;;)
		sleep_ms(LONG_WAIT);
}

/* ---------------- Memory ---------------- */

static void change_and_report(uint32_t word)
{
	report(shared_word);
	shared_word = word;
	report(shared_word);
}

TEST(memory_is_copied)
{
	mach_port_t port = port_new(), child, thread;

	shared_word = 17;
	child = child_new();
	child_give(child, REPORT, port, MACH_MSG_TYPE_MAKE_SEND);
	shared_word = 18;
	thread = child_start(child, 0, change_and_report, 99);
	expect_report(port, 17);
	expect_report(port, 99);
	EXPECT_EQ(shared_word, 18);
	EXPECT(has_ended(child));
	child_end(child);
	port_destroy(thread);
	port_destroy(port);
}

TEST(an_empty_task)
{
	mach_port_t child = 0;
	vm_address_t address = 0x10000;

	EXPECT_EQ(task_create(self(), FALSE, &child), KERN_SUCCESS);
	EXPECT_EQ(vm_allocate(child, &address, PAGE_SIZE, FALSE), KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(child, address, PAGE_SIZE), KERN_SUCCESS);
	child_end(child);
}

/* A child of another task than the caller's own has that one's memory. */
TEST(a_grandchild)
{
	mach_port_t port = port_new(), child, grandchild = 0, thread;

	shared_word = 23;
	child = child_new();
	shared_word = 24;
	EXPECT_EQ(task_create(child, TRUE, &grandchild), KERN_SUCCESS);
	child_end(child);
	child_give(grandchild, REPORT, port, MACH_MSG_TYPE_MAKE_SEND);
	thread = child_start(grandchild, 0, change_and_report, 25);
	expect_report(port, 23);
	expect_report(port, 25);
	child_end(grandchild);
	port_destroy(thread);
	port_destroy(port);
}

TEST(tasks_by_trap)
{
	mach_port_t child = 0;

	EXPECT_EQ(syscall_task_create(self(), FALSE, &child), KERN_SUCCESS);
	EXPECT_EQ(port_type(child), MACH_PORT_TYPE_SEND);
	EXPECT_EQ(syscall_task_suspend(child), KERN_SUCCESS);
	EXPECT_EQ(syscall_task_terminate(child), KERN_SUCCESS);
	EXPECT(has_ended(child));
	port_destroy(child);
}

TEST(tasks_of_what_is_no_task)
{
	mach_port_t child = 77, thread = mach_thread_self(), port = port_new_with_send();

	EXPECT_EQ(task_create(thread, FALSE, &child), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_terminate(thread), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_create(thread, &child), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_create(MACH_PORT_NULL, FALSE, &child), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(child, 77);
	port_drop_send(thread);
	port_destroy(port);
}

/* ---------------- Ends ---------------- */

TEST(a_task_ends_itself)
{
	mach_port_t port = port_new(), child = child_new(), thread;

	child_give(child, REPORT, port, MACH_MSG_TYPE_MAKE_SEND);
	thread = child_start(child, 0, report, 1);
	expect_report(port, 1);
	EXPECT(has_ended(child));
	EXPECT(has_ended(thread));
	port_destroy(child);
	port_destroy(thread);
	port_destroy(port);
}

/* With threads that run, sleep, wait to receive and to send. */
static void receive_forever(uint32_t unused)
{
	struct message message;

	(void)unused;
	for (;;)
		message_get(&message, mach_reply_port(), LONG_WAIT);
}

static void send_forever(uint32_t unused)
{
	(void)unused;
	for (;;)
		report(1);
}

TEST(a_task_ends_in_the_middle_of_everything)
{
	static void (*const runs[])(uint32_t) = {spin, sleep_long, receive_forever, send_forever};
	mach_port_t port = port_new(), threads[4];

	for (int delay = 0; delay < 4; delay++) {
		mach_port_t child = child_new();

		child_give(child, REPORT, port, MACH_MSG_TYPE_MAKE_SEND);
		for (uint32_t i = 0; i < 4; i++)
			threads[i] = child_start(child, i, runs[i], 0);
		sleep_ms((uint32_t)delay * 10);
		child_end(child);
		for (uint32_t i = 0; i < 4; i++)
			port_destroy(threads[i]);
		message_drain(port);
	}
	port_destroy(port);
}

TEST(an_ended_task_is_nobody)
{
	mach_port_t child = child_new(), thread = 77;

	EXPECT_EQ(task_terminate(child), KERN_SUCCESS);
	EXPECT(has_ended(child));
	EXPECT_EQ(thread_create(child, &thread), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(task_suspend(child), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(task_terminate(child), MACH_SEND_INVALID_DEST);
	port_destroy(child);
}

/* A thread that never ran, and one that is stopped. */
TEST(threads_that_never_ran)
{
	mach_port_t child = child_new(), one = 0, other = 0;

	EXPECT_EQ(thread_create(child, &one), KERN_SUCCESS);
	EXPECT_EQ(thread_create(child, &other), KERN_SUCCESS);
	EXPECT_EQ(thread_terminate(one), KERN_SUCCESS);
	child_end(child);
	EXPECT(has_ended(one));
	EXPECT(has_ended(other));
	port_destroy(one);
	port_destroy(other);
}

TEST(threads_are_ended_from_outside)
{
	static void (*const runs[])(uint32_t) = {spin, sleep_long, receive_forever};
	mach_port_t child = child_new();

	for (uint32_t i = 0; i < 3; i++) {
		mach_port_t thread = child_start(child, i, runs[i], 0);

		sleep_ms(5);
		EXPECT_EQ(thread_terminate(thread), KERN_SUCCESS);
		for (int tries = 0; tries < 1000; tries++) {
			if (port_type(thread) == MACH_PORT_TYPE_DEAD_NAME)
				break;
			sleep_ms(1);
		}
		EXPECT_EQ(port_type(thread), MACH_PORT_TYPE_DEAD_NAME);
		EXPECT_NE(thread_terminate(thread), KERN_SUCCESS);
		port_destroy(thread);
	}
	/* The task goes on without threads: it can have new ones. */
	EXPECT_EQ(port_type(child), MACH_PORT_TYPE_SEND);
	child_end(child);
}

/* The last one to refer to a task by its memory alone: a caller that is ended while it calls. */
static void terminate_caller(uint32_t unused)
{
	(void)unused;
	task_terminate(mach_task_self());
	report(66);
}

TEST(a_call_that_ends_its_caller)
{
	mach_port_t port = port_new(), child = child_new(), thread;

	child_give(child, REPORT, port, MACH_MSG_TYPE_MAKE_SEND);
	thread = child_start(child, 0, terminate_caller, 0);
	EXPECT(has_ended(child));
	EXPECT(message_none(port));
	port_destroy(child);
	port_destroy(thread);
	port_destroy(port);
}

/* Tasks end each other. */
static void terminate_other(uint32_t unused)
{
	(void)unused;
	task_terminate(REPORT);
	sleep_long(0);
}

TEST(tasks_end_each_other)
{
	mach_port_t one = child_new(), other = child_new(), threads[2];

	child_give(one, REPORT, other, MACH_MSG_TYPE_COPY_SEND);
	child_give(other, REPORT, one, MACH_MSG_TYPE_COPY_SEND);
	EXPECT_EQ(task_suspend(one), KERN_SUCCESS);
	EXPECT_EQ(task_suspend(other), KERN_SUCCESS);
	threads[0] = child_start(one, 0, terminate_other, 0);
	threads[1] = child_start(other, 0, terminate_other, 0);
	EXPECT_EQ(task_resume(one), KERN_SUCCESS);
	task_resume(other); /* Unless the one has ended it already. */
	sleep_ms(SHORT_WAIT);
	EXPECT(port_type(one) == MACH_PORT_TYPE_DEAD_NAME ||
	       port_type(other) == MACH_PORT_TYPE_DEAD_NAME);
	child_end(one);
	child_end(other);
	port_destroy(threads[0]);
	port_destroy(threads[1]);
}

/* ---------------- Lists ---------------- */

TEST(threads_are_listed)
{
	mach_port_t child = child_new(), threads[3], *list = NULL;
	mach_msg_type_number_t n = 0;

	EXPECT_EQ(task_threads(child, &list, &n), KERN_SUCCESS);
	EXPECT_EQ(n, 0);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(thread_create(child, &threads[i]), KERN_SUCCESS);
	EXPECT_EQ(task_threads(child, &list, &n), KERN_SUCCESS);
	EXPECT_EQ(n, 3);
	for (uint32_t i = 0; i < n; i++) {
		EXPECT(list[i] == threads[0] || list[i] == threads[1] || list[i] == threads[2]);
		EXPECT_EQ(port_refs(list[i], MACH_PORT_RIGHT_SEND), 2);
	}
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)list, n * sizeof *list), KERN_SUCCESS);
	child_end(child);
	for (int i = 0; i < 3; i++)
		port_destroy(threads[i]);
}

TEST(many_tasks_at_once)
{
	enum {
		MANY = 40
	};
	mach_port_t children[MANY];

	for (int i = 0; i < MANY; i++) {
		children[i] = 0;
		EXPECT_EQ(task_create(self(), FALSE, &children[i]), KERN_SUCCESS);
	}
	for (int i = 0; i < MANY; i++)
		child_end(children[i]);
}
