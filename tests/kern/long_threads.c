/* SPDX-License-Identifier: MIT */
/*
 * What is done to thousands of threads at once, as long_loops.c does it with other things: it must
 * work, and test_stretches.py sees whether others are let in meanwhile.
 *
 * machine: mem=256 arguments="${host-port}"
 */
#include <mach/prof.h>

#include "check.h"
#include "ipc.h"
#include "samples.h"

#define THREADS 4000u
#define TASKS   200u
#define WAITERS 1100u

#define MAX_PRIORITY 6 /* The default set's. */

/* Tables of pages and of names stay with a task. */
BALANCE_AT_END;

static mach_port_t self(void)
{
	return mach_task_self_cached();
}

static mach_port_t host(void)
{
	return check_number(0);
}

/* ---------------- Many threads ---------------- */

static mach_port_t default_set(void)
{
	mach_port_t name = MACH_PORT_NULL, set = MACH_PORT_NULL;

	EXPECT_EQ(processor_set_default(host(), &name), KERN_SUCCESS);
	EXPECT_EQ(host_processor_set_priv(host(), name, &set), KERN_SUCCESS);
	port_drop_send(name);
	return set;
}

static void drop_all(thread_array_t threads, mach_msg_type_number_t n)
{
	for (uint32_t i = 0; i < n; i++)
		port_drop_send(threads[i]);
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)threads, n * sizeof *threads), KERN_SUCCESS);
}

static mach_port_t child_with_threads(void)
{
	mach_port_t child = MACH_PORT_NULL, thread;

	EXPECT_EQ(task_create(self(), FALSE, &child), KERN_SUCCESS);
	for (uint32_t i = 0; i < THREADS; i++) {
		EXPECT_EQ(thread_create(child, &thread), KERN_SUCCESS);
		port_drop_send(thread);
	}
	return child;
}

TEST(threads_of_a_task)
{
	struct task_thread_times_info times;
	mach_msg_type_number_t count = TASK_THREAD_TIMES_INFO_COUNT, n;
	mach_port_t child = child_with_threads(), set;
	thread_array_t threads;

	EXPECT_EQ(task_threads(child, &threads, &n), KERN_SUCCESS);
	EXPECT_EQ(n, THREADS);
	drop_all(threads, n);
	EXPECT_EQ(task_info(child, TASK_THREAD_TIMES_INFO, (task_info_t)&times, &count),
		  KERN_SUCCESS);
	EXPECT_EQ(task_priority(child, 30, TRUE), KERN_SUCCESS);
	set = default_set();
	EXPECT_EQ(processor_set_max_priority(set, MAX_PRIORITY + 1, TRUE), KERN_SUCCESS);
	EXPECT_EQ(processor_set_max_priority(set, MAX_PRIORITY, FALSE), KERN_SUCCESS);
	EXPECT_EQ(task_max_priority(child, set, 35), KERN_SUCCESS);
	EXPECT_EQ(processor_set_threads(set, &threads, &n), KERN_SUCCESS);
	EXPECT_LT(THREADS, n);
	drop_all(threads, n);
	port_drop_send(set);
	EXPECT_EQ(task_suspend(child), KERN_SUCCESS);
	EXPECT_EQ(task_resume(child), KERN_SUCCESS);
	child_end(child);
}

static const sample_options_t whole_job = {.flags = SAMPLE_CHILDREN};
static const sample_options_t task_only;

TEST(threads_of_a_job)
{
	static struct collected collected;
	mach_port_t child = child_with_threads();

	samples_new(&collected);
	EXPECT_EQ(task_sample_start(child, SAMPLED_PC_PERIODIC, 100, whole_job, collected.port),
		  KERN_SUCCESS);
	EXPECT_EQ(task_sample_stop(child, collected.port), KERN_SUCCESS);
	samples_receive_all(&collected);
	samples_forget(&collected);
	child_end(child);
}

TEST(waits_of_many_threads)
{
	static struct collected collected;
	mach_port_t child = child_with_threads();

	samples_new(&collected);
	EXPECT_EQ(host_sample_start(host(), 0, SAMPLED_PC_WAIT, 0, task_only, collected.port),
		  KERN_SUCCESS);
	EXPECT_EQ(host_sample_stop(host(), collected.port), KERN_SUCCESS);
	samples_receive_all(&collected);
	samples_forget(&collected);
	child_end(child);
}

static void make_tasks(uint32_t unused)
{
	mach_port_t child;

	(void)unused;
	for (uint32_t n = 0; n < TASKS; n++)
		task_create(mach_task_self(), FALSE, &child);
	thread_suspend(mach_thread_self());
}

/* Who made them ends, and they with it. */
TEST(many_tasks_of_one)
{
	mach_port_t child = child_new(), thread = child_start(child, 0, make_tasks, 0);
	struct thread_basic_info state = {.suspend_count = 0};
	mach_msg_type_number_t count;

	for (uint32_t n = 0; n < 1000 && state.suspend_count == 0; n++) {
		count = THREAD_BASIC_INFO_COUNT;
		sleep_ms(1);
		EXPECT_EQ(thread_info(thread, THREAD_BASIC_INFO, (thread_info_t)&state, &count),
			  KERN_SUCCESS);
	}
	EXPECT_EQ(state.suspend_count, 1);
	child_end(child);
	port_destroy(thread);
}

/* ---------------- Many threads that wait ---------------- */

static uint32_t ids[WAITERS];
static volatile uint32_t n_begun;
static uint32_t words[2]; /* That are waited for; the threads move from one to the other. */

static vm_address_t start_waiters(void (*wait)(void *), void *argument)
{
	vm_address_t memory = 0;

	EXPECT_EQ(vm_allocate(self(), &memory, WAITERS * PAGE_SIZE, TRUE), KERN_SUCCESS);
	n_begun = 0;
	for (uint32_t n = 0; n < WAITERS; n++)
		EXPECT_EQ(thread_start(wait, argument, (void *)(memory + n * PAGE_SIZE), PAGE_SIZE,
				       PRIORITY_USUAL, &ids[n]),
			  KERN_SUCCESS);
	EXPECT(wait_for(&n_begun, WAITERS));
	sleep_ms(10); /* They are on their way into the kernel. */
	return memory;
}

static void end_waiters(vm_address_t memory)
{
	for (uint32_t n = 0; n < WAITERS; n++)
		EXPECT_EQ(assay_thread_join(ids[n], 1000), KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(self(), memory, WAITERS * PAGE_SIZE), KERN_SUCCESS);
}

static void wait_for_message(void *port)
{
	struct message message;

	__atomic_add_fetch(&n_begun, 1, __ATOMIC_SEQ_CST);
	mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, *(mach_port_t *)port, 0,
		 MACH_PORT_NULL);
}

TEST(a_port_dies_at_which_many_wait)
{
	mach_port_t port = port_new();
	vm_address_t memory = start_waiters(wait_for_message, &port);

	port_destroy(port);
	end_waiters(memory);
}

/* A message too large for anybody: each is told so, and it stays. */
static volatile uint32_t n_refused;

static void refuse_message(void *port)
{
	struct message message;

	__atomic_add_fetch(&n_begun, 1, __ATOMIC_SEQ_CST);
	if (mach_msg(&message.head, MACH_RCV_MSG | MACH_RCV_LARGE, 0, sizeof message.head,
		     *(mach_port_t *)port, 0, MACH_PORT_NULL) == MACH_RCV_TOO_LARGE)
		__atomic_add_fetch(&n_refused, 1, __ATOMIC_SEQ_CST);
}

static void send_a_word(mach_port_t port)
{
	struct message message;

	message_head(&message, port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, 0, 1);
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1);
	message.body[1] = 1;
	EXPECT_EQ(message_post(&message, 2), MACH_MSG_SUCCESS);
}

static void end_refused(vm_address_t memory, mach_port_t port)
{
	end_waiters(memory);
	EXPECT_EQ(n_refused, WAITERS);
	EXPECT_EQ(message_drain(port), 1);
	port_destroy(port);
}

TEST(too_large_for_many)
{
	mach_port_t port = port_new();
	vm_address_t memory;

	n_refused = 0;
	memory = start_waiters(refuse_message, &port);
	send_a_word(port);
	end_refused(memory, port);
}

TEST(too_large_for_many_at_a_set)
{
	mach_port_t port = port_new(), set = MACH_PORT_NULL;
	vm_address_t memory;

	EXPECT_EQ(mach_port_allocate(self(), MACH_PORT_RIGHT_PORT_SET, &set), KERN_SUCCESS);
	n_refused = 0;
	send_a_word(port);
	memory = start_waiters(refuse_message, &set);
	EXPECT_EQ(mach_port_move_member(self(), port, set), KERN_SUCCESS);
	end_waiters(memory);
	EXPECT_EQ(mach_port_destroy(self(), set), KERN_SUCCESS);
	end_refused(memory, port);
}

static void send_to_full(void *port)
{
	struct message message;

	__atomic_add_fetch(&n_begun, 1, __ATOMIC_SEQ_CST);
	message_head(&message, *(mach_port_t *)port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, 0, 1);
	mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, 0, MACH_PORT_NULL, 0,
		 MACH_PORT_NULL);
}

/* All threads but this one. */
static void for_all_others(kern_return_t (*what)(mach_port_t thread))
{
	mach_port_t me = mach_thread_self();
	mach_msg_type_number_t n;
	thread_array_t threads;

	EXPECT_EQ(task_threads(self(), &threads, &n), KERN_SUCCESS);
	for (uint32_t i = 0; i < n; i++)
		if (threads[i] != me)
			what(threads[i]);
	drop_all(threads, n);
	port_drop_send(me);
}

/* Who is stopped does not take the room that there is: the next one is asked, and so on. */
TEST(senders_that_are_stopped)
{
	mach_port_t port = port_new();
	vm_address_t memory = start_waiters(send_to_full, &port);
	struct message message;

	for_all_others(thread_suspend);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	for_all_others(thread_resume);
	for (uint32_t n = 1; n < WAITERS; n++)
		EXPECT_EQ(message_get(&message, port, 1000), MACH_MSG_SUCCESS);
	end_waiters(memory);
	port_destroy(port);
}

static void wait_for_word(void *unused)
{
	(void)unused;
	__atomic_add_fetch(&n_begun, 1, __ATOMIC_SEQ_CST);
	gsync_wait(self(), (vm_address_t)&words[0], 0, 0, 0, 0);
}

TEST(many_wait_for_a_word)
{
	vm_address_t memory = start_waiters(wait_for_word, NULL);

	EXPECT_EQ(gsync_requeue(self(), (vm_address_t)&words[0], (vm_address_t)&words[1], FALSE,
				GSYNC_BROADCAST),
		  KERN_SUCCESS);
	EXPECT_EQ(gsync_wake(self(), (vm_address_t)&words[1], 0, GSYNC_BROADCAST), KERN_SUCCESS);
	end_waiters(memory);
}
