/* SPDX-License-Identifier: MIT */
/*
 * starving MILLISECONDS: two threads that only compute, one of a better priority, for so long.
 *
 * It measures nothing: how much each of the two functions executes is counted outside.
 */
#include <assay.h>
#include <mach.h>

#define STACK       (16 * 1024)
#define BETTER      30
#define WORSE       40
#define SWITCH_WAIT 2 /* thread_switch(): nobody in particular, for a time. */

static char better_stack[STACK], worse_stack[STACK];

static void better(void *unused)
{
	(void)unused;
	for (;;)
		__asm__ volatile("");
}

static void worse(void *unused)
{
	(void)unused;
	for (;;)
		__asm__ volatile("");
}

int main(int argc, char **argv)
{
	uint32_t thread;

	if (argc < 2 ||
	    thread_start(worse, NULL, worse_stack, STACK, WORSE, &thread) != KERN_SUCCESS ||
	    thread_start(better, NULL, better_stack, STACK, BETTER, &thread) != KERN_SUCCESS)
		return 1;
	thread_switch(MACH_PORT_NULL, SWITCH_WAIT, (uint32_t)strtoul(argv[1], NULL, 10));
	print("done\n");
	return 0;
}
