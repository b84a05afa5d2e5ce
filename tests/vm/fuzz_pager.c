/* SPDX-License-Identifier: MIT */
/*
 * Random pagers (tests/lib/hostile.h): the kernel survives them, who has nothing to do with them
 * notices nothing, and what they leave behind is nothing.
 *
 *     tools/guest boot --icount -- 'vm/fuzz_pager rounds=100 seed=7 ${host-port}'
 *
 * A round that failed is run alone by `rounds=1` and its own seed, which it prints.
 *
 * machine: cpus=1 limit=300 append="pool=48" arguments="rounds=12 seed=1 ${host-port}"
 * machine: cpus=1 limit=300 append="pool=48" seed=3 when=nightly \
 *	arguments="rounds=12 seed=101 ${host-port}"
 * machine: cpus=2 limit=300 append="pool=48" seed=1 when=nightly \
 *	arguments="rounds=12 seed=201 ${host-port}"
 * machine: cpus=2 limit=300 append="pool=48" arguments="rounds=12 seed=301 ${host-port}" seed=2
 */
#include "check.h"
#include "hostile.h"

#define INNOCENT_PAGES 24u

TEST(random_pagers)
{
	uint32_t seed = check_parameter("seed", 1), rounds = check_parameter("rounds", 10);
	uint32_t milliseconds = check_parameter("ms", 40);

	hostile_plan.innocent_pages = check_parameter("pages", INNOCENT_PAGES);
	hostile_plan.seed = ~seed;
	hostile_round(check_number(0), milliseconds); /* What the kernel keeps, it has now. */
	balance_rest();
	for (uint32_t n = 0; n < rounds && !check_failed(); n++) {
		hostile_plan.seed = seed + n;
		balance_note();
		hostile_round(check_number(0), milliseconds);
		balance_settle();
		if (check_failed())
			print("fuzz_pager: failed with seed=%u\n", seed + n);
	}
}
