/* SPDX-License-Identifier: MIT */
/*
 * thread_switch(): waiting, giving the CPU to a chosen thread, and being depressed.
 *
 * machine: cpus=1
 */
#include "check.h"
#include "ipc.h"

#define THREADS 4

static volatile uint32_t order[THREADS + 1], n_order, stop;

static uint64_t now(void)
{
	uint64_t nanos = 0;

	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &nanos);
	return nanos;
}

static struct thread_sched_info sched_of(mach_port_t thread)
{
	struct thread_sched_info info = {0};
	mach_msg_type_number_t count = THREAD_SCHED_INFO_COUNT;

	EXPECT_EQ(thread_info(thread, THREAD_SCHED_INFO, (thread_info_t)&info, &count),
		  KERN_SUCCESS);
	return info;
}

/* Says that it runs, every time that it gets the CPU, and gives it away. */
static void note_turns(void *number)
{
	while (!stop) {
		if (n_order < THREADS)
			order[n_order++] = (uint32_t)number;
		swtch_pri(0);
	}
}

/*
 * The thread that is named is next, whoever was before it in the queue.  One that a tick found
 * behind its note gives the CPU away before it makes another.
 */
TEST(a_hint_is_followed)
{
	for (uint32_t wanted = 0; wanted < THREADS; wanted++) {
		stop = 0;
		n_order = THREADS;
		for (uint32_t i = 0; i < THREADS; i++)
			worker_start(i, note_turns, (void *)i);
		for (uint32_t i = 0; i < THREADS; i++)
			worker_port(i);
		n_order = 0;
		for (uint32_t tries = 0; tries < 2 && n_order == 0; tries++)
			EXPECT_EQ(thread_switch(worker_port(wanted), SWITCH_OPTION_NONE, 0),
				  KERN_SUCCESS);
		EXPECT_LT(0, n_order);
		EXPECT_EQ(order[0], wanted);
		stop = 1;
		for (uint32_t i = 0; i < THREADS; i++)
			worker_join(i);
	}
}

static void receive(void *port)
{
	struct message message;

	message_get(&message, (mach_port_t)port, LONG_WAIT);
}

/* A hint that cannot be followed is none. */
TEST(hints_that_cannot_be_followed)
{
	mach_port_t port = port_new(), child = child_new(), thread = 0, own = mach_thread_self();

	worker_start(0, receive, (void *)port);
	EXPECT_EQ(thread_switch(worker_port(0), SWITCH_OPTION_NONE, 0), KERN_SUCCESS);
	EXPECT_EQ(thread_create(child, &thread), KERN_SUCCESS);
	EXPECT_EQ(thread_switch(thread, SWITCH_OPTION_NONE, 0), KERN_SUCCESS);
	EXPECT_EQ(thread_switch(own, SWITCH_OPTION_NONE, 0), KERN_SUCCESS);
	EXPECT_EQ(thread_switch(port, SWITCH_OPTION_NONE, 0), KERN_SUCCESS);
	EXPECT_EQ(thread_switch(0x7654, SWITCH_OPTION_NONE, 0), KERN_SUCCESS);
	child_end(child);
	EXPECT_EQ(thread_switch(thread, SWITCH_OPTION_NONE, 0), KERN_SUCCESS);
	port_destroy(thread);
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
	worker_join(0);
	port_drop_send(own);
	port_destroy(port);
}

TEST(options_are_checked)
{
	EXPECT_EQ(thread_switch(MACH_PORT_NULL, 3, 0), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_switch(MACH_PORT_NULL, -1, 0), KERN_INVALID_ARGUMENT);
}

TEST(a_wait_with_a_hint)
{
	uint64_t before = now();
	mach_port_t own = mach_thread_self();

	EXPECT_EQ(thread_switch(own, SWITCH_OPTION_WAIT, 25), KERN_SUCCESS);
	EXPECT_LE(25 * 1000000ull, now() - before);
	EXPECT_LT(now() - before, 125 * 1000000ull);
	port_drop_send(own);
}

/* ---------------- Depression ---------------- */

static volatile uint32_t go, started;

/* Depressed until it is alone, or until it is told otherwise. */
static void depress(void *unused)
{
	(void)unused;
	while (!go)
		swtch();
	started = 1;
	thread_switch(MACH_PORT_NULL, SWITCH_OPTION_DEPRESS, LONG_WAIT);
	while (!stop)
		continue;
}

/* Without giving away the CPU for long: alone the thread would run on and be depressed no more. */
static void depress_start(void)
{
	stop = go = started = 0;
	worker_start(0, depress, NULL);
	worker_port(0);
	go = 1;
	while (!started)
		swtch();
}

static void spin(void *unused)
{
	(void)unused;
	while (!stop)
		continue;
}

/* While others want the CPU a depressed thread does not get it; undone, it does. */
TEST(a_depressed_thread_is_behind_all_others)
{
	mach_port_t thread;

	depress_start();
	thread = worker_port(0);
	EXPECT_EQ(sched_of(thread).depressed, TRUE);
	EXPECT_LT(sched_of(thread).base_priority, sched_of(thread).cur_priority);
	EXPECT_EQ(thread_depress_abort(thread), KERN_SUCCESS);
	EXPECT_EQ(sched_of(thread).depressed, FALSE);
	EXPECT_EQ(thread_depress_abort(thread), KERN_SUCCESS);
	stop = 1;
	worker_join(0);
}

static void depress_shortly(void *done)
{
	thread_switch(MACH_PORT_NULL, SWITCH_OPTION_DEPRESS, 20);
	while (!stop)
		*(volatile uint32_t *)done = 1;
}

TEST(depression_ends_by_itself)
{
	static volatile uint32_t done;
	mach_port_t thread;

	done = 0;
	stop = 0;
	worker_start(0, depress_shortly, (void *)&done);
	thread = worker_port(0);
	worker_start(1, spin, NULL);
	sleep_ms(200);
	EXPECT_EQ(sched_of(thread).depressed, FALSE);
	EXPECT_EQ(done, 1);
	stop = 1;
	worker_join(0);
	worker_join(1);
}

TEST(depressed_threads_end)
{
	depress_start();
	EXPECT_EQ(thread_terminate(worker_port(0)), KERN_SUCCESS);
	worker_join(0);
	stop = 1;
}

TEST(depression_of_what_is_no_thread)
{
	mach_port_t child = child_new();

	EXPECT_EQ(thread_depress_abort(child), KERN_INVALID_ARGUMENT);
	EXPECT_NE(syscall_thread_depress_abort(child), KERN_SUCCESS);
	child_end(child);
}
