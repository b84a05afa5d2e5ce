/* SPDX-License-Identifier: MIT */
/* Exports its profiling, to its owner alone or (FOR_ALL), in the old form; waits to be ended. */
#include <gprof.h>
#include <servers/gprof_types.h>
#include <unistd.h>

#ifndef FOR_ALL
int gprof_owner_only = 1;
#endif
int gprof_format = GPROF_BSD;

int main(void)
{
	for (;;)
		pause();
}
