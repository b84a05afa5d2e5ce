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

/* The default pager is the only other task: the port is a send right to it. */
static mach_port_t find_pager(void)
{
	mach_port_t host = pressure_host(), set_name, set, found = MACH_PORT_NULL;
	mach_port_t self = mach_task_self();
	mach_msg_type_number_t n = 0;
	task_array_t tasks;

	EXPECT_EQ(processor_set_default(host, &set_name), KERN_SUCCESS);
	EXPECT_EQ(host_processor_set_priv(host, set_name, &set), KERN_SUCCESS);
	EXPECT_EQ(processor_set_tasks(set, &tasks, &n), KERN_SUCCESS);
	for (uint32_t i = 0; i < n; i++) {
		if (tasks[i] != self && found == MACH_PORT_NULL)
			found = tasks[i];
		else
			port_drop_send(tasks[i]);
	}
	memory_free((vm_address_t)tasks, n * sizeof *tasks);
	port_drop_send(set_name);
	port_drop_send(set);
	return found;
}

TEST(memory_without_its_pager)
{
	mach_port_t pager, manager = MACH_PORT_NULL;
	struct child child;
	uint32_t code;

	REQUIRE(pressure_ready());
	pressure_wire_program();
	pager = find_pager();
	REQUIRE(MACH_PORT_VALID(pager));
	pressure_child(&child, 0, use_much, 1);
	EXPECT_EQ(pressure_heard(&child), 0);
	child_end(pager);
	/* An error for what the pager had been asked for already. */
	code = pressure_exception(&child);
	EXPECT(code == KERN_MEMORY_FAILURE || code == KERN_MEMORY_ERROR);
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
