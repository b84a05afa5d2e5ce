/* SPDX-License-Identifier: MIT */
/*
 * What the kernel needs no more is given back: most of it at once, all of it, to the page, when
 * memory is short.
 *
 * machine: cpus=1 append="pool=16" arguments="${host-port}"
 * machine: cpus=4 seed=1 append="pool=16" arguments="${host-port}"
 */
#include <mach.h>

#include "check.h"
#include "ipc.h"
#include "owners.h"

BALANCE_AT_END;

enum {
	TASKS = 200,
	THREADS = 300,
	PORTS = 4000,
	QUEUES = 50,      /* Ports that have a message of nearly a page queued. */
	WORDS = 900,      /* In its body. */
	TABLES = 4,       /* Page tables of one task's, */
	FAR = 2 << 20,    /* each of which is for so much. */
	TAKEN = 800,      /* Pages that a flood of all of these takes at least, */
	STACKS = 100,     /* and that are kept of its stacks at least. */
	MORE = 64 << 20,  /* More memory than there is, */
	PIECE = 64 << 10, /* of which so much is taken at a time. */
};

/* Pages that are kept at most, for those that come next: the checked kernel's stacks are larger. */
#ifdef KERNEL_SAN
#define KEPT 330
#else
#define KEPT 200
#endif

static uint32_t free_pages(void)
{
	struct vm_statistics statistics;

	EXPECT_EQ(vm_statistics(self(), &statistics), KERN_SUCCESS);
	return statistics.free_count;
}

/* Takes all memory that there is, so that the kernel looks for what it can do without. */
static void squeeze(void)
{
	kern_return_t result = KERN_SUCCESS;
	vm_address_t area = 0;

	EXPECT_EQ(vm_allocate(self(), &area, MORE, true), KERN_SUCCESS);
	for (vm_address_t at = area; at < area + MORE && result == KERN_SUCCESS; at += PIECE)
		result = vm_wire(host_priv(), self(), at, PIECE, VM_PROT_READ | VM_PROT_WRITE);
	EXPECT_EQ(result, KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(vm_deallocate(self(), area, MORE), KERN_SUCCESS);
}

/* ---------------- A flood ---------------- */

static mach_port_t tasks[TASKS], threads[THREADS];

static void queue_message(mach_port_t task)
{
	static struct message message;
	mach_port_t name, port;
	mach_msg_type_name_t type;

	EXPECT_EQ(mach_port_allocate(task, MACH_PORT_RIGHT_RECEIVE, &name), KERN_SUCCESS);
	EXPECT_EQ(mach_port_extract_right(task, name, MACH_MSG_TYPE_MAKE_SEND, &port, &type),
		  KERN_SUCCESS);
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
	EXPECT_EQ(message_post(&message, WORDS), MACH_MSG_SUCCESS);
	port_drop_send(port);
}

static void begin_flood(void)
{
	mach_port_t name;

	for (uint32_t n = 0; n < TASKS; n++)
		EXPECT_EQ(task_create(self(), false, &tasks[n]), KERN_SUCCESS);
	for (uint32_t n = 0; n < THREADS; n++)
		EXPECT_EQ(thread_create(tasks[n % TASKS], &threads[n]), KERN_SUCCESS);
	for (uint32_t n = 0; n < PORTS; n++)
		EXPECT_EQ(mach_port_allocate(tasks[0], MACH_PORT_RIGHT_RECEIVE, &name),
			  KERN_SUCCESS);
	for (uint32_t n = 0; n < QUEUES; n++)
		queue_message(tasks[0]);
}

static void end_flood(void)
{
	for (uint32_t n = 0; n < TASKS; n++)
		child_end(tasks[n]);
	for (uint32_t n = 0; n < THREADS; n++)
		port_drop_send(threads[n]);
}

TEST(most_is_back_at_once)
{
	uint32_t before = free_pages(), during;

	begin_flood();
	during = free_pages();
	EXPECT_LT(during, before - TAKEN);
	end_flood();
	EXPECT_LT(before - KEPT, free_pages());
}

/* The flood before this one has left the names that this task needs for one. */
TEST(all_is_back_when_memory_is_short)
{
	uint32_t before, kept;

	squeeze();
	before = free_pages();
	for (uint32_t turn = 0; turn < 2; turn++) {
		begin_flood();
		end_flood();
		kept = free_pages();
		squeeze();
		EXPECT_EQ(free_pages(), before);
		EXPECT_LT(kept + STACKS, before);
	}
}

/* ---------------- Page tables ---------------- */

/* Memory of the task's, of which a page is touched under each of TABLES tables. */
static vm_address_t touched_in(mach_port_t task)
{
	mach_port_t host = mach_host_self();
	vm_address_t area = 0x10000000;

	EXPECT_EQ(vm_allocate(task, &area, TABLES * FAR, false), KERN_SUCCESS);
	for (uint32_t n = 0; n < TABLES; n++) {
		EXPECT_EQ(vm_wire(host, task, area + n * FAR, PAGE_SIZE, VM_PROT_READ),
			  KERN_SUCCESS);
		EXPECT_EQ(vm_wire(host, task, area + n * FAR, PAGE_SIZE, VM_PROT_NONE),
			  KERN_SUCCESS);
	}
	port_drop_send(host);
	EXPECT_EQ(used(ALICE, OWNER_TABLES), TABLES + 1);
	return area;
}

/* The directory stays, and the tables that something else is under. */
TEST(tables_go_with_the_memory_that_they_are_for)
{
	mach_port_t task = task_of(ALICE);
	vm_address_t area = touched_in(task);

	EXPECT_EQ(vm_deallocate(task, area + PAGE_SIZE, 2 * FAR), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_TABLES), TABLES + 1 - 2);
	EXPECT_EQ(vm_deallocate(task, area, TABLES * FAR), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_TABLES), 1);
	EXPECT_EQ(touched_in(task), area);
	child_end(task);
	EXPECT(is_unknown(ALICE));
}

/* A few pages are given back without a look at what else is in their table. */
TEST(empty_tables_go_when_memory_is_short)
{
	mach_port_t task = task_of(ALICE);
	vm_address_t area = touched_in(task);

	for (uint32_t n = 1; n < TABLES; n++)
		EXPECT_EQ(vm_deallocate(task, area + n * FAR, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_TABLES), TABLES + 1);
	squeeze();
	EXPECT_LE(used(ALICE, OWNER_TABLES), 2);
	child_end(task);
	EXPECT(is_unknown(ALICE));
}
