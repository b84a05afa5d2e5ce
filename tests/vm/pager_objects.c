/* SPDX-License-Identifier: MIT */
/*
 * Memory objects as wholes: mapped more than once, cached, copied.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=1
 */
#include "check.h"
#include "pager.h"

/* ---------------- Objects ---------------- */

TEST(mappings_show_one_object)
{
	vm_address_t other;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	other = map(object, PAGE_SIZE, 2 * BYTES, false);
	EXPECT(message_none(object));
	fill(1, 1, 50);
	EXPECT_EQ(*(uint32_t *)other, 50);
	*at(1) = 51;
	EXPECT_EQ(*(uint32_t *)other, 51);
	fill(2 * PAGES, 1, 60);
	EXPECT_EQ(*(uint32_t *)(other + (2 * PAGES - 1) * PAGE_SIZE), 60);
	unmap();
	EXPECT(message_none(object));
	EXPECT_EQ(vm_deallocate(SELF, other, 2 * BYTES), KERN_SUCCESS);
	expect_return(1, 1, 51, true, false);
	end_terminated();
}

TEST(cached_objects_are_found_again)
{
	mach_port_t reply = port_new();
	boolean_t ready, may_cache;
	int strategy;

	REQUIRE(begin(true, MEMORY_OBJECT_COPY_DELAY));
	EXPECT_EQ(memory_object_get_attributes(control, &ready, &may_cache, &strategy),
		  KERN_SUCCESS);
	EXPECT(ready && may_cache && strategy == MEMORY_OBJECT_COPY_DELAY);
	fill(0, 1, 70);
	*at(0) = 71;
	unmap();
	EXPECT(message_none(object));
	memory = map(object, 0, BYTES, false);
	EXPECT(message_none(object));
	EXPECT_EQ(*at(0), 71);
	unmap();
	lock_request(0, 1, MEMORY_OBJECT_RETURN_DIRTY, false, VM_PROT_NO_CHANGE);
	expect_return(0, 1, 71, true, true);
	REQUIRE(expect(LOCK_COMPLETED));
	EXPECT_EQ(memory_object_change_attributes(control, FALSE, MEMORY_OBJECT_COPY_DELAY, reply),
		  KERN_SUCCESS);
	REQUIRE(expect_at(reply, CHANGE_COMPLETED));
	EXPECT_EQ(word(0), FALSE);
	EXPECT_EQ(word(1), MEMORY_OBJECT_COPY_DELAY);
	port_destroy(reply);
	end_terminated();
}

TEST(it_begins_again)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	unmap();
	REQUIRE(expect(TERMINATE));
	port_destroy(control);
	port_destroy(name);
	memory = map(object, 0, BYTES, false);
	REQUIRE(expect(INIT));
	control = word(0);
	name = word(1);
	EXPECT_EQ(memory_object_ready(control, FALSE, MEMORY_OBJECT_COPY_DELAY), KERN_SUCCESS);
	end();
}

/* ---------------- Copies ---------------- */

/* A copy by vm_map(): what is written on either side is not seen on the other. */
static void copy_with(int strategy)
{
	vm_address_t copy;

	if (!begin(false, strategy))
		return;
	fill(0, PAGES, 100);
	copy = map(object, 0, BYTES, true);
	EXPECT_EQ(*(uint32_t *)(copy + PAGE_SIZE), 101);
	*(uint32_t *)(copy + PAGE_SIZE) = 1;
	EXPECT_EQ(*at(1), 101);
	*at(2) = 2;
	EXPECT_EQ(*(uint32_t *)(copy + 2 * PAGE_SIZE), 102);
	EXPECT_EQ(vm_deallocate(SELF, copy, BYTES), KERN_SUCCESS);
	EXPECT(message_none(object));
	unmap();
	if (strategy != MEMORY_OBJECT_COPY_TEMPORARY)
		expect_return(2, 1, 2, true, false);
	end_terminated();
}

TEST(copies_at_once)
{
	copy_with(MEMORY_OBJECT_COPY_NONE);
}

TEST(copies_delayed)
{
	copy_with(MEMORY_OBJECT_COPY_DELAY);
}

TEST(copies_of_temporary_objects)
{
	copy_with(MEMORY_OBJECT_COPY_TEMPORARY);
}

TEST(pagers_make_copies)
{
	mach_port_t first = object, copy;
	mach_port_t first_control, first_name;
	vm_address_t address;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_CALL));
	first = object;
	first_control = control;
	first_name = name;
	address = map(object, PAGE_SIZE, 2 * PAGE_SIZE, true);
	REQUIRE(expect(COPY));
	EXPECT_EQ(word(1), PAGE_SIZE);
	EXPECT_EQ(word(2), 2 * PAGE_SIZE);
	copy = word(3);
	EXPECT_EQ(port_type(copy), MACH_PORT_TYPE_RECEIVE);
	REQUIRE(expect_at(copy, INIT));
	control = word(0);
	name = word(1);
	EXPECT_EQ(memory_object_ready(control, FALSE, MEMORY_OBJECT_COPY_DELAY), KERN_SUCCESS);
	start_touch(0, address + PAGE_SIZE, false, 0);
	REQUIRE(expect_at(copy, DATA_REQUEST));
	EXPECT_EQ(word(1), PAGE_SIZE);
	fill(1, 1, 33);
	EXPECT_EQ(end_touch(0), KERN_SUCCESS);
	EXPECT_EQ(touched[0].value, 33);
	EXPECT_EQ(vm_deallocate(SELF, address, 2 * PAGE_SIZE), KERN_SUCCESS);
	object = copy;
	end_terminated();
	object = first;
	control = first_control;
	name = first_name;
	end();
}

static void make_child(void *child)
{
	*(mach_port_t *)child = child_new();
}

/*
 * A child inherits what is copied at once, for which the pager is asked; meanwhile the parent has
 * one piece of memory there which begins in the object's place and ends behind it.
 */
TEST(inheriting_goes_on_within_what_came_meanwhile)
{
	mach_port_t child = MACH_PORT_NULL;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_NONE));
	fill(1, PAGES - 1, 101);
	worker_start(0, make_child, &child);
	REQUIRE(expect(DATA_REQUEST));
	unmap();
	EXPECT_EQ(vm_map(SELF, &memory, 2 * BYTES, 0, FALSE, MACH_PORT_NULL, 0, FALSE,
			 VM_PROT_DEFAULT, VM_PROT_ALL, VM_INHERIT_COPY),
		  KERN_SUCCESS);
	*at(PAGES) = 7;
	fill(0, 1, 100);
	REQUIRE(worker_join(0));
	EXPECT_EQ(word_in(child, memory), 100);
	EXPECT_EQ(word_in(child, memory + BYTES), 7);
	child_end(child);
	EXPECT_EQ(vm_deallocate(SELF, memory, 2 * BYTES), KERN_SUCCESS);
	end_terminated();
}
