/* SPDX-License-Identifier: MIT */
/*
 * Streams that follow a task's children: who is of the job, and when it is over.
 *
 * machine: cpus=1 limit=60 arguments="${host-port}"
 * machine: cpus=2 limit=60 arguments="${host-port}"
 */
#include <mach/task_info.h>

#include "check.h"
#include "ipc.h"
#include "samples.h"

#define SELF    mach_task_self()
#define RATE    5000u
#define FLAVORS (SAMPLED_PC_PERIODIC | SAMPLED_PC_VM_ZFILL_FAULTS)
#define JOBS    32u    /* That there can be at a time, */
#define SHARE   24u    /* and of one task (docs/calls/task_sample.md). */
#define REPORT  0x123u /* Where the child says how many it got. */

static struct collected collected;

static const sample_options_t with_children = {.flags = SAMPLE_CHILDREN, .age_ms = 200};

static uint32_t number_of(mach_port_t task)
{
	struct task_id_info info = {0};
	mach_msg_type_number_t count = TASK_ID_INFO_COUNT;

	EXPECT_EQ(task_info(task, TASK_ID_INFO, (task_info_t)&info, &count), KERN_SUCCESS);
	return info.id;
}

/* A child of any task, with this one's memory. */
static mach_port_t child_of(mach_port_t parent)
{
	mach_port_t child = MACH_PORT_NULL;

	EXPECT_EQ(task_create(parent, TRUE, &child), KERN_SUCCESS);
	return child;
}

static void begin(mach_port_t task)
{
	samples_new(&collected);
	EXPECT_EQ(task_sample_start(task, FLAVORS, RATE, with_children, collected.port),
		  KERN_SUCCESS);
}

/* In a child: some 20 ms of work, a page that is written to, and the end. */
static void work_and_exit(uint32_t unused)
{
	static volatile uint32_t page[2 * PAGE_SIZE / sizeof(uint32_t)];
	volatile uint32_t rounds = 4000000;
	vm_address_t memory = 0;

	(void)unused;
	vm_allocate(SELF, &memory, PAGE_SIZE, TRUE);
	*(volatile uint32_t *)memory = page[0];
	while (rounds > 0)
		rounds--;
	assay_exit(0);
}

static void run(mach_port_t task, uint32_t stack)
{
	port_destroy(child_start(task, stack, work_and_exit, 0));
}

/* Samples of the task among those that are kept. */
static uint32_t samples_of_task(uint32_t task, uint32_t flavor)
{
	uint32_t n = 0;

	for (uint64_t i = 0; i < collected.samples && i < SAMPLES_KEPT; i++)
		n += kept[i].task == task && kept[i].flavor == flavor;
	return n;
}

static void expect_sampled(uint32_t task)
{
	EXPECT_LT(20, samples_of_task(task, SAMPLED_PC_PERIODIC));
	EXPECT_LT(0, samples_of_task(task, SAMPLED_PC_VM_ZFILL_FAULTS));
}

/*
 * The first task has no thread and ends at once; its child's child is sampled all the same, and one
 * that is not made as a child of theirs is not, nor one that was there before.
 */
TEST(children_of_children)
{
	mach_port_t first = child_of(SELF), before = child_of(first), child, grandchild, other;
	uint32_t one, two, three, four;

	begin(first);
	child = child_of(first);
	grandchild = child_of(child);
	other = child_of(SELF);
	one = number_of(child);
	two = number_of(grandchild);
	three = number_of(other);
	four = number_of(before);
	EXPECT_EQ(task_terminate(first), KERN_SUCCESS);
	run(other, 0);
	run(before, 1);
	run(child, 2);
	run(grandchild, 3);
	EXPECT(samples_receive_all(&collected));
	EXPECT_EQ(collected.begin.target, PROF_TARGET_JOB);
	EXPECT_EQ(collected.end.reason, PROF_END_TARGET);
	expect_sampled(one);
	expect_sampled(two);
	EXPECT_EQ(samples_of_task(one, SAMPLED_PC_PERIODIC) +
			  samples_of_task(two, SAMPLED_PC_PERIODIC),
		  samples_of(&collected, SAMPLED_PC_PERIODIC));
	EXPECT_EQ(samples_of_task(three, SAMPLED_PC_VM_ZFILL_FAULTS), 0);
	EXPECT_EQ(samples_of_task(four, SAMPLED_PC_VM_ZFILL_FAULTS), 0);
	samples_forget(&collected);
	port_destroy(first);
	port_destroy(before);
	port_destroy(child);
	port_destroy(grandchild);
	port_destroy(other);
}

/* With a stream of the child alone, and one of another job, which has its own children only. */
TEST(jobs_within_jobs)
{
	mach_port_t first = child_of(SELF), second, child;
	struct collected inner = {0};
	uint64_t delivered = 0;
	uint32_t number;

	samples_new(&inner);
	begin(first);
	second = child_of(first);
	EXPECT_EQ(
		task_sample_start(second, SAMPLED_PC_VM_ZFILL_FAULTS, 0, with_children, inner.port),
		KERN_SUCCESS);
	child = child_of(first);
	number = number_of(child);
	run(child, 0);
	while (samples_of_task(number, SAMPLED_PC_PERIODIC) < 20)
		if (!EXPECT(samples_receive(&collected, LONG_WAIT)))
			break;
	EXPECT_EQ(task_sample_flush(SELF, inner.port, &delivered), KERN_SUCCESS);
	EXPECT_EQ(delivered, 0);
	EXPECT_EQ(task_terminate(second), KERN_SUCCESS);
	EXPECT(samples_receive_all(&inner));
	EXPECT_EQ(inner.samples, 0);
	EXPECT_EQ(task_terminate(first), KERN_SUCCESS);
	EXPECT(samples_receive_all(&collected));
	samples_forget(&inner);
	samples_forget(&collected);
	port_destroy(first);
	port_destroy(second);
	port_destroy(child);
}

/* Whoever receives the samples may end the stream, when its first task is no more. */
TEST(the_receiver_ends_it)
{
	mach_port_t first = child_of(SELF), child, plain = child_of(SELF);
	struct collected of_one = {0};
	uint64_t delivered = 0;

	samples_new(&of_one);
	begin(first);
	child = child_of(first);
	EXPECT_EQ(task_terminate(first), KERN_SUCCESS);
	port_destroy(first);
	EXPECT_EQ(task_sample_flush(SELF, collected.port, &delivered), KERN_SUCCESS);
	EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_SUCCESS);
	EXPECT(samples_receive_all(&collected));
	EXPECT_EQ(collected.end.reason, PROF_END_STOPPED);

	/* Of a task's stream the task's port is wanted, as ever. */
	EXPECT_EQ(task_sample_start(plain, SAMPLED_PC_VM_ZFILL_FAULTS, 0, (sample_options_t){0},
				    of_one.port),
		  KERN_SUCCESS);
	EXPECT_EQ(task_sample_stop(SELF, of_one.port), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_terminate(plain), KERN_SUCCESS);
	EXPECT(samples_receive_all(&of_one));
	samples_forget(&of_one);
	samples_forget(&collected);
	EXPECT_EQ(task_terminate(child), KERN_SUCCESS);
	port_destroy(child);
	port_destroy(plain);
}

/* Threads and the host have no children. */
TEST(only_tasks_have_children)
{
	mach_port_t thread = mach_thread_self();

	samples_new(&collected);
	EXPECT_EQ(thread_sample_start(thread, FLAVORS, 0, with_children, collected.port),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(host_sample_start(check_number(0), 0, FLAVORS, 0, with_children, collected.port),
		  KERN_INVALID_ARGUMENT);
	samples_forget(&collected);
	port_drop_send(thread);
}

/* Begins a stream of this task's job, without a clock. */
static kern_return_t begin_job(mach_port_t port)
{
	return task_sample_start(SELF, SAMPLED_PC_VM_ZFILL_FAULTS, 0, with_children, port);
}

/* In a child: as many jobs as it gets. */
static void take_jobs(uint32_t unused)
{
	uint32_t n = 0;

	(void)unused;
	while (begin_job(port_new()) == KERN_SUCCESS)
		n++;
	message_send_id(REPORT, MACH_MSG_TYPE_COPY_SEND, (mach_msg_id_t)n);
	for (;;)
		sleep_ms(LONG_WAIT);
}

/* A task that has its share leaves the rest to another, which gets it and no more. */
static void expect_the_rest(void)
{
	mach_port_t child = child_new(), report = port_new(), thread;
	struct message message;

	child_give(child, REPORT, report, MACH_MSG_TYPE_MAKE_SEND);
	thread = child_start(child, 0, take_jobs, 0);
	EXPECT_EQ(message_get(&message, report, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, JOBS - SHARE);
	port_drop_send(thread);
	child_end(child);
	port_destroy(report);
}

/* One task cannot have all jobs; those that end can be had again. */
TEST(how_many)
{
	mach_port_t ports[SHARE + 1];

	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t n = 0; n <= SHARE; n++) {
			ports[n] = port_new();
			EXPECT_EQ(begin_job(ports[n]),
				  n < SHARE ? KERN_SUCCESS : KERN_RESOURCE_SHORTAGE);
		}
		expect_the_rest();
		for (uint32_t n = 0; n <= SHARE; n++)
			port_destroy(ports[n]);
	}
}
