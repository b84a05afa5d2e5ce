/* SPDX-License-Identifier: MIT */
/*
 * What the kernel queues for a pager that does not receive has an end, and so has what it keeps of
 * one message's data.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=1
 */
#include "check.h"
#include "pager.h"

/* As many of the kernel's messages as users can cause wait at a port (PAGER_QUEUED). */
#define QUEUED 1024u

/* More than that, of whatever is tried. */
#define MANY (2 * QUEUED)

static uint32_t queued(mach_port_t port)
{
	return port_status(port).mps_msgcount;
}

/* Gives back what a message for the object has brought, but for its own ports. */
static void drop_rights(mach_port_t port)
{
	if (message_get(&got, port, LONG_WAIT) != MACH_MSG_SUCCESS) {
		check_fail("no message");
		return;
	}
	if (got.head.msgh_id == DATA_REQUEST)
		port_drop_send(word(0));
	if (got.head.msgh_id == DATA_RETURN) {
		vm_deallocate(SELF, got.body[7], got.body[6]);
		port_drop_send(word(0));
	}
	if (got.head.msgh_id == INIT || got.head.msgh_id == TERMINATE) {
		port_destroy(word(0));
		port_destroy(word(1));
	}
}

static void receive_all(mach_port_t port)
{
	while (queued(port) > 0)
		drop_rights(port);
}

TEST(mappings_that_come_and_go)
{
	kern_return_t result = KERN_SUCCESS;
	vm_address_t address = 0;
	uint32_t n = 0;

	object = port_new_with_send();
	for (; n < MANY && result == KERN_SUCCESS; n++) {
		result = vm_map(SELF, &address, PAGE_SIZE, 0, TRUE, object, 0, FALSE,
				VM_PROT_DEFAULT, VM_PROT_ALL, VM_INHERIT_COPY);
		if (result == KERN_SUCCESS)
			vm_deallocate(SELF, address, PAGE_SIZE);
	}
	EXPECT_EQ(result, KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(queued(object), QUEUED);
	receive_all(object);
	memory = map(object, 0, BYTES, false);
	REQUIRE(expect(INIT));
	control = word(0);
	name = word(1);
	end();
}

TEST(pages_that_are_written_back_again_and_again)
{
	kern_return_t result = KERN_SUCCESS;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	fill(0, 1, 1);
	for (uint32_t n = 0; n < MANY && result == KERN_SUCCESS; n++) {
		*at(0) = n;
		result = vm_msync(SELF, memory, PAGE_SIZE, VM_SYNC_SYNCHRONOUS);
	}
	EXPECT_EQ(result, KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(vm_object_sync(name, 0, PAGE_SIZE, FALSE, TRUE, TRUE), KERN_RESOURCE_SHORTAGE);
	memory_object_lock_request(control, 0, PAGE_SIZE, MEMORY_OBJECT_RETURN_DIRTY, FALSE,
				   VM_PROT_NO_CHANGE, MACH_PORT_NULL);
	EXPECT_EQ(queued(object), QUEUED);
	receive_all(object);
	EXPECT_EQ(vm_msync(SELF, memory, PAGE_SIZE, VM_SYNC_SYNCHRONOUS), KERN_SUCCESS);
	expect_return(0, 1, QUEUED, true, true);
	end();
}

/* memory_object_change_attributes() with a send right to answer by: MIG makes it a send-once right,
 * which is good for one message. */
static void change_attributes(mach_port_t reply)
{
	struct message message;

	message_head(&message, control, MACH_MSG_TYPE_COPY_SEND, 0, 0, 2095);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_BOOLEAN, 32, 1);
	message.body[1] = FALSE;
	message.body[2] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1);
	message.body[3] = MEMORY_OBJECT_COPY_TEMPORARY;
	message.body[4] = TYPE_INLINE(MACH_MSG_TYPE_COPY_SEND, 32, 1);
	message.body[5] = reply;
	EXPECT_EQ(message_post(&message, 6), MACH_MSG_SUCCESS);
}

/* The pager's calls are done, whether they can be answered or not. */
TEST(answers_that_nobody_receives)
{
	mach_port_t reply = port_new_with_send();
	boolean_t ready, may_cache;
	int strategy;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	for (uint32_t n = 0; n < MANY; n++)
		change_attributes(reply);
	EXPECT_EQ(queued(reply), QUEUED);
	memory_object_change_attributes(control, FALSE, MEMORY_OBJECT_COPY_DELAY, MACH_PORT_NULL);
	change_attributes(reply);
	EXPECT_EQ(memory_object_get_attributes(control, &ready, &may_cache, &strategy),
		  KERN_SUCCESS);
	EXPECT_EQ(strategy, MEMORY_OBJECT_COPY_TEMPORARY);
	port_destroy(reply);
	end();
}

static volatile uint32_t tries; /* Touches that have failed, each of which has sent a request. */

static void try_again_and_again(void *argument)
{
	(void)argument;
	for (tries = 0; tries < MANY; tries++) {
		mach_msg_type_number_t size;
		vm_offset_t copy;

		if (vm_read(SELF, memory, PAGE_SIZE, &copy, &size) != KERN_MEMORY_ERROR)
			return;
	}
}

/* Answers whoever waits, until nobody asks any more. */
static void refuse_until_quiet(void)
{
	uint32_t before;

	do {
		before = tries;
		for (uint32_t n = 0; n < 100; n++) {
			memory_object_data_error(control, 0, PAGE_SIZE, KERN_FAILURE);
			thread_switch(MACH_PORT_NULL, SWITCH_OPTION_DEPRESS, 1);
		}
	} while (tries != before && !check_failed());
}

/* Who touches memory waits until the pager has received. */
TEST(requests_that_nobody_receives)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	worker_start(0, try_again_and_again, NULL);
	refuse_until_quiet();
	EXPECT_EQ(tries, QUEUED);
	EXPECT_EQ(queued(object), QUEUED);
	drop_rights(object);
	refuse_until_quiet();
	EXPECT_EQ(tries, QUEUED + 1);
	EXPECT_EQ(thread_abort(worker_port(0)), KERN_SUCCESS);
	EXPECT(worker_join(0));
	receive_all(object);
	end();
}

#define SUPPLIED 32u /* Pages, so many that a message does not copy them. */

static vm_address_t data;

static void supply_data(void *argument)
{
	(void)argument;
	memory_object_data_supply(control, 0, data, SUPPLIED * PAGE_SIZE, FALSE, VM_PROT_NONE,
				  FALSE, MACH_PORT_NULL);
}

/* Memory whose last page is another pager's, which is ready and has not been asked yet. */
static mach_port_t make_data(mach_port_t *other)
{
	vm_address_t last;
	mach_port_t its_control;

	*other = port_new_with_send();
	EXPECT_EQ(vm_allocate(SELF, &data, SUPPLIED * PAGE_SIZE, TRUE), KERN_SUCCESS);
	last = data + (SUPPLIED - 1) * PAGE_SIZE;
	*(uint32_t *)data = 42;
	vm_deallocate(SELF, last, PAGE_SIZE);
	EXPECT_EQ(vm_map(SELF, &last, PAGE_SIZE, 0, FALSE, *other, 0, FALSE, VM_PROT_DEFAULT,
			 VM_PROT_ALL, VM_INHERIT_COPY),
		  KERN_SUCCESS);
	expect_at(*other, INIT);
	its_control = word(0);
	port_destroy(word(1));
	memory_object_ready(its_control, FALSE, MEMORY_OBJECT_COPY_DELAY);
	return its_control;
}

/* The kernel does not keep pages in its hand until one comes that is behind them. */
TEST(data_that_waits_for_another_pager)
{
	mach_port_t other, its_control = make_data(&other);
	vm_address_t all;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	all = map(object, 0, SUPPLIED * PAGE_SIZE, false);
	worker_start(0, supply_data, NULL);
	REQUIRE(expect_at(other, DATA_REQUEST));
	start_touch(1, memory, false, 0);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(touched[1].done, 1);
	EXPECT_EQ(touched[1].value, 42);
	EXPECT(message_none(object));
	memory_object_data_error(its_control, 0, PAGE_SIZE, KERN_FAILURE);
	EXPECT(worker_join(0));
	EXPECT_EQ(end_touch(1), KERN_SUCCESS);
	vm_deallocate(SELF, data, SUPPLIED * PAGE_SIZE);
	port_destroy(its_control);
	port_destroy(other);
	vm_deallocate(SELF, all, SUPPLIED * PAGE_SIZE);
	end();
}
