/* SPDX-License-Identifier: MIT */
/*
 * The end of a run waits for tasks that have been ended and whose threads are still on their way
 * out of the kernel: what they have is counted neither as lost nor forgotten.  The proof is the
 * balance of the whole run.
 *
 * machine: cpus=2 seed=1
 * machine: cpus=2 seed=2
 * machine: cpus=2 seed=3
 */
#include "check.h"
#include "ipc.h"

BALANCE_AT_END;

#define MUCH (8u * 1024 * 1024)

static volatile uint32_t *begun; /* Shared with the child. */

/* Most of the time it is giving back pages, in one call of the kernel. */
static void give_back_much(uint32_t unused)
{
	(void)unused;
	for (;;) {
		vm_address_t address = 0;

		vm_allocate(mach_task_self(), &address, MUCH, TRUE);
		for (vm_address_t at = 0; at < MUCH; at += PAGE_SIZE)
			*(volatile uint32_t *)(address + at) = 1;
		*begun = 1;
		vm_deallocate(mach_task_self(), address, MUCH);
	}
}

/* Meanwhile its task ends by itself, for which nobody waits. */
static void end_then(uint32_t unused)
{
	(void)unused;
	while (*begun == 0)
		swtch_pri(0);
	task_terminate(mach_task_self());
}

/* The last thing that happens here is that the child's port is dead: its thread is not gone yet. */
TEST(the_run_ends_after_a_task_that_is_ending)
{
	vm_address_t shared = 0;
	mach_port_t child;

	EXPECT_EQ(vm_allocate(mach_task_self(), &shared, PAGE_SIZE, TRUE), KERN_SUCCESS);
	EXPECT_EQ(vm_inherit(mach_task_self(), shared, PAGE_SIZE, VM_INHERIT_SHARE), KERN_SUCCESS);
	begun = (volatile uint32_t *)shared;
	child = child_new();
	child_start(child, 0, give_back_much, 0);
	child_start(child, 1, end_then, 0);
	while (port_type(child) != MACH_PORT_TYPE_DEAD_NAME)
		swtch_pri(0);
}
