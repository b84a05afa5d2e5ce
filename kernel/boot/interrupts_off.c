/* SPDX-License-Identifier: MIT */
/* A stretch of code with interrupts off, for tests of what comes late or is not seen then. */
#include <mach/kern_return.h>

#include "base/arguments.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/machine.h"
#include "i386/cpu/cpu.h"
#include "task/traps.h"

#define LONGEST   100000u /* Microseconds. */
#define NS_PER_US 1000u

TRAP_ABI kern_return_t trap_interrupts_off(uint32_t microseconds)
{
	uint64_t until;

	assert(kernel_locked());
	if (argument_number("inject", 0) == 0)
		return KERN_NO_ACCESS;
	if (microseconds > LONGEST)
		return KERN_INVALID_ARGUMENT;
	until = machine_cycles() + clock_ns_to_cycles((uint64_t)microseconds * NS_PER_US);
	interrupts_off();
	while (machine_cycles() < until)
		continue;
	interrupts_on();
	return KERN_SUCCESS;
}
