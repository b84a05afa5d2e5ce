/* SPDX-License-Identifier: MIT */
/*
 * Priorities and policies of threads and tasks: who may have which, and who runs first.
 *
 * machine: cpus=1 arguments="${host-port}"
 */
#include "check.h"
#include "ipc.h"

static volatile uint32_t stop, count;

static struct thread_sched_info sched_of(mach_port_t thread)
{
	struct thread_sched_info info = {0};
	mach_msg_type_number_t n = THREAD_SCHED_INFO_COUNT;

	EXPECT_EQ(thread_info(thread, THREAD_SCHED_INFO, (thread_info_t)&info, &n), KERN_SUCCESS);
	return info;
}

/* The default set by its control port, for which the privileged host port is needed. */
static mach_port_t default_set(void)
{
	mach_port_t host = mach_host_self(), name = 0, set = 0;

	EXPECT_EQ(processor_set_default(host, &name), KERN_SUCCESS);
	EXPECT_EQ(host_processor_set_priv(check_number(0), name, &set), KERN_SUCCESS);
	port_drop_send(name);
	port_drop_send(host);
	return set;
}

static mach_port_t stopped_thread(mach_port_t *child)
{
	mach_port_t thread = MACH_PORT_NULL;

	*child = child_new();
	EXPECT_EQ(thread_create(*child, &thread), KERN_SUCCESS);
	return thread;
}

TEST(priorities_are_set)
{
	mach_port_t child, thread = stopped_thread(&child);

	EXPECT_EQ(sched_of(thread).base_priority, PRIORITY_USUAL);
	EXPECT_EQ(thread_priority(thread, 40, FALSE), KERN_SUCCESS);
	EXPECT_EQ(sched_of(thread).base_priority, 40);
	EXPECT_EQ(thread_priority(thread, PRIORITY_USUAL, FALSE), KERN_SUCCESS);
	EXPECT_EQ(thread_priority(thread, 64, FALSE), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_priority(thread, -1, FALSE), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_priority(child, 30, FALSE), KERN_INVALID_ARGUMENT);
	child_end(child);
	port_destroy(thread);
}

/* A thread that has given up better priorities cannot have them again on its own. */
TEST(the_best_priority_is_a_limit)
{
	mach_port_t child, thread = stopped_thread(&child), set = default_set();

	EXPECT_EQ(thread_priority(thread, 40, TRUE), KERN_SUCCESS);
	EXPECT_EQ(sched_of(thread).max_priority, 40);
	EXPECT_EQ(thread_priority(thread, 39, FALSE), KERN_FAILURE);
	EXPECT_EQ(thread_priority(thread, PRIORITY_USUAL, FALSE), KERN_FAILURE);
	EXPECT_EQ(thread_priority(thread, PRIORITY_USUAL - 1, FALSE), KERN_NO_ACCESS);
	EXPECT_EQ(thread_priority(thread, 41, FALSE), KERN_SUCCESS);
	/* Who controls the set can give more. */
	EXPECT_EQ(thread_max_priority(thread, set, 10), KERN_SUCCESS);
	EXPECT_EQ(thread_priority(thread, 10, FALSE), KERN_SUCCESS);
	EXPECT_EQ(thread_max_priority(thread, MACH_PORT_NULL, 5), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_max_priority(thread, child, 5), KERN_INVALID_ARGUMENT);
	child_end(child);
	port_destroy(thread);
	port_drop_send(set);
}

TEST(priorities_of_tasks)
{
	mach_port_t child, thread = stopped_thread(&child), other = 0;

	EXPECT_EQ(task_priority(child, 33, FALSE), KERN_SUCCESS);
	EXPECT_EQ(sched_of(thread).base_priority, PRIORITY_USUAL);
	EXPECT_EQ(thread_create(child, &other), KERN_SUCCESS);
	EXPECT_EQ(sched_of(other).base_priority, 33);
	EXPECT_EQ(task_priority(child, 34, TRUE), KERN_SUCCESS);
	EXPECT_EQ(sched_of(thread).base_priority, 34);
	EXPECT_EQ(sched_of(other).base_priority, 34);
	EXPECT_EQ(task_priority(child, 64, TRUE), KERN_INVALID_ARGUMENT);
	child_end(child);
	port_destroy(thread);
	port_destroy(other);
}

/* ---------------- What a task may have ---------------- */

TEST(boot_tasks_may_have_the_usual_priority)
{
	mach_port_t child, thread = stopped_thread(&child);

	EXPECT_EQ(sched_of(thread).max_priority, PRIORITY_USUAL);
	EXPECT_EQ(task_priority(mach_task_self(), PRIORITY_USUAL - 1, FALSE), KERN_NO_ACCESS);
	EXPECT_EQ(task_priority(child, PRIORITY_USUAL - 1, FALSE), KERN_NO_ACCESS);
	EXPECT_EQ(thread_priority(thread, PRIORITY_USUAL - 1, FALSE), KERN_NO_ACCESS);
	EXPECT_EQ(sched_of(thread).base_priority, PRIORITY_USUAL);
	child_end(child);
	port_destroy(thread);
}

TEST(a_task_may_have_more)
{
	mach_port_t child, thread = stopped_thread(&child), set = default_set(), other = 0;

	EXPECT_EQ(task_max_priority(child, set, 8), KERN_SUCCESS);
	EXPECT_EQ(sched_of(thread).max_priority, 8);
	EXPECT_EQ(sched_of(thread).base_priority, PRIORITY_USUAL);
	EXPECT_EQ(task_priority(child, 7, TRUE), KERN_NO_ACCESS);
	EXPECT_EQ(task_priority(child, 8, TRUE), KERN_SUCCESS);
	EXPECT_EQ(sched_of(thread).base_priority, 8);
	EXPECT_EQ(thread_create(child, &other), KERN_SUCCESS);
	EXPECT_EQ(sched_of(other).base_priority, 8);
	EXPECT_EQ(sched_of(other).max_priority, 8);
	child_end(child);
	port_destroy(thread);
	port_destroy(other);
	port_drop_send(set);
}

/* Threads that have better priorities, or might, lose them; the task's own is no better either. */
TEST(a_task_may_have_less)
{
	mach_port_t child, thread = stopped_thread(&child), set = default_set(), other = 0;

	EXPECT_EQ(thread_max_priority(thread, set, 10), KERN_SUCCESS);
	EXPECT_EQ(thread_priority(thread, 10, FALSE), KERN_SUCCESS);
	EXPECT_EQ(task_max_priority(child, set, 33), KERN_SUCCESS);
	EXPECT_EQ(sched_of(thread).max_priority, 33);
	EXPECT_EQ(sched_of(thread).base_priority, 33);
	EXPECT_EQ(thread_create(child, &other), KERN_SUCCESS);
	EXPECT_EQ(sched_of(other).base_priority, 33);
	EXPECT_EQ(task_priority(child, 32, FALSE), KERN_NO_ACCESS);
	child_end(child);
	port_destroy(thread);
	port_destroy(other);
	port_drop_send(set);
}

/* What a thread has given up itself stays given up. */
TEST(a_threads_own_limit_stays)
{
	mach_port_t child, thread = stopped_thread(&child), set = default_set();

	EXPECT_EQ(thread_priority(thread, 40, TRUE), KERN_SUCCESS);
	EXPECT_EQ(task_max_priority(child, set, 8), KERN_SUCCESS);
	EXPECT_EQ(sched_of(thread).max_priority, 40);
	EXPECT_EQ(thread_priority(thread, 8, FALSE), KERN_FAILURE);
	EXPECT_EQ(task_priority(child, 8, TRUE), KERN_FAILURE);
	child_end(child);
	port_destroy(thread);
	port_drop_send(set);
}

TEST(children_may_have_what_their_parent_may)
{
	mach_port_t set = default_set(), child = child_new(), grandchild = 0, thread = 0;

	EXPECT_EQ(task_max_priority(child, set, 31), KERN_SUCCESS);
	EXPECT_EQ(task_create(child, FALSE, &grandchild), KERN_SUCCESS);
	EXPECT_EQ(thread_create(grandchild, &thread), KERN_SUCCESS);
	EXPECT_EQ(sched_of(thread).max_priority, 31);
	EXPECT_EQ(sched_of(thread).base_priority, 31);
	EXPECT_EQ(task_priority(grandchild, 30, FALSE), KERN_NO_ACCESS);
	child_end(grandchild);
	child_end(child);
	port_destroy(thread);
	port_drop_send(set);
}

TEST(a_tasks_limit_needs_the_set)
{
	mach_port_t child = child_new(), set = default_set(), name = 0, host = mach_host_self();

	EXPECT_EQ(processor_set_default(host, &name), KERN_SUCCESS);
	EXPECT_EQ(task_max_priority(child, MACH_PORT_NULL, 8), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_max_priority(child, name, 8), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_max_priority(child, child, 8), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_max_priority(child, set, -1), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_max_priority(child, set, 64), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_max_priority(set, set, 8), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_priority(child, PRIORITY_USUAL - 1, FALSE), KERN_NO_ACCESS);
	child_end(child);
	port_drop_send(name);
	port_drop_send(set);
	port_drop_send(host);
}

/* The processor set's own limit: new threads are no better, old ones if that was asked for. */
TEST(the_sets_limit)
{
	mach_port_t child, thread = stopped_thread(&child), set = default_set(), other = 0;
	struct processor_set_sched_info info;
	mach_msg_type_number_t n = PROCESSOR_SET_SCHED_INFO_COUNT;
	mach_port_t self = mach_thread_self(), host = MACH_PORT_NULL;

	EXPECT_EQ(processor_set_info(set, PROCESSOR_SET_SCHED_INFO, &host,
				     (processor_set_info_t)&info, &n),
		  KERN_SUCCESS);
	EXPECT_EQ(info.max_priority, 6);
	EXPECT_EQ(processor_set_max_priority(set, 64, FALSE), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(processor_set_max_priority(set, -1, FALSE), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(processor_set_max_priority(child, 30, FALSE), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(processor_set_max_priority(set, 30, FALSE), KERN_SUCCESS);
	EXPECT_EQ(thread_create(child, &other), KERN_SUCCESS);
	EXPECT_EQ(sched_of(other).max_priority, 30);
	EXPECT_EQ(sched_of(other).base_priority, 30);
	EXPECT_EQ(sched_of(thread).max_priority, PRIORITY_USUAL);
	EXPECT_EQ(processor_set_max_priority(set, 31, TRUE), KERN_SUCCESS);
	EXPECT_EQ(sched_of(thread).base_priority, 31);
	EXPECT_EQ(sched_of(other).max_priority, 31);
	/* As it was; this very thread had to obey too. */
	EXPECT_EQ(processor_set_max_priority(set, 6, TRUE), KERN_SUCCESS);
	EXPECT_EQ(thread_max_priority(self, set, PRIORITY_USUAL), KERN_SUCCESS);
	EXPECT_EQ(thread_priority(self, PRIORITY_USUAL, FALSE), KERN_SUCCESS);
	child_end(child);
	port_destroy(thread);
	port_destroy(other);
	port_drop_send(self);
	port_drop_send(set);
	port_drop_send(host);
}

/* ---------------- Who runs first ---------------- */

static void count_on(void *unused)
{
	(void)unused;
	while (!stop)
		count++;
}

/* One that is worse does not run while this one does, and does at once when it is made better. */
TEST(the_better_runs)
{
	mach_port_t thread;
	uint32_t before;

	stop = 0;
	worker_start(0, count_on, NULL);
	thread = worker_port(0);
	EXPECT_EQ(thread_priority(thread, 50, FALSE), KERN_SUCCESS);
	before = count;
	for (volatile uint32_t i = 0; i < 30000000; i++)
		continue;
	EXPECT_EQ(count, before);
	sleep_ms(10);
	EXPECT_LT(before, count);
	EXPECT_EQ(thread_priority(thread, PRIORITY_USUAL, FALSE), KERN_SUCCESS);
	before = count;
	for (volatile uint32_t i = 0; i < 60000000; i++)
		continue;
	EXPECT_LT(before, count);
	stop = 1;
	worker_join(0);
}

/* ---------------- Policies ---------------- */

TEST(policies)
{
	mach_port_t child, thread = stopped_thread(&child), set = default_set();

	EXPECT_EQ(thread_policy(thread, POLICY_TIMESHARE, 0), KERN_SUCCESS);
	EXPECT_EQ(thread_policy(thread, 77, 0), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_policy(thread, 0, 0), KERN_INVALID_ARGUMENT);
	/* The set must allow it. */
	EXPECT_EQ(thread_policy(thread, POLICY_FIXEDPRI, 50), KERN_FAILURE);
	EXPECT_EQ(processor_set_policy_enable(set, POLICY_FIXEDPRI), KERN_SUCCESS);
	EXPECT_EQ(thread_policy(thread, POLICY_FIXEDPRI, 50), KERN_SUCCESS);
	EXPECT_EQ(sched_of(thread).policy, POLICY_FIXEDPRI);
	EXPECT_EQ(processor_set_policy_disable(set, POLICY_FIXEDPRI, TRUE), KERN_SUCCESS);
	EXPECT_EQ(sched_of(thread).policy, POLICY_TIMESHARE);
	EXPECT_EQ(processor_set_policy_disable(set, POLICY_TIMESHARE, TRUE), KERN_INVALID_ARGUMENT);
	child_end(child);
	port_destroy(thread);
	port_drop_send(set);
}
