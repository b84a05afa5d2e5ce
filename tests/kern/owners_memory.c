/* SPDX-License-Identifier: MIT */
/*
 * Owners of memory: pages, wherever they are, entries of maps, tables of pages and wired pages are
 * charged to who pays, to the unit, and are given back; who is over a limit gets a shortage.
 *
 * machine: cpus=1 arguments="${host-port}"
 * machine: cpus=2 seed=1 arguments="${host-port}"
 */
#include <mach/messages.h>
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

/* ---------------- At the limit by a touch ---------------- */

enum {
	LIMIT = 20,    /* Some pages are the thread's stack and what it reads and writes besides. */
	TOUCHED = 40,  /* Pages. */
	GIVEN_BACK = 3 /* Of these, one by one. */
};

/* exception_raise(), as it is received. */
struct raised {
	mach_msg_header_t head;
	uint32_t thread_type, thread;
	uint32_t task_type, task;
	uint32_t exception_type, exception;
	uint32_t code_type, code;
	uint32_t subcode_type, subcode;
	uint32_t room[16];
};

/* In a child: stores to one page after the other, and ends in another exception. */
static void touch_in_turn(uint32_t area)
{
	for (uint32_t page = 0; page < TOUCHED; page++)
		*(volatile uint32_t *)(area + page * PAGE_SIZE) = page;
	__asm__ volatile("ud2");
}

static void set_handler(mach_port_t task, mach_port_t handler)
{
	EXPECT_EQ(mach_port_insert_right(self(), handler, handler, MACH_MSG_TYPE_MAKE_SEND),
		  KERN_SUCCESS);
	EXPECT_EQ(task_set_special_port(task, TASK_EXCEPTION_PORT, handler), KERN_SUCCESS);
	port_drop_send(handler);
}

/* What the thread that touches did; it waits until go_on(). */
static void expect_raised(struct raised *raised, mach_port_t handler, mach_port_t thread,
			  uint32_t exception)
{
	EXPECT_EQ(mach_msg(&raised->head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof *raised,
			   handler, LONG_WAIT, MACH_PORT_NULL),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(raised->head.msgh_id, ID_EXCEPTION_RAISE);
	EXPECT_EQ(raised->thread, thread);
	EXPECT_EQ(raised->exception, exception);
	port_drop_send(raised->thread);
	port_drop_send(raised->task);
}

static void go_on(const struct raised *raised)
{
	struct message reply;

	message_head(&reply, raised->head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE, 0, 0,
		     ID_EXCEPTION_RAISE_REPLY);
	reply.body[0] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1);
	reply.body[1] = KERN_SUCCESS;
	EXPECT_EQ(message_post(&reply, 2), MACH_MSG_SUCCESS);
}

TEST(who_touches_at_the_limit_gets_an_exception_and_goes_on_when_there_is_room)
{
	mach_port_t handler = port_new(), child = child_new(), thread;
	vm_address_t area = area_in(child, TOUCHED), at = 0;
	struct raised raised;

	EXPECT_EQ(task_set_owner(host_priv(), child, ALICE), KERN_SUCCESS);
	EXPECT_EQ(set_limit(ALICE, OWNER_PAGES, LIMIT), KERN_SUCCESS);
	set_handler(child, handler);
	thread = child_start(child, 0, touch_in_turn, area);
	for (uint32_t page = 0; page < GIVEN_BACK; page++) {
		expect_raised(&raised, handler, thread, EXC_BAD_ACCESS);
		EXPECT_EQ(raised.code, KERN_RESOURCE_SHORTAGE);
		if (page == 0)
			EXPECT(raised.subcode - area < TOUCHED * PAGE_SIZE);
		else
			EXPECT_EQ(raised.subcode, at + PAGE_SIZE);
		at = raised.subcode;
		EXPECT_EQ(used(ALICE, OWNER_PAGES), LIMIT);
		EXPECT_EQ(vm_deallocate(child, area + page * PAGE_SIZE, PAGE_SIZE), KERN_SUCCESS);
		go_on(&raised);
	}
	expect_raised(&raised, handler, thread, EXC_BAD_ACCESS);
	EXPECT_EQ(set_limit(ALICE, OWNER_PAGES, LIMIT + TOUCHED), KERN_SUCCESS);
	go_on(&raised);
	expect_raised(&raised, handler, thread, EXC_BAD_INSTRUCTION);
	EXPECT_EQ(word_in(child, area + (TOUCHED - 1) * PAGE_SIZE), TOUCHED - 1);
	port_destroy(raised.head.msgh_remote_port);
	port_drop_send(thread);
	child_end(child);
	port_destroy(handler);
	EXPECT(is_unknown(ALICE));
}

/* ---------------- Together ---------------- */

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
