/* SPDX-License-Identifier: MIT */
/*
 * task_info() and thread_info(): every flavour, how much room they need, and what they say of
 * threads that run, wait, are stopped or have not yet begun.
 */
#include "check.h"
#include "ipc.h"

static volatile uint32_t stop;

static mach_port_t self(void)
{
	return mach_task_self();
}

static uint64_t micros(rpc_time_value_t time)
{
	return (uint64_t)time.seconds * 1000000u + (uint32_t)time.microseconds;
}

/* A time of 64 bits is the older one, and has more behind its point. */
static bool is_same_time(rpc_time_value_t time, time_value64_t time64)
{
	uint32_t ns = (uint32_t)time64.nanoseconds;

	return time64.seconds == time.seconds && ns / 1000 == (uint32_t)time.microseconds;
}

/* ---------------- Tasks ---------------- */

static struct task_basic_info basic_of(mach_port_t task)
{
	struct task_basic_info info;
	mach_msg_type_number_t count = TASK_BASIC_INFO_COUNT;

	memset(&info, 0xee, sizeof info);
	EXPECT_EQ(task_info(task, TASK_BASIC_INFO, (task_info_t)&info, &count), KERN_SUCCESS);
	EXPECT_EQ(count, TASK_BASIC_INFO_COUNT);
	return info;
}

TEST(task_basic_info)
{
	mach_port_t child = 0;
	struct task_basic_info info = basic_of(self());

	EXPECT_EQ(info.suspend_count, 0);
	EXPECT_LE(info.resident_size, info.virtual_size);
	EXPECT_EQ(info.virtual_size % PAGE_SIZE, 0);
	EXPECT_LT(0, info.resident_size);
	EXPECT_EQ(task_create(self(), FALSE, &child), KERN_SUCCESS);
	EXPECT_EQ(basic_of(child).virtual_size, 0);
	EXPECT_EQ(basic_of(child).base_priority, info.base_priority);
	EXPECT_LE(micros(info.creation_time), micros(basic_of(child).creation_time));
	EXPECT(is_same_time(info.user_time, info.user_time64));
	EXPECT(is_same_time(info.system_time, info.system_time64));
	EXPECT(is_same_time(info.creation_time, info.creation_time64));
	EXPECT_EQ(task_suspend(child), KERN_SUCCESS);
	EXPECT_EQ(task_suspend(child), KERN_SUCCESS);
	EXPECT_EQ(basic_of(child).suspend_count, 2);
	child_end(child);
}

TEST(task_sizes)
{
	struct task_basic_info before = basic_of(self()), after;
	vm_address_t address = 0;

	EXPECT_EQ(vm_allocate(self(), &address, 10 * PAGE_SIZE, TRUE), KERN_SUCCESS);
	memset((void *)address, 1, 10 * PAGE_SIZE);
	after = basic_of(self());
	EXPECT_EQ(after.virtual_size, before.virtual_size + 10 * PAGE_SIZE);
	EXPECT_EQ(after.resident_size, before.resident_size + 10 * PAGE_SIZE);
	EXPECT_EQ(vm_deallocate(self(), address, 10 * PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(basic_of(self()).virtual_size, before.virtual_size);
}

TEST(task_events_info)
{
	struct task_events_info one, other;
	mach_msg_type_number_t count = TASK_EVENTS_INFO_COUNT;
	mach_port_t port = port_new();

	EXPECT_EQ(task_info(self(), TASK_EVENTS_INFO, (task_info_t)&one, &count), KERN_SUCCESS);
	EXPECT_EQ(count, TASK_EVENTS_INFO_COUNT);
	for (int i = 0; i < 5; i++) {
		EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
		EXPECT_EQ(message_drain(port), 1);
	}
	EXPECT_EQ(task_info(self(), TASK_EVENTS_INFO, (task_info_t)&other, &count), KERN_SUCCESS);
	EXPECT_LE(one.messages_sent + 5, other.messages_sent);
	EXPECT_LE(one.messages_received + 5, other.messages_received);
	port_destroy(port);
}

TEST(task_thread_times_info)
{
	struct task_thread_times_info info;
	mach_msg_type_number_t count = TASK_THREAD_TIMES_INFO_COUNT;

	for (volatile uint32_t i = 0; i < 20000000; i++)
		continue;
	EXPECT_EQ(task_info(self(), TASK_THREAD_TIMES_INFO, (task_info_t)&info, &count),
		  KERN_SUCCESS);
	EXPECT_EQ(count, TASK_THREAD_TIMES_INFO_COUNT);
	EXPECT_LT(10000, micros(info.user_time));
	EXPECT(is_same_time(info.user_time, info.user_time64));
	EXPECT(is_same_time(info.system_time, info.system_time64));
}

TEST(wrong_task_infos)
{
	integer_t words[64];
	mach_msg_type_number_t count;
	mach_port_t thread = mach_thread_self();

	for (count = 0; count < TASK_BASIC_INFO_OLD_COUNT; count++) {
		mach_msg_type_number_t room = count;

		EXPECT_EQ(task_info(self(), TASK_BASIC_INFO, words, &room), KERN_INVALID_ARGUMENT);
	}
	count = 64;
	EXPECT_EQ(task_info(self(), 0, words, &count), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_info(self(), 99, words, &count), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_info(self(), -1, words, &count), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_info(thread, TASK_BASIC_INFO, words, &count), KERN_INVALID_ARGUMENT);
	count = 64;
	EXPECT_EQ(task_info(self(), TASK_BASIC_INFO, words, &count), KERN_SUCCESS);
	EXPECT_EQ(count, TASK_BASIC_INFO_COUNT);
	port_drop_send(thread);
}

TEST(task_ids)
{
	mach_port_t one = child_new(), other = child_new();

	EXPECT_LT(0, task_id_of(self()));
	EXPECT_LT(task_id_of(one), task_id_of(other));
	EXPECT_EQ(task_id_of(one), task_id_of(one));
	child_end(one);
	child_end(other);
}

/* ---------------- Threads ---------------- */

static struct thread_basic_info thread_basic_of(mach_port_t thread)
{
	struct thread_basic_info info;
	mach_msg_type_number_t count = THREAD_BASIC_INFO_COUNT;

	memset(&info, 0xee, sizeof info);
	EXPECT_EQ(thread_info(thread, THREAD_BASIC_INFO, (thread_info_t)&info, &count),
		  KERN_SUCCESS);
	EXPECT_EQ(count, THREAD_BASIC_INFO_COUNT);
	return info;
}

static void spin(void *unused)
{
	(void)unused;
	while (!stop)
		continue; /* Without a pause, which costs an emulator more than the instructions. */
}

static void receive(void *port)
{
	struct message message;

	message_get(&message, (mach_port_t)port, LONG_WAIT);
}

TEST(thread_run_states)
{
	mach_port_t port = port_new(), runs, waits, self_thread = mach_thread_self();

	stop = 0;
	worker_start(0, spin, NULL);
	worker_start(1, receive, (void *)port);
	runs = worker_port(0);
	waits = worker_port(1);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(thread_basic_of(self_thread).run_state, TH_STATE_RUNNING);
	EXPECT_EQ(thread_basic_of(runs).run_state, TH_STATE_RUNNING);
	EXPECT_EQ(thread_basic_of(waits).run_state, TH_STATE_WAITING);
	EXPECT_EQ(thread_basic_of(runs).suspend_count, 0);
	EXPECT_EQ(thread_suspend(runs), KERN_SUCCESS);
	EXPECT_EQ(thread_suspend(runs), KERN_SUCCESS);
	EXPECT_EQ(thread_basic_of(runs).suspend_count, 2);
	sleep_ms(1);
	EXPECT_EQ(thread_basic_of(runs).run_state, TH_STATE_STOPPED);
	EXPECT_EQ(thread_resume(runs), KERN_SUCCESS);
	EXPECT_EQ(thread_resume(runs), KERN_SUCCESS);
	stop = 1;
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
	worker_join(0);
	worker_join(1);
	port_drop_send(self_thread);
	port_destroy(port);
}

TEST(thread_times)
{
	mach_port_t thread;
	struct thread_basic_info info;

	stop = 0;
	worker_start(0, spin, NULL);
	thread = worker_port(0);
	sleep_ms(60);
	info = thread_basic_of(thread);
	EXPECT_LT(20000, micros(info.user_time));
	EXPECT_LE(micros(info.user_time) + micros(info.system_time), 1000000);
	EXPECT_LE(info.cpu_usage, TH_USAGE_SCALE);
	EXPECT(is_same_time(info.user_time, info.user_time64));
	EXPECT(is_same_time(info.system_time, info.system_time64));
	EXPECT(is_same_time(info.creation_time, info.creation_time64));
	EXPECT_EQ(info.base_priority, PRIORITY_USUAL);
	stop = 1;
	worker_join(0);
}

TEST(thread_that_has_not_begun)
{
	mach_port_t child = child_new(), thread = 0;

	EXPECT_EQ(thread_create(child, &thread), KERN_SUCCESS);
	EXPECT_EQ(thread_basic_of(thread).suspend_count, 1);
	EXPECT_EQ(micros(thread_basic_of(thread).user_time), 0);
	child_end(child);
	port_destroy(thread);
}

TEST(thread_sched_info)
{
	mach_port_t thread = mach_thread_self();
	struct thread_sched_info info;
	mach_msg_type_number_t count = THREAD_SCHED_INFO_COUNT;

	EXPECT_EQ(thread_info(thread, THREAD_SCHED_INFO, (thread_info_t)&info, &count),
		  KERN_SUCCESS);
	EXPECT_EQ(count, THREAD_SCHED_INFO_COUNT);
	EXPECT_EQ(info.policy, POLICY_TIMESHARE);
	EXPECT_EQ(info.depressed, FALSE);
	EXPECT_EQ(info.last_processor, 0);
	EXPECT_LE(info.max_priority, info.base_priority);
	port_drop_send(thread);
}

TEST(wrong_thread_infos)
{
	mach_port_t thread = mach_thread_self();
	integer_t words[64];
	mach_msg_type_number_t count = THREAD_BASIC_INFO_OLD_COUNT - 1;

	EXPECT_EQ(thread_info(thread, THREAD_BASIC_INFO, words, &count), KERN_INVALID_ARGUMENT);
	count = THREAD_SCHED_INFO_COUNT - 1;
	EXPECT_EQ(thread_info(thread, THREAD_SCHED_INFO, words, &count), KERN_INVALID_ARGUMENT);
	count = 64;
	EXPECT_EQ(thread_info(thread, 0, words, &count), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_info(thread, 77, words, &count), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_info(self(), THREAD_BASIC_INFO, words, &count), KERN_INVALID_ARGUMENT);
	port_drop_send(thread);
}

/* What was compiled before there were times of 64 bits asks for less, and must get no more. */
TEST(older_callers_get_what_they_know)
{
	static const struct {
		int flavor;
		unsigned old;
		unsigned whole;
		bool of_thread;
	} forms[] = {
		{TASK_BASIC_INFO, 10, TASK_BASIC_INFO_COUNT, false},
		{TASK_THREAD_TIMES_INFO, 4, TASK_THREAD_TIMES_INFO_COUNT, false},
		{THREAD_BASIC_INFO, 13, THREAD_BASIC_INFO_COUNT, true},
	};
	mach_port_t thread = mach_thread_self();

	for (unsigned i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		for (unsigned room = forms[i].old; room < forms[i].whole; room++) {
			mach_msg_type_number_t count = room;
			integer_t words[64];

			words[forms[i].old] = 0x5eed;
			if (forms[i].of_thread)
				EXPECT_EQ(thread_info(thread, forms[i].flavor, words, &count),
					  KERN_SUCCESS);
			else
				EXPECT_EQ(task_info(self(), forms[i].flavor, words, &count),
					  KERN_SUCCESS);
			EXPECT_EQ(count, forms[i].old);
			EXPECT_EQ(words[forms[i].old], 0x5eed);
		}
	}
	port_drop_send(thread);
}

/* ---------------- Names for people ---------------- */

TEST(names_of_threads)
{
	mach_port_t child = child_new(), thread = 0;
	kernel_debug_name_t name;

	EXPECT_EQ(thread_create(child, &thread), KERN_SUCCESS);
	EXPECT_EQ(task_set_name(child, "a child"), KERN_SUCCESS);
	EXPECT_EQ(thread_set_name(thread, "its thread"), KERN_SUCCESS);
	EXPECT_EQ(thread_get_name(thread, name), KERN_SUCCESS);
	EXPECT_STREQ(name, "its thread");
	child_end(child);
	port_destroy(thread);
}
