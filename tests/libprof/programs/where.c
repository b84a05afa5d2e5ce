/* SPDX-License-Identifier: MIT */
/*
 * A program with a profile: computes for so many milliseconds and ends.  `exec PROGRAM MS` executes
 * another one then, and `twice` asks for the usual file in the middle, too.
 */
#include <gprof.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "work.h"

#ifdef MORE
/* A program that was changed is longer. */
const char more[8192] __attribute__((used, section(".text.more"))) = {1};
#endif

int main(int argc, char **argv)
{
	spin(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
	if (argc > 2 && strcmp(argv[2], "twice") == 0) {
		if (gprof_stop(NULL) != 0 || gprof_start(SAMPLED_PC_PERIODIC) != 0)
			return 1;
		spin(1);
	}
	if (argc > 4 && strcmp(argv[2], "exec") == 0)
		execl(argv[3], argv[3], argv[4], NULL);
	return 0;
}
