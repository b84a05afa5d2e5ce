/* SPDX-License-Identifier: MIT */
/* spinners N: N threads that do the same work at the same time, each in spin(). */
#include <cthreads.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

#define SPINNERS_MAX 16
#define ROUNDS       100
#define UNIT         100000u

void spin(unsigned rounds);

SHOWN void spin(unsigned rounds)
{
	for (unsigned round = 0; round < rounds; round++)
		work(UNIT);
}

static void *run(void *argument)
{
	spin(ROUNDS);
	return argument;
}

int main(int argc, char **argv)
{
	cthread_t threads[SPINNERS_MAX];
	unsigned count = argc == 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;

	if (count == 0 || count > SPINNERS_MAX) {
		fprintf(stderr, "usage: spinners N (1 to %d)\n", SPINNERS_MAX);
		return 2;
	}
	for (uintptr_t n = 0; n < count; n++)
		threads[n] = cthread_fork(run, (void *)n);
	for (unsigned n = 0; n < count; n++)
		cthread_join(threads[n]);
	printf("spinners: %u threads, each %g %% of the time, all of it in spin\n", count,
	       100.0 / count);
	return 0;
}
