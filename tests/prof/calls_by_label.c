/* SPDX-License-Identifier: MIT */
/*
 * The kernel's calls by label: what host_calls_for() and host_calls_get_for() answer, and loads for
 * test_call_labels.py, which knows from elsewhere for whom each function was called.
 *
 * machine: cpus=1 arguments="${host-port}"
 * machine: cpus=4 arguments="${host-port}"
 */
#include <mach/calls.h>

#include "check.h"
#include "ipc.h"
#include "samples.h"

#define CALLS 1000u
#define MANY  100u

static mach_port_t host(void)
{
	return check_number(0);
}

static void work(void)
{
	mach_port_type_t type;

	for (uint32_t i = 0; i < CALLS; i++)
		EXPECT_EQ(mach_port_type(mach_task_self_cached(), mach_task_self_cached(), &type),
			  KERN_SUCCESS);
}

struct list {
	struct host_call *calls;
	uint32_t n;
};

static struct list list_from(unsigned *words, mach_msg_type_number_t n)
{
	return (struct list){(struct host_call *)words, n / HOST_CALL_WORDS};
}

static struct list list_of(unsigned label)
{
	mach_msg_type_number_t n = 0;
	unsigned *words = NULL;

	EXPECT_EQ(host_calls_get_for(host(), label, &words, &n), KERN_SUCCESS);
	return list_from(words, n);
}

static struct list list_of_all(void)
{
	mach_msg_type_number_t n = 0;
	unsigned *words = NULL;
	boolean_t on;

	EXPECT_EQ(host_calls_get(host(), HOST_CALLS_ALL_CPUS, &on, &words, &n), KERN_SUCCESS);
	return list_from(words, n);
}

static void list_free(struct list list)
{
	if (list.n > 0)
		EXPECT_EQ(vm_deallocate(mach_task_self_cached(), (vm_address_t)list.calls,
					list.n * sizeof *list.calls),
			  KERN_SUCCESS);
}

static uint64_t call_count(const struct host_call *call)
{
	return call->count[0] + ((uint64_t)call->count[1] << 32);
}

static uint64_t list_sum(struct list list)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < list.n; i++)
		sum += call_count(&list.calls[i]);
	list_free(list);
	return sum;
}

static unsigned count_for(mach_port_t task)
{
	unsigned label = 0;

	EXPECT_EQ(host_calls_for(host(), task, &label), KERN_SUCCESS);
	return label;
}

/* Each call was made for somebody, and for one only. */
TEST(labels_add_up)
{
	unsigned label = count_for(mach_task_self_cached());
	uint64_t mine, systems, others;

	EXPECT_EQ(host_calls_count(host(), TRUE), KERN_SUCCESS);
	work();
	EXPECT_EQ(host_calls_count(host(), FALSE), KERN_SUCCESS);
	mine = list_sum(list_of(label));
	systems = list_sum(list_of(HOST_CALLS_SYSTEM));
	others = list_sum(list_of(HOST_CALLS_OTHERS));
	print("# mine %u system %u others %u\n", (uint32_t)mine, (uint32_t)systems,
	      (uint32_t)others);
	EXPECT(mine >= CALLS);
	EXPECT_EQ(list_sum(list_of_all()), mine + systems + others);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
}

/* ---------------- A load whose calls are known from elsewhere ---------------- */

static void print_calls(unsigned label)
{
	struct list list = list_of(label);

	for (uint32_t i = 0; i < list.n; i++)
		print("# for %08x call %08x %08x %u\n", label, list.calls[i].from, list.calls[i].to,
		      list.calls[i].count[0]);
	list_free(list);
}

TEST(a_load_for_one)
{
	unsigned label = count_for(mach_task_self_cached());

	EXPECT_EQ(host_calls_count(host(), TRUE), KERN_SUCCESS);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	for (unsigned i = 0; i < MANY; i++) /* Several ticks come meanwhile. */
		work();
	print_calls(label);
	print_calls(HOST_CALLS_SYSTEM);
	print_calls(HOST_CALLS_OTHERS);
	EXPECT_EQ(host_calls_count(host(), FALSE), KERN_SUCCESS);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
}

/* Whose counts are asked for has none afterwards, and the total is there before. */
TEST(labels_are_forgotten_by_a_reset)
{
	unsigned label = count_for(mach_task_self_cached());
	mach_msg_type_number_t n;
	unsigned *words;

	EXPECT_EQ(count_for(mach_task_self_cached()), label);
	EXPECT_EQ(list_sum(list_of(label)), 0);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	EXPECT_EQ(host_calls_get_for(host(), label, &words, &n), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(host_calls_get_for(host(), HOST_CALLS_OTHERS, &words, &n), KERN_INVALID_ARGUMENT);
}

/* Who begins to be told apart while calls are counted has counts from then on. */
TEST(a_label_may_come_later)
{
	unsigned label;
	uint64_t mine;

	EXPECT_EQ(host_calls_count(host(), TRUE), KERN_SUCCESS);
	work();
	label = count_for(mach_task_self_cached());
	work();
	mine = list_sum(list_of(label));
	EXPECT(mine >= CALLS);
	EXPECT(list_sum(list_of(HOST_CALLS_OTHERS)) >= CALLS);
	EXPECT_EQ(host_calls_count(host(), FALSE), KERN_SUCCESS);
	EXPECT(list_sum(list_of(label)) >= mine);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
}

/* As many as there may be; one more is refused, and harms none of them. */
TEST(there_is_an_end_of_labels)
{
	mach_port_t tasks[HOST_CALLS_LABELS];
	unsigned label = 0, labels[HOST_CALLS_LABELS], n = 0;

	for (unsigned i = 0; i < HOST_CALLS_LABELS; i++)
		EXPECT_EQ(task_create(mach_task_self_cached(), FALSE, &tasks[i]), KERN_SUCCESS);
	EXPECT_EQ(host_calls_count(host(), TRUE), KERN_SUCCESS);
	while (n < HOST_CALLS_LABELS &&
	       host_calls_for(host(), tasks[n], &labels[n]) == KERN_SUCCESS)
		n++;
	/* The system's is one of them.  The checked kernel runs out of memory first. */
	EXPECT(n > HOST_CALLS_LABELS / 2 && n < HOST_CALLS_LABELS);
	EXPECT_EQ(host_calls_for(host(), tasks[n], &label), KERN_RESOURCE_SHORTAGE);
	for (unsigned i = 0; i < HOST_CALLS_LABELS; i++) {
		EXPECT_EQ(task_terminate(tasks[i]), KERN_SUCCESS);
		EXPECT_EQ(mach_port_deallocate(mach_task_self_cached(), tasks[i]), KERN_SUCCESS);
	}
	work();
	EXPECT(list_sum(list_of(HOST_CALLS_OTHERS)) >= CALLS);
	EXPECT_EQ(list_sum(list_of(labels[0])), 0); /* It never ran. */
	EXPECT_EQ(host_calls_count(host(), FALSE), KERN_SUCCESS);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
}

TEST(wrong_calls)
{
	mach_msg_type_number_t n;
	unsigned label, *words;

	EXPECT_EQ(host_calls_for(mach_host_self(), mach_task_self_cached(), &label),
		  KERN_INVALID_HOST);
	EXPECT_EQ(host_calls_for(host(), mach_host_self(), &label), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(host_calls_get_for(mach_host_self(), HOST_CALLS_SYSTEM, &words, &n),
		  KERN_INVALID_HOST);
	EXPECT_EQ(host_calls_get_for(host(), HOST_CALLS_SYSTEM, &words, &n), KERN_INVALID_ARGUMENT);
}
