/* SPDX-License-Identifier: MIT */
/* What the scheduler's tick takes from a program that does nothing but count down. */
#include "measure.h"

#define TURNS 100000000u /* Of two instructions: some 20 ticks. */

void bench_tick(uint32_t n)
{
	uint32_t turns = TURNS;
	uint32_t taken;

	(void)n;
	measure_calibrate();
	measure_begin();
	taken = counter();
	__asm__ volatile("1: decl %0; jnz 1b" : "+r"(turns));
	taken = counter() - taken;
	measure_end();
	/* One instruction loads the number of turns. */
	print("excess %u\n", taken - overhead - 2 * TURNS - 1);
	report_costs(measured_ticks());
}
