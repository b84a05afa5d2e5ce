/* SPDX-License-Identifier: MIT */
/*
 * The default pager is killed: who has memory there is told by an exception when he wants it, and
 * the machine goes on with the memory that it has.
 *
 * machine: cpus=1 append="pool=16 ramdisk=48" \
 *          module="pager ${host-port} ${device-port} rd0" \
 *          arguments="${host-port}"
 * machine: cpus=2 seed=1 append="pool=16 ramdisk=48" \
 *          module="pager ${host-port} ${device-port} rd0" \
 *          arguments="${host-port}"
 */
#include "check.h"
#include "ipc.h"
#include "pressure.h"

BALANCE_AT_END;

#define MUCH   (24 * MIB)
#define LITTLE (2 * MIB)

/* Uses more than there is, for ever. */
static void use_much(uint32_t round)
{
	vm_address_t memory = memory_new(MUCH);

	pattern_put(memory, MUCH, round);
	pressure_report(pattern_errors(memory, MUCH, round));
	for (;;)
		pattern_errors(memory, MUCH, round);
}

TEST(memory_without_its_pager)
{
	mach_port_t pager, manager = MACH_PORT_NULL;
	struct child child;

	REQUIRE(pressure_ready());
	pressure_wire_program();
	pager = pressure_pager();
	REQUIRE(MACH_PORT_VALID(pager));
	pressure_child(&child, 0, use_much, 1);
	EXPECT_EQ(pressure_heard(&child), 0);
	child_end(pager);
	EXPECT_EQ(pressure_exception(&child), KERN_MEMORY_FAILURE);
	pressure_end(&child);
	EXPECT_EQ(vm_set_default_memory_manager(pressure_host(), &manager), KERN_SUCCESS);
	EXPECT_EQ(manager, MACH_PORT_NULL);
}

TEST(nothing_more_than_there_is)
{
	struct child child;

	pressure_child(&child, 0, use_much, 2);
	EXPECT_EQ(pressure_exception(&child), KERN_RESOURCE_SHORTAGE);
	pressure_end(&child);
}

#define DAEMON_REST_MS 2000 /* In which the page-out daemon's last wait is over: it has a timer. */

TEST(memory_that_there_is)
{
	vm_address_t memory = memory_new(LITTLE);

	pattern_put(memory, LITTLE, 1);
	EXPECT_EQ(pattern_errors(memory, LITTLE, 1), 0);
	memory_free(memory, LITTLE);
	sleep_ms(DAEMON_REST_MS);
}
