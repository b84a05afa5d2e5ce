/* SPDX-License-Identifier: MIT */
/*
 * Faults: constructed programs have exactly as many of each kind as they make, in the counts of
 * their task and of the host; and what becomes of a touch when there is no memory.
 *
 * machine: cpus=1 append="pool=8" arguments="${host-port}"
 * machine: cpus=2 append="pool=8" arguments="${host-port}" seed=1
 */
#include "block.h"
#include "check.h"

#include <mach/messages.h>
#include "ipc.h"

#define SELF mach_task_self()
#define MANY 32u

static vm_address_t memory; /* Of the test that runs. */

static volatile uint32_t *word(uint32_t page)
{
	return (volatile uint32_t *)(memory + page * PAGE_SIZE);
}

static void memory_new(uint32_t pages)
{
	memory = 0;
	EXPECT_EQ(vm_allocate(SELF, &memory, pages * PAGE_SIZE, TRUE), KERN_SUCCESS);
}

static void memory_free(uint32_t pages)
{
	EXPECT_EQ(vm_deallocate(SELF, memory, pages * PAGE_SIZE), KERN_SUCCESS);
}

/* ---------------- Counts ---------------- */

struct counts {
	uint32_t zfill, cow, pagein, reactivation, any;
};

static struct counts counts_of_task(void)
{
	static struct task_events_info info;
	mach_msg_type_number_t n = TASK_EVENTS_INFO_COUNT;

	EXPECT_EQ(task_info(SELF, TASK_EVENTS_INFO, (task_info_t)&info, &n), KERN_SUCCESS);
	return (struct counts){
		.zfill = (uint32_t)info.zero_fills,
		.cow = (uint32_t)info.cow_faults,
		.pagein = (uint32_t)info.pageins,
		.reactivation = (uint32_t)info.reactivations,
		.any = (uint32_t)info.faults,
	};
}

static struct counts counts_of_host(void)
{
	static struct vm_statistics statistics;

	EXPECT_EQ(vm_statistics(SELF, &statistics), KERN_SUCCESS);
	return (struct counts){
		.zfill = (uint32_t)statistics.zero_fill_count,
		.cow = (uint32_t)statistics.cow_faults,
		.pagein = (uint32_t)statistics.pageins,
		.reactivation = (uint32_t)statistics.reactivations,
		.any = (uint32_t)statistics.faults,
	};
}

static struct counts task_before, host_before;

/* Begins to count; the first look makes all that looking touches be there, with room below it. */
static void count(void)
{
	volatile char room[1024];

	room[0] = 0;
	(void)room[0];
	for (unsigned look = 0; look < 2; look++) {
		host_before = counts_of_host();
		task_before = counts_of_task();
	}
}

/* Since count() there have been so many of each kind, all of them this task's. */
static void expect_counts(uint32_t any, uint32_t zfill, uint32_t cow)
{
	struct counts task = counts_of_task();
	struct counts host = counts_of_host();

	EXPECT_EQ(task.any - task_before.any, any);
	EXPECT_EQ(task.zfill - task_before.zfill, zfill);
	EXPECT_EQ(task.cow - task_before.cow, cow);
	EXPECT_EQ(task.pagein - task_before.pagein, 0);
	EXPECT_EQ(task.reactivation - task_before.reactivation, 0);
	EXPECT_EQ(host.any - host_before.any, any);
	EXPECT_EQ(host.zfill - host_before.zfill, zfill);
	EXPECT_EQ(host.cow - host_before.cow, cow);
}

static void write_all(uint32_t value)
{
	for (uint32_t n = 0; n < MANY; n++)
		*word(n) = value + n;
}

static uint32_t right_words(uint32_t value)
{
	uint32_t right = 0;

	for (uint32_t n = 0; n < MANY; n++)
		right += *word(n) == value + n;
	return right;
}

/* ---------------- Kinds ---------------- */

TEST(zero_fills)
{
	memory_new(2 * MANY);
	count();
	write_all(1);
	expect_counts(MANY, MANY, 0);
	write_all(2);
	expect_counts(MANY, MANY, 0);
	memory_free(2 * MANY);
}

/* Who has read a fresh page may write to it without another fault. */
TEST(reading_first)
{
	uint32_t sum = 0;

	memory_new(MANY);
	count();
	for (uint32_t n = 0; n < MANY; n++)
		sum += *word(n);
	write_all(1);
	expect_counts(MANY, MANY, 0);
	EXPECT_EQ(sum, 0);
	memory_free(MANY);
}

/* The kernel's touches are counted as the program's own would be. */
TEST(the_kernel_touches)
{
	memory_new(MANY);
	count();
	for (uint32_t n = 0; n < MANY; n++)
		EXPECT_EQ(assay_clock_read(ASSAY_CLOCK_TSC_HZ, (uint64_t *)word(n)), KERN_SUCCESS);
	expect_counts(MANY, MANY, 0);
	memory_free(MANY);
}

TEST(rights_that_are_raised)
{
	memory_new(MANY);
	write_all(1);
	EXPECT_EQ(vm_protect(SELF, memory, MANY * PAGE_SIZE, FALSE, VM_PROT_READ), KERN_SUCCESS);
	EXPECT_EQ(vm_protect(SELF, memory, MANY * PAGE_SIZE, FALSE, VM_PROT_DEFAULT), KERN_SUCCESS);
	count();
	EXPECT_EQ(right_words(1), MANY);
	expect_counts(0, 0, 0);
	write_all(2);
	expect_counts(MANY, 0, 0);
	memory_free(MANY);
}

TEST(copies)
{
	mach_port_t child;

	memory_new(MANY);
	write_all(1);
	child = child_new();
	count();
	EXPECT_EQ(right_words(1), MANY);
	expect_counts(0, 0, 0);
	write_all(2);
	expect_counts(MANY, 0, MANY);
	child_end(child);
	memory_free(MANY);
}

/* Pages that nobody else has any more are not copied. */
TEST(pages_that_nobody_else_has)
{
	mach_port_t child;

	memory_new(MANY);
	write_all(1);
	child = child_new();
	*word(0) = 1;
	child_end(child);
	count();
	write_all(2);
	expect_counts(MANY - 1, 0, 0);
	EXPECT_EQ(right_words(2), MANY);
	memory_free(MANY);
}

/* ---------------- Wiring ---------------- */

TEST(wired_pages)
{
	static rpc_phys_addr_t places[MANY], after[MANY];
	rpc_phys_addr_array_t list = places;
	mach_port_t host = check_number(0);
	mach_msg_type_number_t n = MANY;
	mach_port_t child;

	memory_new(MANY);
	memset(places, 1, sizeof places);
	EXPECT_EQ(vm_pages_phys(host, SELF, memory, MANY * PAGE_SIZE, &list, &n), KERN_SUCCESS);
	EXPECT_EQ(places[0], ~0ull);
	EXPECT_EQ(vm_wire(host, SELF, memory, MANY * PAGE_SIZE, VM_PROT_DEFAULT), KERN_SUCCESS);
	EXPECT_EQ(vm_pages_phys(host, SELF, memory, MANY * PAGE_SIZE, &list, &n), KERN_SUCCESS);
	count();
	write_all(1);
	expect_counts(0, 0, 0);
	child = child_new();
	write_all(2);
	list = after;
	EXPECT_EQ(vm_pages_phys(host, SELF, memory, MANY * PAGE_SIZE, &list, &n), KERN_SUCCESS);
	for (uint32_t i = 0; i < MANY; i++)
		EXPECT_EQ(after[i], places[i]);
	child_end(child);
	EXPECT_EQ(vm_wire(host, SELF, memory, PAGE_SIZE, VM_PROT_NONE), KERN_SUCCESS);
	EXPECT_EQ(right_words(2), MANY);
	memory_free(MANY);
}

/* ---------------- No memory ---------------- */

#define HOARD (64u * 1024 * 1024) /* More than there is. */

struct exception_message {
	mach_msg_header_t head;
	uint32_t thread_type, thread;
	uint32_t task_type, task;
	uint32_t exception_type, exception;
	uint32_t code_type, code;
	uint32_t subcode_type, subcode;
	uint32_t room[16];
};

static void hoard(uint32_t start)
{
	for (uint32_t at = start; at < start + HOARD; at += PAGE_SIZE)
		*(volatile uint32_t *)at = at;
	for (;;)
		use_cpu();
}

/* A task that wants more than there is has an exception, and nobody else notices. */
TEST(more_than_there_is)
{
	mach_port_t handler = port_new_with_send(), child = child_new(), thread;
	struct exception_message message;
	vm_address_t start = 0;

	memory_new(MANY);
	write_all(1);
	EXPECT_EQ(vm_allocate(child, &start, HOARD, TRUE), KERN_SUCCESS);
	EXPECT_EQ(task_set_special_port(child, TASK_EXCEPTION_PORT, handler), KERN_SUCCESS);
	thread = child_start(child, 0, hoard, start);
	EXPECT_EQ(mach_msg(&message.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof message,
			   handler, 4 * LONG_WAIT, 0),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, ID_EXCEPTION_RAISE);
	EXPECT_EQ(message.code, KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(right_words(1), MANY);
	port_drop_send(message.thread);
	port_drop_send(message.task);
	child_end(child);
	port_destroy(message.head.msgh_remote_port);
	port_destroy(thread);
	port_destroy(handler);
	write_all(2);
	EXPECT_EQ(right_words(2), MANY);
	memory_free(MANY);
}
