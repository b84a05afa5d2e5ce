/* SPDX-License-Identifier: MIT */
/* Linked to a program of -pg: it is sampled from main() on, as often as can be. */
#include <gprof.h>
#include <mach/prof.h>

__attribute__((constructor)) static void sample_at_the_full_rate(void)
{
	const gprof_options_t options = {.rate = SAMPLE_RATE_MAX};

	if (do_gprof_mon_options(MACH_PORT_NULL, options) == KERN_SUCCESS)
		gprof_start(SAMPLED_PC_PERIODIC);
}
