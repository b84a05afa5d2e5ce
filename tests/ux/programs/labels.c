/* SPDX-License-Identifier: MIT */
/*
 * On whose behalf the server works, and programs do: labels follow messages, and nothing else.
 *
 * guest: user=root limit=30
 * guest: user=root cpus=2 seed=1 limit=30
 */
#include <mach.h>
#include <mach/task_info.h>
#include <mach/thread_info.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/ux.h>

#include "help.h"

enum {
	WORK = 30000000, /* Some 15 ticks. */
	TICK_US = 10000,
	CALLS = 10000
};

static natural_t id_of(mach_port_t task)
{
	struct task_id_info info = {0};
	mach_msg_type_number_t count = TASK_ID_INFO_COUNT;

	EXPECT_EQ(task_info(task, TASK_ID_INFO, (task_info_t)&info, &count), KERN_SUCCESS);
	return info.id;
}

static natural_t label_of(mach_port_t thread)
{
	struct thread_id_info info = {0};
	mach_msg_type_number_t count = THREAD_ID_INFO_COUNT;

	thread_info(thread, THREAD_ID_INFO, (thread_info_t)&info, &count);
	return info.label;
}

/* Microseconds that others have used on the task's behalf. */
static long long served(mach_port_t task)
{
	struct task_usage_info info = {.served_user_time = {0}};
	mach_msg_type_number_t count = TASK_USAGE_INFO_COUNT;

	EXPECT_EQ(task_info(task, TASK_USAGE_INFO, (task_info_t)&info, &count), KERN_SUCCESS);
	return (info.served_user_time.seconds + info.served_system_time.seconds) * 1000000ll +
	       info.served_user_time.microseconds + info.served_system_time.microseconds;
}

/* How many threads of the server's work for the task, or wait for it. */
static unsigned servers_for(natural_t id)
{
	mach_port_t server = task_by_pid(0);
	mach_port_array_t threads = NULL;
	mach_msg_type_number_t count = 0;
	unsigned found = 0;

	EXPECT_EQ(task_threads(server, &threads, &count), KERN_SUCCESS);
	for (mach_msg_type_number_t n = 0; n < count; n++) {
		found += label_of(threads[n]) == id;
		mach_port_deallocate(mach_task_self(), threads[n]);
	}
	vm_deallocate(mach_task_self(), (vm_address_t)threads, count * sizeof *threads);
	mach_port_deallocate(mach_task_self(), server);
	return found;
}

static void compute(void)
{
	for (volatile int n = 0; n < WORK; n++)
		continue;
}

/* What the reader computes after it was woken is its own: nobody has served the writer more. */
TEST(a_reader_that_was_woken_works_for_itself)
{
	int there[2], back[2];
	long long before, after;
	pid_t reader;
	char byte = 0;

	REQUIRE(pipe(there) == 0 && pipe(back) == 0);
	reader = fork();
	if (reader == 0) {
		read(there[0], &byte, 1);
		EXPECT_EQ(label_of(mach_thread_self()), id_of(mach_task_self()));
		compute();
		EXPECT_EQ(label_of(mach_thread_self()), id_of(mach_task_self()));
		fflush(stdout);
		byte = (char)check_failures;
		write(back[1], &byte, 1);
		_exit(0);
	}
	before = served(mach_task_self());
	EXPECT_EQ(write(there[1], "x", 1), 1);
	EXPECT_EQ(read(back[0], &byte, 1), 1);
	EXPECT_EQ(byte, 0);
	after = served(mach_task_self());
	/*
	 * A tick, or two at once after a turn that was held, may come while the server takes a
	 * call of the writer's; the reader has many.
	 */
	EXPECT(after - before <= 2 * TICK_US);
	EXPECT_EQ(status_of(reader), 0);
}

/* Whether the only thread of a task waits for something. */
static bool waits(mach_port_t task)
{
	struct thread_basic_info info = {0};
	mach_msg_type_number_t count = 0, size = THREAD_BASIC_INFO_COUNT;
	mach_port_array_t threads = NULL;

	EXPECT_EQ(task_threads(task, &threads, &count), KERN_SUCCESS);
	EXPECT_EQ(count, 1);
	thread_info(threads[0], THREAD_BASIC_INFO, (thread_info_t)&info, &size);
	mach_port_deallocate(mach_task_self(), threads[0]);
	vm_deallocate(mach_task_self(), (vm_address_t)threads, count * sizeof *threads);
	return info.run_state == TH_STATE_WAITING;
}

/* A word that the children have too. */
static volatile int *shared_word(void)
{
	vm_address_t address = 0;

	EXPECT_EQ(vm_allocate(mach_task_self(), &address, (vm_size_t)getpagesize(), TRUE),
		  KERN_SUCCESS);
	EXPECT_EQ(vm_inherit(mach_task_self(), address, (vm_size_t)getpagesize(), VM_INHERIT_SHARE),
		  KERN_SUCCESS);
	return (volatile int *)address;
}

/* The thread of the server that waits for somebody is labelled with whom it waits for. */
TEST(the_server_waits_on_behalf_of_the_caller)
{
	volatile int *is_there = shared_word(); /* What it waits for from then on is its read. */
	int ends[2];
	mach_port_t task;
	pid_t reader;
	char byte;

	REQUIRE(pipe(ends) == 0);
	reader = fork();
	if (reader == 0) {
		*is_there = 1;
		_exit(read(ends[0], &byte, 1) != 1);
	}
	task = task_by_pid(reader);
	while (*is_there == 0 || !waits(task))
		sched_yield();
	EXPECT(servers_for(id_of(task)) >= 1);
	EXPECT_EQ(write(ends[1], "x", 1), 1);
	EXPECT_EQ(status_of(reader), 0);
	mach_port_deallocate(mach_task_self(), task);
	vm_deallocate(mach_task_self(), (vm_address_t)is_there, (vm_size_t)getpagesize());
}

static long long system_us(const struct rusage *usage)
{
	return usage->ru_stime.tv_sec * 1000000ll + usage->ru_stime.tv_usec;
}

/* One makes calls, the other looks on: the time is the caller's. */
TEST(calls_are_charged_to_who_made_them)
{
	mach_port_t self = mach_task_self();
	long long before = served(self), of_child;
	pid_t idle = fork_sleeper();
	mach_port_t task = task_by_pid(idle);
	struct rusage first, then;

	usleep(10 * TICK_US); /* The child comes to its rest. */
	of_child = served(task);
	EXPECT_EQ(getrusage(RUSAGE_SELF, &first), 0);
	for (int n = 0; n < CALLS; n++)
		size_of("/tmp/labels");
	EXPECT_EQ(getrusage(RUSAGE_SELF, &then), 0);
	EXPECT(served(self) > before);
	EXPECT_EQ(served(task), of_child);
	EXPECT(system_us(&then) > system_us(&first));
	EXPECT_EQ(kill(idle, SIGKILL), 0);
	EXPECT_EQ(status_of(idle), SIGKILL);
}
