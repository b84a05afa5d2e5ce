/* SPDX-License-Identifier: MIT */
/*
 * A loop between the markers of tools/hot, long enough for clock ticks to fall into it.  The
 * program reads the instruction clock around it; test_hot.py compares that with what the plugin
 * counted.
 */
#include "check.h"
#include <assay.h>

#define TURNS   5000000u
#define OUTSIDE 4u /* What the clock sees and the window does not: rdtsc, movl, and the markers. */

TEST(window)
{
	uint32_t turns = 0, clock;

	__asm__ volatile("rdtsc\n\t"
			 "movl %%eax, %%esi\n\t"
			 "xchgw %%bx, %%bx\n\t"
			 "movl %[n], %%ecx\n"
			 "1:\tlock incl %[turns]\n\t"
			 "decl %%ecx\n\t"
			 "jnz 1b\n\t"
			 "xchgw %%cx, %%cx\n\t"
			 "rdtsc\n\t"
			 "subl %%esi, %%eax"
			 : "=&a"(clock), [turns] "+m"(turns)
			 : [n] "i"(TURNS)
			 : "ecx", "edx", "esi", "memory", "cc");
	EXPECT_EQ(turns, TURNS);
	print("clock %u\n", clock - OUTSIDE);
}
