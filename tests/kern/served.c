/* SPDX-License-Identifier: MIT */
/*
 * TASK_USAGE_INFO: CPU time that others use on a task's behalf, by the labels that messages bring.
 *
 * machine: cpus=1
 * machine: cpus=1 append="fastpath=off"
 * machine: cpus=2 seed=1
 */
#include "check.h"
#include "ipc.h"

#define SERVER 0x101 /* In the children: where they ask, */
#define ANSWER 0x102 /* and where the answer comes. */

#define TICK_US   10000u
#define SERVED_US (10 * TICK_US)
#define ID_LISTS  256u /* Of the kernel: ids that differ by so much are on the same one. */

static uint64_t micros(rpc_time_value_t time)
{
	return (uint64_t)time.seconds * 1000000u + (uint32_t)time.microseconds;
}

static struct task_usage_info served(mach_port_t task)
{
	struct task_usage_info info;
	mach_msg_type_number_t count = TASK_USAGE_INFO_COUNT;

	memset(&info, 0xee, sizeof info);
	EXPECT_EQ(task_info(task, TASK_USAGE_INFO, (task_info_t)&info, &count), KERN_SUCCESS);
	EXPECT_EQ(count, TASK_USAGE_INFO_COUNT);
	return info;
}

static uint64_t served_user(mach_port_t task)
{
	return micros(served(task).served_user_time);
}

static uint64_t served_system(mach_port_t task)
{
	return micros(served(task).served_system_time);
}

/* Asks once, and waits for the answer. */
static void ask(uint32_t unused)
{
	struct message message;

	(void)unused;
	message_head(&message, SERVER, MACH_MSG_TYPE_COPY_SEND, ANSWER,
		     MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
	mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.head, sizeof message,
		 ANSWER, 0, 0);
}

static mach_port_t client_new(mach_port_t server, mach_port_t *thread)
{
	mach_port_t child = child_new();

	child_give(child, SERVER, server, MACH_MSG_TYPE_MAKE_SEND);
	EXPECT_EQ(mach_port_allocate_name(child, MACH_PORT_RIGHT_RECEIVE, ANSWER), KERN_SUCCESS);
	*thread = child_start(child, 0, ask, 0);
	return child;
}

/* A worker, so that the label is its own and not for ever the test's. */
struct work {
	mach_port_t server, client, other;
	bool in_kernel;
};

static void serve(void *argument)
{
	const struct work *work = argument;
	struct message message;

	if (!EXPECT_EQ(message_get(&message, work->server, LONG_WAIT), MACH_MSG_SUCCESS))
		return;
	EXPECT_EQ(my_label(), task_id_of(work->client));
	/* The calls by which the test looks are served too. */
	while ((work->in_kernel ? served_system(work->client) : served_user(work->client)) <
		       SERVED_US &&
	       !check_failed()) {
		for (volatile uint32_t n = 0; n < 100000 && !work->in_kernel; n++)
			continue;
		for (uint32_t n = 0; n < 1000 && work->in_kernel; n++)
			null_trap();
	}
	EXPECT_EQ(served_user(work->other) + served_system(work->other), 0);
	message_drop_reply(&message);
}

static void serve_one(bool in_kernel)
{
	mach_port_t thread;
	struct work work = {.server = port_new(), .in_kernel = in_kernel};

	work.client = client_new(work.server, &thread);
	work.other = child_new();
	worker_start(0, serve, &work);
	worker_join(0);
	port_drop_send(thread);
	child_end(work.client);
	child_end(work.other);
	port_destroy(work.server);
}

TEST(user_time)
{
	serve_one(false);
}

TEST(system_time)
{
	serve_one(true);
}

/* Work of one's own is not. */
TEST(nobody_serves_oneself)
{
	struct task_usage_info before = served(mach_task_self()), after;
	mach_port_t child = child_new();

	for (volatile uint32_t n = 0; n < 20000000; n++)
		continue;
	after = served(mach_task_self());
	EXPECT_EQ(micros(before.served_user_time), micros(after.served_user_time));
	EXPECT_EQ(served_user(child) + served_system(child), 0);
	child_end(child);
}

/* Two whose ids are on the same list of the kernel's. */
TEST(tasks_are_told_apart)
{
	mach_port_t thread;
	struct work work = {.server = port_new()};

	work.other = child_new();
	for (uint32_t n = 1; n < ID_LISTS; n++)
		child_end(child_new());
	work.client = client_new(work.server, &thread);
	EXPECT_EQ(task_id_of(work.client), task_id_of(work.other) + ID_LISTS);
	worker_start(0, serve, &work);
	worker_join(0);
	port_drop_send(thread);
	child_end(work.client);
	child_end(work.other);
	port_destroy(work.server);
}

/* The client has gone, and its label is still there. */
static void serve_nobody(void *argument)
{
	const struct work *work = argument;
	struct message message;

	EXPECT_EQ(message_get(&message, work->server, LONG_WAIT), MACH_MSG_SUCCESS);
	child_end(work->client);
	for (volatile uint32_t n = 0; n < 20000000; n++)
		continue;
	message_drop_reply(&message);
}

TEST(a_client_that_has_gone)
{
	mach_port_t thread;
	struct work work = {.server = port_new()};

	work.client = client_new(work.server, &thread);
	worker_start(0, serve_nobody, &work);
	worker_join(0);
	port_drop_send(thread);
	port_destroy(work.server);
}

TEST(room_for_the_answer)
{
	integer_t words[TASK_USAGE_INFO_COUNT];
	mach_msg_type_number_t count = TASK_USAGE_INFO_COUNT - 1;

	EXPECT_EQ(task_info(mach_task_self(), TASK_USAGE_INFO, words, &count),
		  KERN_INVALID_ARGUMENT);
}
