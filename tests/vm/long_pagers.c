/* SPDX-License-Identifier: MIT */
/*
 * What a pager does with thousands of pages at once, as tests/kern/long_loops.c does it with other
 * things: it must work, and tests/kern/test_stretches.py sees whether others are let in meanwhile.
 *
 * machine: mem=256
 */
#include "check.h"
#include "ipc.h"
#include "pager.h"

#define MANY 4096u /* Pages. */

/* Tables of pages stay with a task. */
BALANCE_AT_END;

/* An object of so many pages, which all are there before anybody has asked for them. */
static bool begin_with_all(int strategy)
{
	object = port_new_with_send();
	memory = map(object, 0, MANY * PAGE_SIZE, false);
	if (!expect(INIT))
		return false;
	control = word(0);
	name = word(1);
	EXPECT_EQ(memory_object_ready(control, false, strategy), KERN_SUCCESS);
	fill(0, MANY, 1);
	EXPECT_EQ(*at(0), 1);
	EXPECT_EQ(*at(MANY - 1), MANY);
	return true;
}

static void unmap_all(void)
{
	EXPECT_EQ(vm_deallocate(SELF, memory, MANY * PAGE_SIZE), KERN_SUCCESS);
}

static void write_to_all(void)
{
	for (uint32_t page = 0; page < MANY; page++)
		*at(page) = page;
}

TEST(pages_come_and_are_locked)
{
	REQUIRE(begin_with_all(MEMORY_OBJECT_COPY_NONE));
	lock_request(0, MANY, MEMORY_OBJECT_RETURN_NONE, false, VM_PROT_WRITE);
	EXPECT(expect(LOCK_COMPLETED));
	lock_request(0, MANY, MEMORY_OBJECT_RETURN_NONE, true, VM_PROT_NONE);
	EXPECT(expect(LOCK_COMPLETED));
	unmap_all();
	end_terminated();
}

/* One page, at many places: it is locked, said to be clean and taken away at all of them. */
TEST(a_page_is_seen_at_many_places)
{
	static vm_address_t places[MANY];

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_NONE));
	fill(0, 1, 1);
	for (uint32_t n = 0; n < MANY; n++) {
		places[n] = map(object, 0, PAGE_SIZE, false);
		*(volatile uint32_t *)places[n] = n;
	}
	lock_request(0, 1, MEMORY_OBJECT_RETURN_DIRTY, false, VM_PROT_WRITE);
	expect_return(0, 1, MANY - 1, true, true);
	EXPECT(expect(LOCK_COMPLETED));
	lock_request(0, 1, MEMORY_OBJECT_RETURN_NONE, true, VM_PROT_NONE);
	EXPECT(expect(LOCK_COMPLETED));
	for (uint32_t n = 0; n < MANY; n++)
		EXPECT_EQ(vm_deallocate(SELF, places[n], PAGE_SIZE), KERN_SUCCESS);
	end();
}

/* An error is of what was asked for; what is there is passed over. */
TEST(pages_that_are_there_do_not_fail)
{
	REQUIRE(begin_with_all(MEMORY_OBJECT_COPY_NONE));
	EXPECT_EQ(memory_object_data_error(control, 0, MANY * PAGE_SIZE, KERN_FAILURE),
		  KERN_SUCCESS);
	EXPECT_EQ(*at(MANY / 2), MANY / 2 + 1);
	unmap_all();
	end_terminated();
}

TEST(pages_outlive_their_pager)
{
	REQUIRE(begin_with_all(MEMORY_OBJECT_COPY_NONE));
	port_destroy(object);
	EXPECT_EQ(*at(MANY / 2), MANY / 2 + 1);
	unmap_all();
	port_destroy(control);
	port_destroy(name);
}

/* Page by page the copy shows what was there. */
TEST(pages_are_copied_from_a_pager_s)
{
	vm_address_t copy;

	REQUIRE(begin_with_all(MEMORY_OBJECT_COPY_DELAY));
	copy = map(object, 0, MANY * PAGE_SIZE, true);
	*at(1) = 0;
	EXPECT_EQ(*(uint32_t *)(copy + PAGE_SIZE), 2);
	EXPECT_EQ(vm_deallocate(SELF, copy, MANY * PAGE_SIZE), KERN_SUCCESS);
	lock_request(0, MANY, MEMORY_OBJECT_RETURN_NONE, true, VM_PROT_NO_CHANGE);
	EXPECT(expect(LOCK_COMPLETED));
	unmap_all();
	end_terminated();
}

/* All that was written to comes back, each page once. */
TEST(pages_go_back)
{
	uint32_t came = 0;

	REQUIRE(begin_with_all(MEMORY_OBJECT_COPY_NONE));
	write_to_all();
	unmap_all();
	while (came < MANY && expect(DATA_RETURN)) {
		EXPECT_EQ(word(1), came * PAGE_SIZE);
		came += got.body[6] / PAGE_SIZE;
		EXPECT_EQ(vm_deallocate(SELF, got.body[7], got.body[6]), KERN_SUCCESS);
	}
	EXPECT_EQ(came, MANY);
	end_terminated();
}
