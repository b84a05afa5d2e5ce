/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own calls, counted: what host_calls_*() answer, and loads for test_call_counts.py,
 * which knows from elsewhere how often each function was called.
 *
 * machine: cpus=1 arguments="${host-port}"
 * machine: cpus=4 arguments="${host-port}"
 */
#include <mach/calls.h>

#include "check.h"
#include "ipc.h"
#include "samples.h"

#define CALLS 1000u

static mach_port_t host(void)
{
	return check_number(0);
}

static mach_port_t everybodys_host(void)
{
	return mach_host_self();
}

struct list {
	struct host_call *calls;
	uint32_t n;
	boolean_t on;
};

static struct list list_get(int cpu)
{
	struct list list = {0};
	mach_msg_type_number_t words = 0;
	unsigned *data = NULL;

	EXPECT_EQ(host_calls_get(everybodys_host(), cpu, &list.on, &data, &words), KERN_SUCCESS);
	EXPECT_EQ(words % HOST_CALL_WORDS, 0);
	list.calls = (struct host_call *)data;
	list.n = words / HOST_CALL_WORDS;
	return list;
}

static void list_free(struct list list)
{
	if (list.n > 0)
		EXPECT_EQ(vm_deallocate(mach_task_self_cached(), (vm_address_t)list.calls,
					list.n * sizeof *list.calls),
			  KERN_SUCCESS);
}

static uint64_t list_sum(struct list list)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < list.n; i++)
		sum += list.calls[i].count[0] + ((uint64_t)list.calls[i].count[1] << 32);
	return sum;
}

static uint64_t counted(int cpu)
{
	struct list list = list_get(cpu);
	uint64_t sum = list_sum(list);

	list_free(list);
	return sum;
}

static void work(void)
{
	mach_port_type_t type;

	for (uint32_t i = 0; i < CALLS; i++)
		EXPECT_EQ(mach_port_type(mach_task_self_cached(), mach_task_self_cached(), &type),
			  KERN_SUCCESS);
}

TEST(nothing_is_counted_unasked)
{
	struct list list = list_get(HOST_CALLS_ALL_CPUS);

	EXPECT_EQ(list.on, FALSE);
	EXPECT_EQ(list.n, 0);
}

TEST(each_call_is_counted_once)
{
	uint64_t before, after;
	struct list list;

	EXPECT_EQ(host_calls_count(host(), TRUE), KERN_SUCCESS);
	EXPECT_EQ(host_calls_count(host(), TRUE), KERN_SUCCESS);
	before = counted(HOST_CALLS_ALL_CPUS);
	work();
	list = list_get(HOST_CALLS_ALL_CPUS);
	after = list_sum(list);
	EXPECT_EQ(list.on, TRUE);
	EXPECT(after - before >= CALLS);
	EXPECT_EQ(host_calls_count(host(), FALSE), KERN_SUCCESS);
	list_free(list);
	before = counted(HOST_CALLS_ALL_CPUS);
	work();
	EXPECT_EQ(counted(HOST_CALLS_ALL_CPUS), before);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	EXPECT_EQ(counted(HOST_CALLS_ALL_CPUS), 0);
}

/* How long it takes is compared with what is promised by test_call_costs.py. */
TEST(it_takes_little_time)
{
	uint64_t begun = cycles(), counting, ended;

	EXPECT_EQ(host_calls_count(host(), TRUE), KERN_SUCCESS);
	counting = cycles();
	EXPECT_EQ(host_calls_count(host(), FALSE), KERN_SUCCESS);
	ended = cycles();
	print("# on %u off %u\n", (uint32_t)(counting - begun), (uint32_t)(ended - counting));
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
}

/* ---------------- Loads whose calls are known from elsewhere ---------------- */

#define ROUNDS 20u
#define PAGES  64u

static void touch_pages(void)
{
	vm_address_t address = 0;

	EXPECT_EQ(vm_allocate(mach_task_self_cached(), &address, PAGES * PAGE_SIZE, TRUE),
		  KERN_SUCCESS);
	for (uint32_t n = 0; n < PAGES; n++)
		*(volatile uint32_t *)(address + n * PAGE_SIZE) = n;
	EXPECT_EQ(vm_deallocate(mach_task_self_cached(), address, PAGES * PAGE_SIZE), KERN_SUCCESS);
}

static void make_tasks(void)
{
	mach_port_t task;

	for (uint32_t n = 0; n < ROUNDS; n++) {
		EXPECT_EQ(task_create(mach_task_self_cached(), TRUE, &task), KERN_SUCCESS);
		EXPECT_EQ(task_terminate(task), KERN_SUCCESS);
		EXPECT_EQ(mach_port_deallocate(mach_task_self_cached(), task), KERN_SUCCESS);
	}
}

static void list_tell(struct list list)
{
	for (uint32_t i = 0; i < list.n; i++)
		print("# call %08x %08x %u\n", list.calls[i].from, list.calls[i].to,
		      list.calls[i].count[0]);
}

static void count_and_tell(void (*load)(void))
{
	struct list list;

	EXPECT_EQ(host_calls_count(host(), TRUE), KERN_SUCCESS);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	load();
	list = list_get(HOST_CALLS_ALL_CPUS);
	EXPECT_EQ(host_calls_count(host(), FALSE), KERN_SUCCESS);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	list_tell(list);
	list_free(list);
}

/* By a kernel whose file counts: test_kpatch.py. */
TEST(counted_since_the_start)
{
	struct list list = list_get(HOST_CALLS_ALL_CPUS);

	list_tell(list);
	list_free(list);
}

TEST(a_load_of_messages)
{
	count_and_tell(work);
}

TEST(a_load_of_pages)
{
	count_and_tell(touch_pages);
}

TEST(a_load_of_tasks)
{
	count_and_tell(make_tasks);
}

/* ---------------- Patched while everything runs ---------------- */

#define CALLERS    3u
#define STACK      4096u
#define FAST_HZ    10000u
#define FEW_ROUNDS 20u

static char stacks[CALLERS][STACK] __attribute__((aligned(16)));
static volatile uint32_t finished, may_end;

static void make_calls(void *unused)
{
	(void)unused;
	do
		work();
	while (!may_end);
	__atomic_add_fetch(&finished, 1, __ATOMIC_SEQ_CST);
}

static void start_callers(uint32_t end)
{
	uint32_t id;

	finished = 0;
	may_end = end;
	for (uint32_t n = 0; n < CALLERS; n++)
		if (!EXPECT_EQ(
			    thread_start(make_calls, NULL, stacks[n], STACK, PRIORITY_USUAL, &id),
			    KERN_SUCCESS))
			finished++;
}

static void await_callers(void)
{
	may_end = 1;
	while (finished < CALLERS)
		thread_switch(MACH_PORT_NULL, SWITCH_OPTION_NONE, 0);
}

/* So many calls each. */
static void work_together(void)
{
	start_callers(1);
	await_callers();
}

/* As always, or by label, whose memory is given back at once. */
static void switch_on_and_off(bool by_label)
{
	unsigned label;

	if (by_label)
		EXPECT_EQ(host_calls_for(host(), mach_task_self_cached(), &label), KERN_SUCCESS);
	EXPECT_EQ(host_calls_count(host(), TRUE), KERN_SUCCESS);
	EXPECT_EQ(host_calls_count(host(), FALSE), KERN_SUCCESS);
	if (by_label)
		EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
}

/* Calls go on, on all CPUs, and NMIs come, while they are pointed here and there. */
TEST(on_and_off_under_load)
{
	const sample_options_t options = {.flags = SAMPLE_NMI | SAMPLE_STACK, .depth = 8};
	uint32_t rounds = check_parameter("rounds", FEW_ROUNDS);
	struct collected collected;

	samples_new(&collected);
	EXPECT_EQ(
		host_sample_start(host(), 0, SAMPLED_PC_PERIODIC, FAST_HZ, options, collected.port),
		KERN_SUCCESS);
	start_callers(0);
	while (rounds-- > 0) {
		switch_on_and_off(rounds % 2 != 0);
		samples_receive(&collected, 0);
	}
	await_callers();
	count_and_tell(work_together);
	EXPECT_EQ(host_sample_stop(host(), collected.port), KERN_SUCCESS);
	samples_receive_all(&collected);
	EXPECT(collected.samples > 0);
	samples_forget(&collected);
}

TEST(wrong_calls)
{
	mach_msg_type_number_t words;
	unsigned *data;
	boolean_t on;

	EXPECT_EQ(host_calls_count(everybodys_host(), TRUE), KERN_INVALID_HOST);
	EXPECT_EQ(host_calls_reset(everybodys_host()), KERN_INVALID_HOST);
	EXPECT_EQ(host_calls_get(mach_task_self_cached(), 0, &on, &data, &words),
		  KERN_INVALID_HOST);
	EXPECT_EQ(host_calls_get(host(), -2, &on, &data, &words), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(host_calls_get(host(), 99, &on, &data, &words), KERN_INVALID_ARGUMENT);
}
