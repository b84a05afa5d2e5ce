/* SPDX-License-Identifier: MIT */
/*
 * lockstep [STEPS]: a program in step with the scheduler's tick, which every sampler that goes by
 * that tick misses.
 *
 * A sleep ends with a tick.  Right after it in_step() works for less than the time to the next one,
 * then the program sleeps again; a sample taken at ticks never finds it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "work.h"

#define STEPS   200
#define WORK    300000u /* 3 ms on the fixed instruction clock; a tick is 10 ms. */
#define STEP_US 1000    /* The sleep ends with the next tick. */

void in_step(void);

SHOWN void in_step(void)
{
	work(WORK);
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? strtol(argv[1], NULL, 10) : STEPS;

	if (steps <= 0) {
		fprintf(stderr, "usage: lockstep [STEPS]\n");
		return 2;
	}
	for (long step = 0; step < steps; step++) {
		usleep(STEP_US);
		in_step();
	}
	printf("lockstep: all its time in in_step, %ld steps of %u instructions each\n", steps,
	       WORK * WORK_TURN);
	return 0;
}
