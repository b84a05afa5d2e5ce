/* SPDX-License-Identifier: MIT */
/*
 * Memory objects: pages that come, in any order and not at all, and pages that go.
 *
 * machine: cpus=1 arguments="${host-port}"
 * machine: cpus=2 arguments="${host-port}" seed=1
 */
#include "check.h"
#include "pager.h"

/* ---------------- Coming ---------------- */

TEST(requests_are_answered)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	start_touch(0, memory + 3 * PAGE_SIZE, false, 0);
	REQUIRE(expect(DATA_REQUEST));
	EXPECT_EQ(word(0), control);
	EXPECT_EQ(word(1), 3 * PAGE_SIZE);
	EXPECT_EQ(word(2), PAGE_SIZE);
	EXPECT_EQ(touched[0].done, 0);
	fill(3, 1, 42);
	EXPECT_EQ(end_touch(0), KERN_SUCCESS);
	EXPECT_EQ(touched[0].value, 42);
	EXPECT_EQ(*at(3), 42);
	EXPECT(message_none(object));
	end();
}

TEST(nothing_is_asked_before_it_is_ready)
{
	REQUIRE(begin_not_ready());
	start_touch(0, memory, false, 0);
	sleep_ms(SHORT_WAIT);
	EXPECT(message_none(object));
	EXPECT_EQ(touched[0].done, 0);
	EXPECT_EQ(memory_object_ready(control, FALSE, 77), KERN_SUCCESS);
	sleep_ms(SHORT_WAIT);
	EXPECT(message_none(object));
	EXPECT_EQ(memory_object_ready(control, FALSE, MEMORY_OBJECT_COPY_NONE), KERN_SUCCESS);
	REQUIRE(expect(DATA_REQUEST));
	fill(0, 1, 7);
	EXPECT_EQ(end_touch(0), KERN_SUCCESS);
	end();
}

TEST(one_request_for_all_who_wait)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	for (uint32_t n = 0; n < 4; n++)
		start_touch(n, memory + PAGE_SIZE + 4 * n, false, 0);
	REQUIRE(expect(DATA_REQUEST));
	sleep_ms(SHORT_WAIT);
	EXPECT(message_none(object));
	fill(1, 1, 9);
	for (uint32_t n = 0; n < 4; n++)
		EXPECT_EQ(end_touch(n), KERN_SUCCESS);
	end();
}

TEST(no_data_is_zeroes)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	start_touch(0, memory, false, 1);
	REQUIRE(expect(DATA_REQUEST));
	EXPECT_EQ(memory_object_data_unavailable(control, 0, 0xfffff000), KERN_SUCCESS);
	EXPECT_EQ(end_touch(0), KERN_SUCCESS);
	EXPECT_EQ(touched[0].value, 0);
	end();
}

TEST(an_error_is_told_once)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	start_touch(0, memory, false, 0);
	REQUIRE(expect(DATA_REQUEST));
	EXPECT_EQ(memory_object_data_error(control, 0, BYTES, KERN_FAILURE), KERN_SUCCESS);
	EXPECT_EQ(end_touch(0), KERN_MEMORY_ERROR);
	start_touch(0, memory, false, 0);
	REQUIRE(expect(DATA_REQUEST));
	fill(0, 1, 5);
	EXPECT_EQ(end_touch(0), KERN_SUCCESS);
	end();
}

TEST(pages_that_are_there_stay)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	supply(2, 1, 10, VM_PROT_NONE, false, object);
	REQUIRE(expect(SUPPLY_COMPLETED));
	EXPECT_EQ(word(1), 2 * PAGE_SIZE);
	EXPECT_EQ(word(2), PAGE_SIZE);
	EXPECT_EQ(word(3), KERN_SUCCESS);
	supply(0, 4, 20, VM_PROT_NONE, false, object);
	REQUIRE(expect(SUPPLY_COMPLETED));
	EXPECT_EQ(word(3), KERN_MEMORY_PRESENT);
	EXPECT_EQ(word(4), 2 * PAGE_SIZE);
	EXPECT_EQ(*at(0), 20);
	EXPECT_EQ(*at(2), 10);
	EXPECT_EQ(*at(3), 23);
	EXPECT_EQ(memory_object_data_error(control, 0, BYTES, 0), KERN_SUCCESS);
	EXPECT_EQ(memory_object_data_unavailable(control, 0, BYTES), KERN_SUCCESS);
	EXPECT_EQ(*at(3), 23);
	end();
}

TEST(what_lies_beyond_is_dropped)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	supply(PAGES - 1, 12, 30, VM_PROT_NONE, false, object);
	REQUIRE(expect(SUPPLY_COMPLETED));
	EXPECT_EQ(word(3), KERN_SUCCESS);
	supply(0xfffff, 2, 30, VM_PROT_NONE, false, object);
	REQUIRE(expect(SUPPLY_COMPLETED));
	EXPECT_EQ(*at(PAGES - 1), 30);
	end();
}

TEST(the_end_of_data_is_followed_by_zeroes)
{
	static const uint32_t data[3] = {1, 2, 3};

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	EXPECT_EQ(memory_object_data_supply(control, 0, 0, 0, FALSE, 0, FALSE, object),
		  KERN_SUCCESS);
	REQUIRE(expect(SUPPLY_COMPLETED));
	EXPECT_EQ(word(3), KERN_SUCCESS);
	memory_object_data_supply(control, 0, (vm_offset_t)data, sizeof data, FALSE, 0, FALSE,
				  MACH_PORT_NULL);
	if ((vm_offset_t)data % PAGE_SIZE != 0) {
		start_touch(0, memory, false, 0);
		REQUIRE(expect(DATA_REQUEST));
		fill(0, 1, 1);
		EXPECT_EQ(end_touch(0), KERN_SUCCESS);
	}
	EXPECT_EQ(*at(0), 1);
	end();
}

/* ---------------- Going ---------------- */

TEST(what_was_written_comes_back)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	fill(0, PAGES, 100);
	*at(1) = 1;
	*at(2) = 2;
	*at(5) = 5;
	EXPECT_EQ(*at(7), 107);
	unmap();
	expect_return(1, 2, 1, true, false);
	expect_return(5, 1, 5, true, false);
	end_terminated();
}

TEST(precious_pages_come_back_clean)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	supply(0, 2, 100, VM_PROT_NONE, true, MACH_PORT_NULL);
	fill(2, 2, 200);
	*at(1) = 1;
	unmap();
	expect_return(0, 1, 100, false, false);
	expect_return(1, 1, 1, true, false);
	end_terminated();
}

TEST(temporary_objects_return_nothing)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_TEMPORARY));
	fill(0, 2, 100);
	*at(1) = 1;
	end();
}

TEST(clean_pages_stay)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	supply(0, 4, 100, VM_PROT_NONE, true, MACH_PORT_NULL);
	*at(1) = 1;
	lock_request(0, PAGES, MEMORY_OBJECT_RETURN_DIRTY, false, VM_PROT_NO_CHANGE);
	expect_return(1, 1, 1, true, true);
	REQUIRE(expect(LOCK_COMPLETED));
	EXPECT_EQ(word(1), 0);
	EXPECT_EQ(word(2), BYTES);
	*at(1) = 11;
	lock_request(1, 2, MEMORY_OBJECT_RETURN_ALL, false, VM_PROT_NO_CHANGE);
	expect_return(1, 1, 11, true, true);
	expect_return(2, 1, 102, false, true);
	REQUIRE(expect(LOCK_COMPLETED));
	lock_request(1, 2, MEMORY_OBJECT_RETURN_ALL, false, VM_PROT_NO_CHANGE);
	REQUIRE(expect(LOCK_COMPLETED));
	EXPECT_EQ(*at(1), 11);
	EXPECT_EQ(*at(2), 102);
	unmap();
	expect_return(0, 1, 100, false, false);
	expect_return(3, 1, 103, false, false);
	end_terminated();
}

TEST(flushed_pages_are_asked_for_again)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	fill(0, 4, 100);
	*at(0) = 1;
	*at(1) = 2;
	lock_request(0, 1, MEMORY_OBJECT_RETURN_NONE, true, VM_PROT_NO_CHANGE);
	REQUIRE(expect(LOCK_COMPLETED));
	lock_request(0, PAGES, MEMORY_OBJECT_RETURN_DIRTY, true, VM_PROT_NO_CHANGE);
	expect_return(1, 1, 2, true, false);
	REQUIRE(expect(LOCK_COMPLETED));
	for (uint32_t page = 0; page < 4; page++) {
		start_touch(0, (vm_address_t)at(page), false, 0);
		REQUIRE(expect(DATA_REQUEST));
		fill(page, 1, 200 + page);
		EXPECT_EQ(end_touch(0), KERN_SUCCESS);
	}
	EXPECT_EQ(*at(0), 200);
	end();
}

TEST(locked_pages_are_asked_for)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	supply(0, 1, 100, VM_PROT_WRITE, false, MACH_PORT_NULL);
	EXPECT_EQ(*at(0), 100);
	start_touch(0, memory, true, 5);
	REQUIRE(expect(DATA_UNLOCK));
	EXPECT_EQ(word(1), 0);
	EXPECT((word(3) & VM_PROT_WRITE) != 0);
	start_touch(1, memory + 4, true, 6);
	sleep_ms(SHORT_WAIT);
	EXPECT(message_none(object));
	EXPECT_EQ(touched[0].done, 0);
	lock_request(0, 1, MEMORY_OBJECT_RETURN_NONE, false, VM_PROT_NONE);
	REQUIRE(expect(LOCK_COMPLETED));
	EXPECT_EQ(end_touch(0), KERN_SUCCESS);
	EXPECT_EQ(end_touch(1), KERN_SUCCESS);
	EXPECT_EQ(*at(0), 5);
	lock_request(0, 1, MEMORY_OBJECT_RETURN_DIRTY, false, VM_PROT_ALL);
	expect_return(0, 1, 5, true, true);
	REQUIRE(expect(LOCK_COMPLETED));
	start_touch(0, memory, false, 0);
	REQUIRE(expect(DATA_UNLOCK));
	lock_request(0, 1, MEMORY_OBJECT_RETURN_NONE, false, VM_PROT_NONE);
	REQUIRE(expect(LOCK_COMPLETED));
	EXPECT_EQ(end_touch(0), KERN_SUCCESS);
	end();
}

TEST(wired_pages_stay)
{
	mach_port_t host = (mach_port_t)check_number(0);

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	fill(0, PAGES, 100);
	if (vm_wire(host != 0 ? host : mach_host_self(), SELF, memory, PAGE_SIZE,
		    VM_PROT_DEFAULT) != KERN_SUCCESS) {
		end();
		SKIP("no right to wire");
	}
	*at(0) = 1;
	lock_request(0, 2, MEMORY_OBJECT_RETURN_DIRTY, true, VM_PROT_NO_CHANGE);
	expect_return(0, 1, 1, true, true);
	REQUIRE(expect(LOCK_COMPLETED));
	EXPECT_EQ(*at(0), 1);
	end();
}

TEST(who_maps_it_can_write_back)
{
	mach_port_t shown;
	vm_address_t address = memory;
	vm_size_t size;
	vm_prot_t rights, max_rights;
	vm_inherit_t inheritance;
	vm_offset_t offset;
	boolean_t shared;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	fill(0, PAGES, 100);
	*at(3) = 3;
	EXPECT_EQ(vm_msync(SELF, memory, BYTES, VM_SYNC_SYNCHRONOUS), KERN_SUCCESS);
	expect_return(3, 1, 3, true, true);
	*at(4) = 4;
	address = memory;
	EXPECT_EQ(vm_region(SELF, &address, &size, &rights, &max_rights, &inheritance, &shared,
			    &shown, &offset),
		  KERN_SUCCESS);
	EXPECT_EQ(address, memory);
	EXPECT_EQ(size, BYTES);
	EXPECT_EQ(offset, 0);
	EXPECT_EQ(shown, name);
	EXPECT_EQ(vm_object_sync(shown, 0, BYTES, TRUE, TRUE, TRUE), KERN_SUCCESS);
	expect_return(4, 1, 4, true, false);
	EXPECT_EQ(vm_object_sync(control, 0, BYTES, TRUE, TRUE, TRUE), KERN_INVALID_ARGUMENT);
	start_touch(0, memory, false, 0);
	REQUIRE(expect(DATA_REQUEST));
	fill(0, 1, 1);
	EXPECT_EQ(end_touch(0), KERN_SUCCESS);
	*at(0) = 2;
	EXPECT_EQ(vm_msync(SELF, memory, BYTES, VM_SYNC_INVALIDATE), KERN_SUCCESS);
	port_drop_send(shown);
	end();
}

/* ---------------- The end ---------------- */

TEST(the_port_dies)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	fill(0, 1, 80);
	*at(0) = 81;
	start_touch(0, memory + PAGE_SIZE, false, 0);
	REQUIRE(expect(DATA_REQUEST));
	port_destroy(object);
	EXPECT_EQ(end_touch(0), KERN_MEMORY_ERROR);
	EXPECT_EQ(port_type(control), MACH_PORT_TYPE_DEAD_NAME);
	start_touch(0, memory + 2 * PAGE_SIZE, false, 0);
	EXPECT_EQ(end_touch(0), KERN_MEMORY_FAILURE);
	EXPECT_EQ(*at(0), 81);
	unmap();
	port_destroy(control);
	port_destroy(name);
}

TEST(the_port_dies_before_it_is_ready)
{
	REQUIRE(begin_not_ready());
	start_touch(0, memory, false, 0);
	sleep_ms(SHORT_WAIT);
	port_destroy(object);
	EXPECT_EQ(end_touch(0), KERN_MEMORY_FAILURE);
	unmap();
	port_destroy(control);
	port_destroy(name);
}

TEST(the_pager_destroys_it)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	fill(0, 1, 80);
	start_touch(0, memory + PAGE_SIZE, false, 0);
	REQUIRE(expect(DATA_REQUEST));
	EXPECT_EQ(memory_object_destroy(control, KERN_FAILURE), KERN_SUCCESS);
	EXPECT_EQ(end_touch(0), KERN_MEMORY_ERROR);
	EXPECT_EQ(*at(0), 80);
	unmap();
	end_terminated();
}

TEST(messages_that_nobody_receives)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	fill(0, PAGES, 1);
	for (uint32_t page = 0; page < PAGES; page++)
		*at(page) = page;
	lock_request(0, PAGES, MEMORY_OBJECT_RETURN_DIRTY, false, VM_PROT_NO_CHANGE);
	*at(3) = 1;
	unmap();
	port_destroy(object);
	port_destroy(control);
	port_destroy(name);
}

/* The control port is in the message then, and its queue is no obstacle. */
TEST(answers_that_come_too_late)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	unmap();
	for (uint32_t page = 0; page < 20; page++)
		fill(page, 1, 1);
	end_terminated();
}

TEST(a_wait_can_be_ended)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	start_touch(0, memory, false, 0);
	REQUIRE(expect(DATA_REQUEST));
	EXPECT_EQ(thread_abort(worker_port(0)), KERN_SUCCESS);
	worker_join(0);
	EXPECT(touched[0].result != KERN_SUCCESS);
	end();
}

/* ---------------- What makes no sense ---------------- */

TEST(calls_that_make_no_sense)
{
	mach_port_t other = port_new_with_send();
	vm_address_t address = 0;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	memory_object_data_supply(control, 5, (vm_offset_t)&got, 8, FALSE, 0, FALSE, object);
	memory_object_lock_request(control, 0, BYTES, 9, TRUE, 0, object);
	memory_object_lock_request(control, 0, BYTES, 0, TRUE, 64, object);
	memory_object_change_attributes(control, TRUE, -1, object);
	message_drain(object);
	memory_object_lock_request(control, 0xffffffff, 0xffffffff, 0, TRUE, 0, object);
	REQUIRE(expect(LOCK_COMPLETED));
	memory_object_data_unavailable(control, 0xfffff000, 0xffffffff);
	memory_object_data_error(control, 3, 5, 0);
	EXPECT_EQ(vm_map(SELF, &address, PAGE_SIZE, 0, TRUE, object, 7, FALSE, 1, 1, 1),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(vm_map(SELF, &address, PAGE_SIZE, 0, TRUE, control, 0, FALSE, 1, 1, 1),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(vm_map(SELF, &address, BYTES, 0, TRUE, object, 0xfffff000, FALSE, 1, 1, 1),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(vm_map(SELF, &address, 0, 0, TRUE, object, 0, FALSE, 1, 1, 1),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(vm_map(SELF, &address, BYTES, 0, FALSE, object, 0, FALSE, 1, 1, 1),
		  KERN_INVALID_ADDRESS);
	port_destroy(other);
	end();
}
