/* SPDX-License-Identifier: MIT */
/*
 * What host_calls_get() tells: the kernel's own calls, counted while host_calls_count() says so.
 *
 * A call site has one of these, and so has each address of a function in a table of the kernel's:
 * whoever reads it there and calls is not known.
 */
#ifndef MACH_CALLS_H
#define MACH_CALLS_H

#include <stdint.h>

struct host_call {
	uint32_t from;     /* Where the call returns to; 0 for an address in a table. */
	uint32_t to;       /* The function that is called. */
	uint32_t count[2]; /* How often, the lower half first. */
};

typedef unsigned *host_call_array_t; /* Of the words of such calls. */

#define HOST_CALL_WORDS (sizeof(struct host_call) / sizeof(unsigned))

#define HOST_CALLS_ALL_CPUS (-1)

/*
 * On whose behalf a call was made, where that is told apart: a task's label, the system's own work,
 * or anybody else.
 */
#define HOST_CALLS_SYSTEM 0u
#define HOST_CALLS_OTHERS 0xffffffffu

#define HOST_CALLS_LABELS \
	32u /* That can have counts of their own at once, the system's among them. */

#endif
