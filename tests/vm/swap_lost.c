/* SPDX-License-Identifier: MIT */
/*
 * What was in swap when the default pager was killed is lost: neither the object's own pager nor
 * the next default pager is asked for it.
 *
 * machine: cpus=1 append="pool=16 ramdisk=48" \
 *          module="pager ${host-port} ${device-port} rd0" \
 *          arguments="${host-port}"
 * machine: cpus=2 seed=1 append="pool=16 ramdisk=48" \
 *          module="pager ${host-port} ${device-port} rd0" \
 *          arguments="${host-port}"
 */
#include "check.h"
#include "pager.h"
#include "pressure.h"

BALANCE_AT_END;

#define MUCH pressure_part(24 * MIB)

/* The pages of the object: */
enum {
	ASKED,    /* the default pager dies while somebody waits for it, */
	AWAY,     /* and while this one is in swap; */
	BACK,     /* this one has come back, and is as it was in swap, */
	NEW = 7,  /* and this one comes later. */
	OLD = 100 /* What the pager says of each, and what is written then. */
};

#define WRITTEN 200u

static void use_much(uint32_t round)
{
	vm_address_t room = memory_new(MUCH);

	pattern_put(room, MUCH, round);
	pressure_report(pattern_errors(room, MUCH, round));
	memory_free(room, MUCH);
}

/* Until all that was used before is in swap. */
static void press(void)
{
	struct child child;

	pressure_child(&child, 0, use_much, 1);
	EXPECT_EQ(pressure_heard(&child), 0);
	pressure_end(&child);
}

static kern_return_t touch(uint32_t page)
{
	start_touch(0, (vm_address_t)at(page), false, 0);
	return end_touch(0);
}

/* The default pager ends, and with it what it has; it owes the answer to a request. */
static void kill_pager(void)
{
	mach_port_t pager = pressure_pager();

	EXPECT_EQ(task_suspend(pager), KERN_SUCCESS);
	start_touch(1, (vm_address_t)at(ASKED), false, 0);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(touched[1].done, 0);
	EXPECT_EQ(thread_abort(worker_port(1)), KERN_SUCCESS);
	EXPECT(worker_join(1));
	child_end(pager);
}

/* ---------------- The next default pager ---------------- */

#define OBJECTS_MAX 32u

enum {
	CREATE = 2250,
	DATA_INITIALIZE = 2251,
};

/* It is told of new objects at the first port; the others are theirs. */
static mach_port_t ports[OBJECTS_MAX], all_ports;
static uint32_t n_ports;

static void serve_port(mach_port_t port)
{
	REQUIRE(n_ports < OBJECTS_MAX);
	ports[n_ports++] = port;
	EXPECT_EQ(mach_port_move_member(SELF, port, all_ports), KERN_SUCCESS);
}

static void begin_manager(void)
{
	mach_port_t manager = port_new_with_send();

	EXPECT_EQ(mach_port_allocate(SELF, MACH_PORT_RIGHT_PORT_SET, &all_ports), KERN_SUCCESS);
	serve_port(manager);
	EXPECT_EQ(vm_set_default_memory_manager(pressure_host(), &manager), KERN_SUCCESS);
	EXPECT_EQ(manager, MACH_PORT_NULL);
}

static void end_manager(void)
{
	while (n_ports > 0)
		port_destroy(ports[--n_ports]);
	port_destroy(all_ports);
}

/* Forgets all that comes to the default pager until it is a page that begins with `value`. */
static bool comes_to_manager(uint32_t value)
{
	uint32_t found = ~value;

	while (found != value && message_get(&got, all_ports, LONG_WAIT) == MACH_MSG_SUCCESS) {
		switch (got.head.msgh_id) {
		case CREATE:
			serve_port(word(0));
			port_drop_send(word(2));
			port_drop_send(word(3));
			break;
		case DATA_INITIALIZE:
			found = *(uint32_t *)got.body[7];
			vm_deallocate(SELF, got.body[7], got.body[6]);
			port_drop_send(word(0));
			break;
		default:
			check_fail("a message %d", got.head.msgh_id);
		}
	}
	return found == value;
}

/* ---------------- The test ---------------- */

TEST(contents_that_were_in_swap)
{
	struct child child;

	REQUIRE(pressure_ready());
	pressure_wire_program();
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_TEMPORARY));
	fill(0, PAGES - 1, OLD);
	for (uint32_t page = 0; page < NEW; page++)
		*at(page) = WRITTEN + page;
	press();
	EXPECT_EQ(touch(BACK), KERN_SUCCESS);
	kill_pager();
	EXPECT_EQ(touch(AWAY), KERN_MEMORY_FAILURE);

	fill(NEW, 1, OLD);
	*at(NEW) = WRITTEN + NEW;
	begin_manager();
	pressure_child(&child, 0, use_much, 2);
	EXPECT(comes_to_manager(WRITTEN + BACK));
	EXPECT(comes_to_manager(WRITTEN + NEW));
	pressure_end(&child);

	for (uint32_t time = 0; time < 2; time++) {
		EXPECT_EQ(touch(AWAY), KERN_MEMORY_FAILURE);
		EXPECT_EQ(touch(ASKED), KERN_MEMORY_FAILURE);
	}
	fill(AWAY, 1, OLD);
	EXPECT_EQ(touch(AWAY), KERN_MEMORY_FAILURE);
	EXPECT(message_none(object));

	/* Whoever throws away what there is gets what the pager has. */
	EXPECT_EQ(vm_msync(SELF, memory, PAGE_SIZE * BACK, VM_SYNC_SYNCHRONOUS),
		  KERN_MEMORY_FAILURE);
	EXPECT_EQ(vm_msync(SELF, memory, PAGE_SIZE * BACK, VM_SYNC_INVALIDATE), KERN_SUCCESS);
	fill(AWAY, 1, OLD);
	EXPECT_EQ(*at(AWAY), OLD);
	end();
	end_manager();
}
