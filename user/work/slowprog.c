/* SPDX-License-Identifier: MIT */
/*
 * slowprog [ROUNDS]: four functions, whose names say how many percent of its time each takes.
 *
 * Every one executes the same loop, so often as its name says; beside that there is nearly nothing.
 */
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

#define ROUNDS 200   /* About a second on the fixed instruction clock: */
#define UNIT   5000u /* 10 instructions, 100 units, 200 rounds. */

void ten(void);
void twenty(void);
void thirty(void);
void forty(void);

SHOWN void ten(void)
{
	work(10 * UNIT);
}

SHOWN void twenty(void)
{
	work(20 * UNIT);
}

SHOWN void thirty(void)
{
	work(30 * UNIT);
}

SHOWN void forty(void)
{
	work(40 * UNIT);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : ROUNDS;

	if (rounds <= 0) {
		fprintf(stderr, "usage: slowprog [ROUNDS]\n");
		return 2;
	}
	for (long round = 0; round < rounds; round++) {
		ten();
		twenty();
		thirty();
		forty();
	}
	printf("slowprog: ten 10 %%, twenty 20 %%, thirty 30 %%, forty 40 %% of %ld rounds\n",
	       rounds);
	return 0;
}
