/* SPDX-License-Identifier: MIT */
/* Mach's traps: see traps.h. */
#include "kern/traps.h"

#include <assay/traps.h>

#include "kern/log.h"
#include "kern/sched.h"
#include "kern/thread.h"
#include "kern/tick.h"
#include "kern/work.h"

/* Entered by entry.S, which knows the true types by the count of words. */
#define TRAP(name, words)                      \
	{                                      \
		(trap_function *)(name), words \
	}

/* The numbers `first` to `last` that no trap has. */
#define HOLES(first, last) [first... last] = TRAP(trap_invalid, 0)

/* clang-format off */
const struct trap trap_table[MACH_TRAP_COUNT] = {
	HOLES(0, 29),
	[TRAP_mach_print]           = TRAP(trap_mach_print, 1),
	HOLES(31, 58),
	[TRAP_swtch_pri]            = TRAP(trap_swtch_pri, 1),
	[TRAP_swtch]                = TRAP(trap_swtch, 0),
	[TRAP_thread_switch]        = TRAP(trap_thread_switch, 3),
	HOLES(62, 99),
	[TRAP_assay_exit]           = TRAP(trap_exit, 1),
	[TRAP_assay_thread_create]  = TRAP(trap_thread_create, 4),
	[TRAP_assay_thread_exit]    = TRAP(trap_thread_exit, 0),
	[TRAP_assay_thread_join]    = TRAP(trap_thread_join, 2),
	[TRAP_assay_thread_bind]    = TRAP(trap_thread_bind, 1),
	[TRAP_assay_memory_map]     = TRAP(trap_memory_map, 3),
	[TRAP_assay_memory_unmap]   = TRAP(trap_memory_unmap, 2),
	[TRAP_assay_memory_protect] = TRAP(trap_memory_protect, 3),
	[TRAP_assay_clock_read]     = TRAP(trap_clock_read, 2),
	[TRAP_assay_sample_clock]   = TRAP(trap_sample_clock, 2),
	[TRAP_assay_sample_counts]  = TRAP(trap_sample_counts, 2),
	[TRAP_assay_counts]         = TRAP(trap_counts, 3),
	[TRAP_assay_cpu_info]       = TRAP(trap_cpu_info, 1),
	HOLES(113, MACH_TRAP_COUNT - 1),
};
/* clang-format on */

/* A hole in the table. */
TRAP_ABI kern_return_t trap_invalid(void)
{
	return KERN_INVALID_ARGUMENT;
}

/* Pauses after each line: one may scroll the screen, which takes ten thousand instructions. */
static void print_lines(const char *text, uint32_t length)
{
	uint32_t start = 0;

	for (uint32_t i = 0; i < length; i++) {
		if (text[i] != '\n')
			continue;
		console_write(text + start, i + 1 - start);
		start = i + 1;
		kernel_pause();
	}
	console_write(text + start, length - start);
}

TRAP_ABI kern_return_t trap_mach_print(user_address_t string)
{
	char part[256];
	uint32_t length;

	do {
		length = copyin_string(part, string, sizeof part);
		if (length == COPY_FAULT)
			return KERN_INVALID_ADDRESS;
		print_lines(part, length);
		string += length;
		kernel_rest();
		if (current_thread()->dying)
			return KERN_ABORTED;
	} while (length == sizeof part);
	return KERN_SUCCESS;
}

/* The priority is not looked at: any other thread may run before the caller does again. */
TRAP_ABI uint32_t trap_swtch_pri(uint32_t priority)
{
	(void)priority;
	return sched_yield(true);
}

TRAP_ABI uint32_t trap_swtch(void)
{
	return sched_yield(false);
}

/* `thread` names a thread to prefer; a name that means nothing is no error. */
TRAP_ABI kern_return_t trap_thread_switch(uint32_t thread, uint32_t option, uint32_t ms)
{
	struct wait_queue nobody;

	(void)thread;
	switch (option) {
	case SWITCH_OPTION_NONE:
		sched_yield(false);
		return KERN_SUCCESS;
	case SWITCH_OPTION_DEPRESS:
		sched_yield(true);
		return KERN_SUCCESS;
	case SWITCH_OPTION_WAIT:
		wait_queue_init(&nobody);
		thread_wait(&nobody, tick_after_ms(ms), WAIT_INTERRUPTIBLE);
		return KERN_SUCCESS;
	default:
		return KERN_INVALID_ARGUMENT;
	}
}
