/* SPDX-License-Identifier: MIT */
/*
 * A pager that does not receive while memory is short: its pages go to swap, and it gets all of
 * them in the end.
 *
 * machine: cpus=1 append="pool=16 ramdisk=48" \
 *          module="pager ${host-port} ${device-port} rd0" \
 *          arguments="${host-port}"
 * machine: cpus=2 seed=1 append="pool=16 ramdisk=48" \
 *          module="pager ${host-port} ${device-port} swap=rd0" \
 *          arguments="${host-port}"
 */
#include "check.h"
#include "pager.h"
#include "pressure.h"

BALANCE_AT_END;

#define BIG_MOST 1536u
#define BIG      pressure_part(BIG_MOST) /* Pages. */
#define PRESSURE pressure_part(24 * MIB)

static vm_address_t big;
static uint32_t stored[BIG_MOST]; /* What the pager has of each page. */
static uint32_t requests, returns;
static volatile uint32_t errors;

static uint32_t *big_at(uint32_t page)
{
	return (uint32_t *)(big + page * PAGE_SIZE);
}

static uint32_t value_of(uint32_t page, uint32_t round)
{
	return page * 7 + round * 100000;
}

static void begin_big(void)
{
	requests = 0;
	returns = 0;
	big = map(object, 0, BIG * PAGE_SIZE, false);
	for (uint32_t page = 0; page < BIG; page += 32)
		fill(page, 32, 0);
}

static void write_big(uint32_t round)
{
	for (uint32_t page = 0; page < BIG; page++)
		*big_at(page) = value_of(page, round);
}

/* Makes memory short for a while. */
static void press(void)
{
	vm_address_t room = memory_new(PRESSURE);

	pattern_put(room, PRESSURE, 1);
	EXPECT_EQ(pattern_errors(room, PRESSURE, 1), 0);
	memory_free(room, PRESSURE);
}

/* Looks at a message of the kernel's as a pager does that keeps a word of each page. */
static void serve(void)
{
	if (got.head.msgh_id == DATA_REQUEST) {
		uint32_t page = word(1) / PAGE_SIZE;

		requests++;
		fill(page, 1, stored[page]);
		port_drop_send(word(0));
	} else if (got.head.msgh_id == DATA_RETURN) {
		uint32_t page = word(1) / PAGE_SIZE;

		for (uint32_t n = 0; n < got.body[6] / PAGE_SIZE; n++, returns++)
			stored[page + n] = *(uint32_t *)(got.body[7] + n * PAGE_SIZE);
		vm_deallocate(mach_task_self(), got.body[7], got.body[6]);
		port_drop_send(word(0));
	}
}

static void check_big(void *argument)
{
	uint32_t round = (uint32_t)argument;

	for (uint32_t page = 0; page < BIG; page++)
		errors += *big_at(page) != value_of(page, round);
	message_send_id(object, MACH_MSG_TYPE_MAKE_SEND, 1);
}

/* Serves until a message comes with this id. */
static void serve_until(int id)
{
	do {
		if (message_get(&got, object, LONG_WAIT) != MACH_MSG_SUCCESS) {
			check_fail("nothing comes any more");
			return;
		}
		serve();
	} while (got.head.msgh_id != id);
}

static uint32_t wrong_stored(uint32_t round)
{
	uint32_t wrong = 0;

	for (uint32_t page = 0; page < BIG; page++)
		wrong += stored[page] != value_of(page, round);
	return wrong;
}

/* The last of it is unmapped: all that was written has to come. */
static void end_big(uint32_t round)
{
	EXPECT_EQ(vm_deallocate(mach_task_self(), big, BIG * PAGE_SIZE), KERN_SUCCESS);
	unmap();
	serve_until(TERMINATE);
	EXPECT_EQ(wrong_stored(round), 0);
	port_destroy(control);
	port_destroy(name);
	port_destroy(object);
	print("pager: %u requests, %u pages back\n", requests, returns);
}

TEST(pages_in_swap_come_back)
{
	REQUIRE(pressure_ready());
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	begin_big();
	write_big(1);
	press();
	errors = 0;
	worker_start(0, check_big, (void *)1);
	serve_until(1);
	EXPECT(worker_join(0));
	EXPECT_EQ(errors, 0);
	end_big(1);
}

TEST(pages_in_swap_are_returned_at_the_end)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	begin_big();
	write_big(2);
	press();
	end_big(2);
}

TEST(pages_in_swap_are_returned_when_asked_for)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	begin_big();
	write_big(3);
	press();
	lock_request(0, BIG, MEMORY_OBJECT_RETURN_DIRTY, true, VM_PROT_NO_CHANGE);
	serve_until(LOCK_COMPLETED);
	EXPECT_EQ(wrong_stored(3), 0);
	end_big(3);
}

TEST(temporary_objects_live_in_swap)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_TEMPORARY));
	begin_big();
	write_big(4);
	press();
	errors = 0;
	worker_start(0, check_big, (void *)4);
	serve_until(1);
	EXPECT(worker_join(0));
	EXPECT_EQ(errors, 0);
	EXPECT_EQ(returns, 0);
	for (uint32_t page = 0; page < BIG; page++)
		stored[page] = value_of(page, 4);
	end_big(4);
}

/* The lock is between the pager and who maps the object: the default pager may look at the page. */
TEST(locked_pages_live_in_swap)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_TEMPORARY));
	begin_big();
	write_big(6);
	lock_request(0, BIG, MEMORY_OBJECT_RETURN_NONE, false, VM_PROT_WRITE);
	serve_until(LOCK_COMPLETED);
	press();
	errors = 0;
	worker_start(0, check_big, (void *)6);
	serve_until(1);
	EXPECT(worker_join(0));
	EXPECT_EQ(errors, 0);
	for (uint32_t page = 0; page < BIG; page++)
		stored[page] = value_of(page, 6);
	end_big(6);
}

TEST(what_a_dead_pager_leaves_is_kept)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	begin_big();
	write_big(5);
	port_destroy(object);
	press();
	for (uint32_t page = 0; page < BIG; page++)
		EXPECT_EQ(*big_at(page), value_of(page, 5));
	EXPECT_EQ(vm_deallocate(mach_task_self(), big, BIG * PAGE_SIZE), KERN_SUCCESS);
	unmap();
	port_destroy(control);
	port_destroy(name);
}
