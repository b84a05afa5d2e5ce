/* SPDX-License-Identifier: MIT */
/*
 * Owners of memory: pages, wherever they are, entries of maps, tables of pages and wired pages are
 * charged to who pays, to the unit, and are given back; who is over a limit gets a shortage.
 *
 * machine: cpus=1 arguments="${host-port}"
 * machine: cpus=2 seed=1 arguments="${host-port}"
 */
#include <mach/owner.h>

#include "check.h"
#include "ipc.h"
#include "owners.h"

#define MANY 100

/* Memory of the task's, untouched. */
static vm_address_t area_in(mach_port_t task, uint32_t pages)
{
	vm_address_t area = 0;

	EXPECT_EQ(vm_allocate(task, &area, pages * PAGE_SIZE, true), KERN_SUCCESS);
	return area;
}

/* Writes a word to a page of the task's memory, as the task itself would. */
static kern_return_t touch(mach_port_t task, vm_address_t area, uint32_t page)
{
	static uint32_t word = 1;

	return vm_write(task, area + page * PAGE_SIZE + sizeof word, (vm_offset_t)&word,
			sizeof word);
}

TEST(pages_are_charged_to_the_unit)
{
	mach_port_t task = task_of(ALICE);
	vm_address_t area = area_in(task, MANY);

	EXPECT_EQ(used(ALICE, OWNER_PAGES), 0);
	for (uint32_t page = 0; page < MANY; page++)
		EXPECT_EQ(touch(task, area, page), KERN_SUCCESS);
	EXPECT_EQ(touch(task, area, 0), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_PAGES), MANY);
	EXPECT_EQ(vm_deallocate(task, area + 5 * PAGE_SIZE, 10 * PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_PAGES), MANY - 10);
	child_end(task);
	EXPECT(is_unknown(ALICE));
}

TEST(who_may_have_no_more_pages_gets_a_shortage_and_nobody_else)
{
	mach_port_t alice = task_of(ALICE), bob = task_of(BOB);
	vm_address_t area = area_in(alice, MANY), other = area_in(bob, MANY);

	EXPECT_EQ(set_limit(ALICE, OWNER_PAGES, 2), KERN_SUCCESS);
	EXPECT_EQ(touch(alice, area, 0), KERN_SUCCESS);
	EXPECT_EQ(touch(alice, area, 1), KERN_SUCCESS);
	EXPECT_EQ(touch(alice, area, 2), KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(touch(bob, other, 0), KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(alice, area, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(touch(alice, area, 2), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_PAGES), 2);
	child_end(alice);
	child_end(bob);
}

/* Others may be at their limit together when each of them is not. */
TEST(pages_that_are_left_are_the_system_s)
{
	mach_port_t alice = task_of(ALICE), bob = task_of(BOB);
	vm_address_t area = area_in(alice, 2), other = area_in(bob, 2), own = area_in(self(), 1);
	owner_uses_t uses;
	uint32_t limit;

	EXPECT(owner_uses(OWNER_OTHERS, &uses));
	limit = uses.uses[OWNER_PAGES].limit;
	EXPECT_EQ(set_limit(OWNER_OTHERS, OWNER_PAGES, 2), KERN_SUCCESS);
	EXPECT_EQ(touch(alice, area, 0), KERN_SUCCESS);
	EXPECT_EQ(touch(bob, other, 0), KERN_SUCCESS);
	EXPECT_EQ(touch(alice, area, 1), KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(touch(bob, other, 1), KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(touch(self(), own, 0), KERN_SUCCESS);
	EXPECT_EQ(set_limit(OWNER_OTHERS, OWNER_PAGES, limit), KERN_SUCCESS);
	child_end(alice);
	child_end(bob);
	EXPECT_EQ(vm_deallocate(self(), own, PAGE_SIZE), KERN_SUCCESS);
}

/*
 * What a child has from its parent is the parent's, and stays so when the parent is gone, but for
 * what the child writes to: its copies, and pages that nobody else sees any more.
 */
TEST(copies_are_paid_by_who_writes)
{
	mach_port_t alice = task_of(ALICE), bob;
	vm_address_t area = area_in(alice, 4);

	for (uint32_t page = 0; page < 4; page++)
		EXPECT_EQ(touch(alice, area, page), KERN_SUCCESS);
	EXPECT_EQ(task_create(alice, true, &bob), KERN_SUCCESS);
	EXPECT_EQ(task_set_owner(host_priv(), bob, BOB), KERN_SUCCESS);
	EXPECT_EQ(used(BOB, OWNER_PAGES), 0);
	EXPECT_EQ(touch(bob, area, 0), KERN_SUCCESS);
	EXPECT_EQ(used(BOB, OWNER_PAGES), 1);
	EXPECT_EQ(used(ALICE, OWNER_PAGES), 4);
	child_end(alice);
	EXPECT_EQ(used(ALICE, OWNER_TASKS), 0);
	EXPECT_EQ(used(ALICE, OWNER_PAGES), 4);
	EXPECT_EQ(touch(bob, area, 1), KERN_SUCCESS);
	EXPECT_EQ(used(BOB, OWNER_PAGES), 2);
	EXPECT_EQ(used(ALICE, OWNER_PAGES), 3);
	EXPECT_EQ(set_limit(BOB, OWNER_PAGES, 2), KERN_SUCCESS);
	EXPECT_EQ(touch(bob, area, 2), KERN_RESOURCE_SHORTAGE);
	child_end(bob);
	EXPECT(is_unknown(ALICE) && is_unknown(BOB));
}

/*
 * What is left of one who is gone is written to by another, and copied again: he pays for what he
 * has written, and for the rest when it becomes one with that.
 */
TEST(what_another_left_is_not_free)
{
	mach_port_t alice = task_of(ALICE), bob, child;
	vm_address_t area = area_in(alice, 4);

	for (uint32_t page = 0; page < 4; page++)
		EXPECT_EQ(touch(alice, area, page), KERN_SUCCESS);
	EXPECT_EQ(task_create(alice, true, &bob), KERN_SUCCESS);
	EXPECT_EQ(task_set_owner(host_priv(), bob, BOB), KERN_SUCCESS);
	child_end(alice);
	EXPECT_EQ(used(ALICE, OWNER_PAGES) + used(BOB, OWNER_PAGES), 4);
	EXPECT_EQ(touch(bob, area, 0), KERN_SUCCESS);
	EXPECT_LT(0, used(BOB, OWNER_PAGES));
	EXPECT_EQ(task_create(bob, true, &child), KERN_SUCCESS);
	EXPECT_EQ(used(BOB, OWNER_PAGES), 4);
	child_end(child);
	child_end(bob);
	EXPECT(is_unknown(ALICE) && is_unknown(BOB));
}

/* A program of the system's that becomes a user's takes its memory along, and may have no more. */
TEST(memory_goes_along_with_its_task)
{
	mach_port_t task = task_of(OWNER_SYSTEM);
	vm_address_t area = area_in(task, MANY);

	EXPECT_EQ(touch(task, area, 0), KERN_SUCCESS);
	EXPECT_EQ(touch(task, area, 1), KERN_SUCCESS);
	EXPECT_EQ(task_set_owner(host_priv(), task, ALICE), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_PAGES), 2);
	EXPECT_EQ(set_limit(ALICE, OWNER_PAGES, 2), KERN_SUCCESS);
	EXPECT_EQ(touch(task, area, 2), KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(task_set_owner(host_priv(), task, BOB), KERN_SUCCESS);
	EXPECT(is_unknown(ALICE));
	EXPECT_EQ(used(BOB, OWNER_PAGES), 2);
	child_end(task);
	EXPECT(is_unknown(BOB));
}

/* Pages in a message are nobody's memory, and then that of who receives them. */
TEST(memory_that_is_received_is_the_receiver_s)
{
	mach_port_t port = port_new_with_send();
	struct message message;
	static char data[2 * PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));
	uint32_t before;

	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_FAR(MACH_MSG_TYPE_INTEGER_32, 32, sizeof data / 4);
	message.body[1] = (uint32_t)data;
	EXPECT_EQ(message_post(&message, 2), MACH_MSG_SUCCESS);
	become(ALICE);
	before = used(ALICE, OWNER_PAGES);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_PAGES), before + 2);
	EXPECT_EQ(vm_deallocate(self(), message.body[1], sizeof data), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_PAGES), before);
	become(OWNER_SYSTEM);
	port_destroy(port);
	EXPECT(is_unknown(ALICE));
}

/* Each page of its own rights is an entry of its own. */
static kern_return_t riddle(mach_port_t task, vm_address_t area, uint32_t pages)
{
	kern_return_t result = KERN_SUCCESS;

	for (uint32_t page = 0; page < pages && result == KERN_SUCCESS; page += 2)
		result = vm_protect(task, area + page * PAGE_SIZE, PAGE_SIZE, false, VM_PROT_READ);
	return result;
}

TEST(entries_are_charged_by_sixteen)
{
	mach_port_t alice = task_of(ALICE), bob = task_of(BOB);
	vm_address_t area = area_in(alice, MANY), other = area_in(bob, MANY);

	EXPECT_EQ(used(ALICE, OWNER_ENTRIES), 16);
	EXPECT_EQ(set_limit(ALICE, OWNER_ENTRIES, 48), KERN_SUCCESS);
	EXPECT_EQ(riddle(alice, area, 40), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_ENTRIES), 48);
	EXPECT_EQ(riddle(alice, area + 40 * PAGE_SIZE, MANY - 40), KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(riddle(bob, other, MANY), KERN_SUCCESS);
	EXPECT_EQ(used(BOB, OWNER_ENTRIES), 112);
	child_end(alice);
	child_end(bob);
	EXPECT(is_unknown(ALICE) && is_unknown(BOB));
}

TEST(tables_and_wired_pages_are_charged_to_the_unit)
{
	enum {
		FAR = 2 << 20 /* A table is for so much. */
	};
	mach_port_t task = task_of(ALICE), host = mach_host_self();
	vm_address_t area = 0x10000000;

	EXPECT_EQ(vm_allocate(task, &area, 4 * FAR, false), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_TABLES), 0);
	for (uint32_t n = 0; n < 3; n++) {
		EXPECT_EQ(vm_wire(host, task, area + n * FAR, PAGE_SIZE, VM_PROT_READ),
			  KERN_SUCCESS);
		EXPECT_EQ(used(ALICE, OWNER_TABLES), 1 + n + 1);
		EXPECT_EQ(used(ALICE, OWNER_WIRED), n + 1);
	}
	EXPECT_EQ(set_limit(ALICE, OWNER_TABLES, 4), KERN_SUCCESS);
	EXPECT_EQ(vm_wire(host, task, area + 3 * FAR, PAGE_SIZE, VM_PROT_READ),
		  KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(set_limit(ALICE, OWNER_WIRED, 3), KERN_SUCCESS);
	EXPECT_EQ(vm_wire(host, task, area + PAGE_SIZE, PAGE_SIZE, VM_PROT_READ),
		  KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(vm_wire(host, task, area, PAGE_SIZE, VM_PROT_NONE), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_WIRED), 2);
	EXPECT_EQ(vm_wire(host, task, area + PAGE_SIZE, PAGE_SIZE, VM_PROT_READ), KERN_SUCCESS);
	child_end(task);
	EXPECT(is_unknown(ALICE));
	port_drop_send(host);
}
