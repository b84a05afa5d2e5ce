/* SPDX-License-Identifier: MIT */
/*
 * Exports its profiling, to its owner alone or (FOR_ALL), in the old form; waits to be ended, or
 * works until then (SPINS).  With FORKS it says the number of a child that does the same.
 */
#include <gprof.h>
#include <servers/gprof_types.h>
#include <stdio.h>
#include <unistd.h>

#ifndef FOR_ALL
int gprof_owner_only = 1;
#endif
int gprof_format = GPROF_BSD;

int main(void)
{
#ifdef FORKS
	int child = fork();

	if (child > 0) {
		printf("%d\n", child);
		fflush(stdout);
	}
#endif
	for (;;) {
#ifndef SPINS
		pause();
#endif
	}
}
