/* SPDX-License-Identifier: MIT */
/* What every function that may block asserts when it is called. */
#ifndef BASE_MAY_BLOCK_H
#define BASE_MAY_BLOCK_H

#include "base/assert.h"
#include "base/lock.h"

/*
 * The caller holds the kernel lock.  That nothing is half changed it has to know itself, and that
 * interrupts are on is asserted where the CPU is really given up (sched.c).
 */
static inline void may_block(void)
{
	assert(kernel_locked());
}

#endif
