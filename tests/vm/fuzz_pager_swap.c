/* SPDX-License-Identifier: MIT */
/*
 * Random pagers (tests/lib/hostile.h) while memory is short: what they do not take goes to the
 * default pager, and an innocent whose memory goes there too finds it again as it was.
 *
 * machine: cpus=1 limit=300 append="pool=16 ramdisk=64" \
 *          module="pager ${host-port} ${device-port} rd0" arguments="rounds=3 seed=1 ${host-port}"
 * machine: cpus=2 limit=300 append="pool=16 ramdisk=64" seed=1 \
 *          module="pager ${host-port} ${device-port} rd0" arguments="rounds=3 seed=11 ${host-port}"
 */
#include "check.h"
#include "hostile.h"
#include "pressure.h"

BALANCE_AT_END;

#define INNOCENT_PAGES 2000u /* With its copies more than there is. */

TEST(random_pagers_and_swap)
{
	uint32_t seed = check_parameter("seed", 1), rounds = check_parameter("rounds", 2);
	uint32_t milliseconds = check_parameter("ms", 200);

	REQUIRE(pressure_ready());
	pressure_wire_program();
	hostile_plan.innocent_pages = check_parameter("pages", pressure_part(INNOCENT_PAGES));
	for (uint32_t n = 0; n < rounds && !check_failed(); n++) {
		hostile_plan.seed = seed + n;
		hostile_round(check_number(0), milliseconds);
		if (check_failed())
			print("fuzz_pager_swap: failed with seed=%u\n", seed + n);
	}
}
