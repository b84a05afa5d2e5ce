/* SPDX-License-Identifier: MIT */
/*
 * Suspending and resuming threads and tasks: counts, what stops and when, and the state of what has
 * stopped.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=1
 * machine: cpus=2 seed=2
 */
#include "check.h"
#include "ipc.h"

static volatile uint32_t counter, stop;

static void count_until_stop(void *unused)
{
	(void)unused;
	while (!stop) {
		counter++;
		if (counter % 4096 == 0)
			__asm__ volatile("pause");
	}
}

static bool counts(void)
{
	uint32_t before = counter;

	sleep_ms(SHORT_WAIT);
	return counter != before;
}

static void counter_start(void)
{
	stop = 0;
	worker_start(0, count_until_stop, NULL);
}

static void counter_end(void)
{
	stop = 1;
	worker_join(0);
}

TEST(a_running_thread_stops)
{
	mach_port_t thread;

	counter_start();
	thread = worker_port(0);
	for (int round = 0; round < 5; round++) {
		EXPECT(counts());
		EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
		EXPECT(!counts());
		EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	}
	counter_end();
}

TEST(suspensions_are_counted)
{
	mach_port_t thread;

	counter_start();
	thread = worker_port(0);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
		EXPECT(!counts());
	}
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	EXPECT(counts());
	EXPECT_EQ(thread_resume(thread), KERN_FAILURE);
	counter_end();
}

TEST(a_new_thread_is_suspended)
{
	mach_port_t child = child_new(), thread = 0;

	/* Its registers are zero: the task keeps it from running with them. */
	EXPECT_EQ(task_suspend(child), KERN_SUCCESS);
	EXPECT_EQ(thread_create(child, &thread), KERN_SUCCESS);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	EXPECT_EQ(thread_resume(thread), KERN_FAILURE);
	EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
	child_end(child);
	port_destroy(thread);
}

/* ---------------- A thread that waits ---------------- */

static volatile uint32_t got;
static volatile mach_msg_return_t got_result;

static void receive_id(void *port)
{
	struct message message;

	got_result = message_get(&message, (mach_port_t)port, LONG_WAIT);
	got = (uint32_t)message.head.msgh_id;
}

/* What it waits for comes while it is suspended: it goes on only when it is resumed. */
TEST(a_waiting_thread_stays_suspended)
{
	mach_port_t port = port_new(), thread;

	got = 0;
	worker_start(0, receive_id, (void *)port);
	thread = worker_port(0);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 5), MACH_MSG_SUCCESS);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(got, 0);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	EXPECT(wait_for(&got, 5));
	EXPECT_EQ(got_result, MACH_MSG_SUCCESS);
	worker_join(0);
	port_destroy(port);
}

TEST(a_waiting_thread_goes_on_waiting)
{
	mach_port_t port = port_new(), thread;

	got = 0;
	worker_start(0, receive_id, (void *)port);
	thread = worker_port(0);
	for (int i = 0; i < 10; i++) {
		EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
		EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	}
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 6), MACH_MSG_SUCCESS);
	EXPECT(wait_for(&got, 6));
	worker_join(0);
	port_destroy(port);
}

/* ---------------- Oneself and each other ---------------- */

static volatile uint32_t before_self, after_self;

static void suspend_self(void *unused)
{
	mach_port_t thread = mach_thread_self();

	(void)unused;
	before_self = 1;
	EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
	after_self = 1;
	port_drop_send(thread);
}

TEST(a_thread_suspends_itself)
{
	before_self = after_self = 0;
	worker_start(0, suspend_self, NULL);
	EXPECT(wait_for(&before_self, 1));
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(after_self, 0);
	EXPECT_EQ(thread_resume(worker_port(0)), KERN_SUCCESS);
	EXPECT(wait_for(&after_self, 1));
	worker_join(0);
}

TEST(a_suspended_thread_is_terminated)
{
	mach_port_t thread;

	counter_start();
	thread = worker_port(0);
	EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
	EXPECT_EQ(thread_terminate(thread), KERN_SUCCESS);
	worker_join(0);
}

/* ---------------- Tasks ---------------- */

#define REPORT 0x101

static void report_often(uint32_t unused)
{
	struct message message;

	(void)unused;
	for (;;) {
		message_head(&message, REPORT, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
		mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, 0, 0, 0, 0);
	}
}

static bool reports(mach_port_t port)
{
	struct message message;

	message_drain(port);
	message_get(&message, port, SHORT_WAIT);
	message_drain(port);
	return message_get(&message, port, SHORT_WAIT) == MACH_MSG_SUCCESS;
}

TEST(a_task_stops_with_all_its_threads)
{
	mach_port_t port = port_new(), child = child_new(), threads[2];

	child_give(child, REPORT, port, MACH_MSG_TYPE_MAKE_SEND);
	for (uint32_t i = 0; i < 2; i++)
		threads[i] = child_start(child, i, report_often, 0);
	EXPECT(reports(port));
	EXPECT_EQ(task_suspend(child), KERN_SUCCESS);
	EXPECT_EQ(task_suspend(child), KERN_SUCCESS);
	EXPECT(!reports(port));
	EXPECT_EQ(task_resume(child), KERN_SUCCESS);
	EXPECT(!reports(port));
	/* A thread's own count is its own. */
	EXPECT_EQ(thread_suspend(threads[0]), KERN_SUCCESS);
	EXPECT_EQ(task_resume(child), KERN_SUCCESS);
	EXPECT(reports(port));
	EXPECT_EQ(thread_suspend(threads[1]), KERN_SUCCESS);
	EXPECT(!reports(port));
	EXPECT_EQ(task_resume(child), KERN_FAILURE);
	child_end(child);
	for (uint32_t i = 0; i < 2; i++)
		port_destroy(threads[i]);
	port_destroy(port);
}

/* A thread made in a suspended task does not run before both are resumed. */
TEST(a_thread_in_a_suspended_task)
{
	mach_port_t port = port_new(), child = child_new(), thread;

	child_give(child, REPORT, port, MACH_MSG_TYPE_MAKE_SEND);
	EXPECT_EQ(task_suspend(child), KERN_SUCCESS);
	thread = child_start(child, 0, report_often, 0);
	EXPECT(!reports(port));
	EXPECT_EQ(task_resume(child), KERN_SUCCESS);
	EXPECT(reports(port));
	EXPECT_EQ(task_suspend(child), KERN_SUCCESS);
	child_end(child);
	port_destroy(thread);
	port_destroy(port);
}

/* ---------------- What has stopped ---------------- */

static bool read_state(mach_port_t thread, struct i386_thread_state *state)
{
	mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;

	return EXPECT_EQ(thread_get_state(thread, i386_THREAD_STATE, (thread_state_t)state, &count),
			 KERN_SUCCESS);
}

TEST(the_state_of_a_stopped_thread_stays)
{
	struct i386_thread_state one, other;
	mach_port_t thread;

	counter_start();
	thread = worker_port(0);
	sleep_ms(1);
	EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
	read_state(thread, &one);
	sleep_ms(SHORT_WAIT);
	read_state(thread, &other);
	EXPECT_EQ(memcmp(&one, &other, sizeof one), 0);
	EXPECT_EQ(one.cs & 3, 3);
	EXPECT_LT(one.eip, 0xc0000000);
	/* Written as it was read, it goes on as if nothing had been. */
	EXPECT_EQ(thread_set_state(thread, i386_THREAD_STATE, (thread_state_t)&one,
				   i386_THREAD_STATE_COUNT),
		  KERN_SUCCESS);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	EXPECT(counts());
	counter_end();
}

/* The two CPUs suspend and resume one thread against each other. */
static void suspend_and_resume(void *thread)
{
	for (int i = 0; i < 200; i++) {
		EXPECT_EQ(thread_suspend((mach_port_t)thread), KERN_SUCCESS);
		EXPECT_EQ(thread_resume((mach_port_t)thread), KERN_SUCCESS);
	}
}

TEST(many_suspend_one)
{
	mach_port_t thread;

	counter_start();
	thread = worker_port(0);
	for (uint32_t i = 1; i < 4; i++)
		worker_start(i, suspend_and_resume, (void *)thread);
	for (uint32_t i = 1; i < 4; i++)
		worker_join(i);
	EXPECT(counts());
	EXPECT_EQ(thread_resume(thread), KERN_FAILURE);
	counter_end();
}
