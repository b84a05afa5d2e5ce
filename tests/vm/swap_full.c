/* SPDX-License-Identifier: MIT */
/*
 * Swap that is too small: who wants more memory than there is and swap has room for is told so, by
 * an exception, and nobody loses what he has.
 *
 * machine: cpus=1 append="pool=16 ramdisk=4" \
 *          module="pager ${host-port} ${device-port} rd0" \
 *          arguments="${host-port}"
 * machine: cpus=2 seed=1 append="pool=16 ramdisk=4" \
 *          module="pager ${host-port} ${device-port} rd0" \
 *          arguments="${host-port}"
 */
#include "check.h"
#include "ipc.h"
#include "pressure.h"

BALANCE_AT_END;

#define KEPT  (6 * MIB)
#define GREED (64 * MIB)

static void be_greedy(uint32_t round)
{
	vm_address_t memory = memory_new(GREED);

	pattern_put(memory, GREED, round);
	pressure_report(pattern_errors(memory, GREED, round));
}

TEST(greed_is_an_exception)
{
	vm_address_t memory;

	REQUIRE(pressure_ready());
	pressure_wire_program();
	memory = memory_new(KEPT);
	pattern_put(memory, KEPT, 1);
	for (uint32_t turn = 0; turn < 3; turn++) {
		struct child child;

		pressure_child(&child, 0, be_greedy, turn);
		EXPECT_EQ(pressure_exception(&child), KERN_RESOURCE_SHORTAGE);
		pressure_end(&child);
		EXPECT_EQ(pattern_errors(memory, KEPT, 1), 0);
	}
	memory_free(memory, KEPT);
}

/* What was kept for want of room has found it, or is gone with its tasks. */
TEST(swap_works_again)
{
	vm_size_t size = 16 * MIB;
	vm_address_t memory = memory_new(size);

	pattern_put(memory, size, 1);
	EXPECT_EQ(pattern_errors(memory, size, 1), 0);
	memory_free(memory, size);
}
