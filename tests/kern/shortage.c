/* SPDX-License-Identifier: MIT */
/*
 * No more memory: traps say so, change nothing, and work again when there is some.  With pool= the
 * pages run out, without it the kernel's room for stacks.  Memory is wired to be used: otherwise it
 * comes with the first touch, and a fault without memory has nobody to say so to.
 *
 * machine: cpus=1 append="pool=4" arguments="${host-port}"
 * machine: cpus=1 arguments="${host-port}"
 */
#include "check.h"
#include <assay.h>
#include <mach.h>

#define THREADS_MOST 20000 /* More than there is room for. */
#define WORST        63

#define SELF mach_task_self()

#define LARGE_AREA ((uint8_t *)0x10000000)
#define LARGE_SIZE 0x40000000u /* More than the machine has. */

/* A thread that ends with its first instruction, once it is its turn. */
static kern_return_t create(uint32_t *id)
{
	return assay_thread_create(assay_thread_exit, NULL, WORST, id);
}

static void map_large(void)
{
	EXPECT_EQ(assay_memory_map(LARGE_AREA, LARGE_SIZE, ASSAY_READ | ASSAY_WRITE), KERN_SUCCESS);
}

static void unmap_large(void)
{
	EXPECT_EQ(assay_memory_unmap(LARGE_AREA, LARGE_SIZE), KERN_SUCCESS);
}

static kern_return_t wire(uint8_t *address, uint32_t size)
{
	return vm_wire(check_number(0), SELF, (vm_address_t)address, size, VM_PROT_DEFAULT);
}

/* The kernel's count of wired pages, which are the machine's. */
static int wired_pages(void)
{
	vm_statistics_data_t statistics = {0};

	EXPECT_EQ(vm_statistics(SELF, &statistics), KERN_SUCCESS);
	return statistics.wire_count;
}

/* More than there is: none of it. */
static void wire_too_much(void)
{
	int wired;

	map_large();
	EXPECT_EQ(wire(LARGE_AREA, PAGE_SIZE), KERN_SUCCESS);
	wired = wired_pages();
	EXPECT_EQ(wire(LARGE_AREA, LARGE_SIZE), KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(wired_pages(), wired);
	unmap_large();
}

/* Which leaves an empty page table behind, that goes with more. */
static void wire_a_page(void)
{
	EXPECT_EQ(assay_memory_map(LARGE_AREA, PAGE_SIZE, ASSAY_READ | ASSAY_WRITE), KERN_SUCCESS);
	EXPECT_EQ(wire(LARGE_AREA, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(assay_memory_unmap(LARGE_AREA, PAGE_SIZE), KERN_SUCCESS);
}

TEST(memory_runs_out_at_once)
{
	wire_too_much();
	wire_a_page();
	balance_note();
	wire_too_much();
	wire_a_page();
}

/* Uses pages one by one until there are no more; returns how many there were. */
static uint32_t use_all_memory(void)
{
	uint8_t *next = LARGE_AREA;
	kern_return_t result;

	map_large();
	while ((result = wire(next, PAGE_SIZE)) == KERN_SUCCESS) {
		*next = 1;
		next += PAGE_SIZE;
	}
	EXPECT_EQ(result, KERN_RESOURCE_SHORTAGE);
	return (uint32_t)(next - LARGE_AREA) / PAGE_SIZE;
}

/* The first time makes what the kernel keeps. */
TEST(memory_runs_out_slowly)
{
	uint32_t first = use_all_memory(), second;

	unmap_large();
	balance_note();
	second = use_all_memory();
	unmap_large();
	EXPECT_LT(100, first);
	EXPECT_EQ(first, second);
}

/* With no page left, traps that need none go on, and threads get the stacks that are free. */
TEST(other_traps_go_on_without_memory)
{
	struct assay_cpu_info info;
	uint64_t nanos;
	uint32_t id;

	/* The stack of this one stays for the next. */
	EXPECT_EQ(create(&id), KERN_SUCCESS);
	EXPECT_EQ(assay_thread_join(id, TIMEOUT_NONE), KERN_SUCCESS);
	use_all_memory();
	unmap_large();
	balance_note(); /* With what the kernel keeps. */
	use_all_memory();
	EXPECT_EQ(create(&id), KERN_SUCCESS);
	EXPECT_EQ(assay_thread_join(id, TIMEOUT_NONE), KERN_SUCCESS);
	EXPECT_EQ(assay_cpu_info(&info), KERN_SUCCESS);
	EXPECT_EQ(assay_clock_read(ASSAY_CLOCK_MONOTONIC, &nanos), KERN_SUCCESS);
	EXPECT_EQ(thread_switch(0, SWITCH_OPTION_WAIT, 10), KERN_SUCCESS);
	EXPECT_EQ(assay_memory_protect(LARGE_AREA, PAGE_SIZE, ASSAY_READ), KERN_SUCCESS);
	unmap_large();
}

/* They do not run while this thread does: there is one CPU, and they are worse. */
static uint32_t create_until_shortage(void)
{
	uint32_t id = 0;

	for (uint32_t n = 0; n < THREADS_MOST; n++) {
		kern_return_t result = create(&id);

		if (result == KERN_RESOURCE_SHORTAGE)
			return n;
		if (result != KERN_SUCCESS)
			check_fail("thread %u: %d", n, result);
	}
	return 0;
}

/* The worst thread runs last: when it is gone, so are the others. */
static void wait_for_all(void)
{
	while (swtch_pri(0))
		continue;
}

/* Last: the stacks that all memory has become are kept for other threads. */
TEST(threads_run_out_and_come_back)
{
	uint32_t first, second, id;

	first = create_until_shortage();
	EXPECT_LT(100, first);
	EXPECT_EQ(create(&id), KERN_RESOURCE_SHORTAGE);
	wait_for_all();
	second = create_until_shortage();
	wait_for_all();
	/* What the first round took from the pages is kept for stacks. */
	EXPECT_LE(first, second);
	EXPECT_EQ(create(&id), KERN_SUCCESS);
	EXPECT_EQ(assay_thread_join(id, TIMEOUT_NONE), KERN_SUCCESS);
}
