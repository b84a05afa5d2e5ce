/* SPDX-License-Identifier: MIT */
/* Mach's traps: see traps.h. */
#include "task/traps.h"

#include <assay/traps.h>
#include <mach/port.h>

#include "base/assert.h"
#include "base/log.h"
#include "thread/thread.h"
#include "thread/work.h"

/* Entered by entry.S, which knows the true types by the count of words. */
#define TRAP(name, words)                                       \
	{                                                       \
		(trap_function *)(name), gate_arguments_##words \
	}

/* The numbers `first` to `last` that no trap has. */
#define HOLES(first, last) [TRAP_ROW(last)... TRAP_ROW(first)] = TRAP(trap_invalid, 0)

/* clang-format off */
const struct trap trap_table[TRAP_ROW(0)] = {
	HOLES(1, 9),
	[TRAP_ROW(TRAP_old_thread_self) ... TRAP_ROW(TRAP_old_task_self)] = TRAP(trap_no_port, 0),
	HOLES(14, 24),
	[TRAP_ROW(TRAP_mach_msg)]               = TRAP(trap_mach_msg, 7),
	[TRAP_ROW(TRAP_mach_reply_port)]        = TRAP(trap_mach_reply_port, 0),
	[TRAP_ROW(TRAP_mach_thread_self)]       = TRAP(trap_mach_thread_self, 0),
	[TRAP_ROW(TRAP_mach_task_self)]         = TRAP(trap_mach_task_self, 0),
	[TRAP_ROW(TRAP_mach_host_self)]         = TRAP(trap_mach_host_self, 0),
	[TRAP_ROW(TRAP_mach_print)]             = TRAP(trap_mach_print, 1),
	HOLES(31, 54),
	[TRAP_ROW(TRAP_old_host_self)]          = TRAP(trap_no_port, 0),
	HOLES(56, 58),
	[TRAP_ROW(TRAP_swtch_pri)]              = TRAP(trap_swtch_pri, 1),
	[TRAP_ROW(TRAP_swtch)]                  = TRAP(trap_swtch, 0),
	[TRAP_ROW(TRAP_thread_switch)]          = TRAP(trap_thread_switch, 3),
	HOLES(62, 63),
	[TRAP_ROW(TRAP_vm_map)]                 = TRAP(trap_vm_map, 11),
	[TRAP_ROW(TRAP_vm_allocate)]            = TRAP(trap_vm_allocate, 4),
	[TRAP_ROW(TRAP_vm_deallocate)]          = TRAP(trap_vm_deallocate, 3),
	HOLES(67, 67),
	[TRAP_ROW(TRAP_task_create)]            = TRAP(trap_task_create, 3),
	[TRAP_ROW(TRAP_task_terminate)]         = TRAP(trap_task_terminate, 1),
	[TRAP_ROW(TRAP_task_suspend)]           = TRAP(trap_task_suspend, 1),
	[TRAP_ROW(TRAP_task_set_special_port)]  = TRAP(trap_task_set_special_port, 3),
	[TRAP_ROW(TRAP_mach_port_allocate)]     = TRAP(trap_mach_port_allocate, 3),
	[TRAP_ROW(TRAP_mach_port_deallocate)]   = TRAP(trap_mach_port_deallocate, 2),
	[TRAP_ROW(TRAP_mach_port_insert_right)] = TRAP(trap_mach_port_insert_right, 4),
	[TRAP_ROW(TRAP_mach_port_allocate_name)]= TRAP(trap_mach_port_allocate_name, 3),
	[TRAP_ROW(TRAP_thread_depress_abort)]   = TRAP(trap_thread_depress_abort, 1),
	[TRAP_ROW(TRAP_thread_set_self_state)]  = TRAP(trap_thread_set_self_state, 3),
	HOLES(78, 99),
	[TRAP_ROW(TRAP_assay_exit)]             = TRAP(trap_exit, 1),
	[TRAP_ROW(TRAP_assay_thread_create)]    = TRAP(trap_thread_create, 4),
	[TRAP_ROW(TRAP_assay_thread_exit)]      = TRAP(trap_thread_exit, 0),
	[TRAP_ROW(TRAP_assay_thread_join)]      = TRAP(trap_thread_join, 2),
	[TRAP_ROW(TRAP_assay_thread_bind)]      = TRAP(trap_thread_bind, 1),
	[TRAP_ROW(TRAP_assay_memory_map)]       = TRAP(trap_memory_map, 3),
	[TRAP_ROW(TRAP_assay_memory_unmap)]     = TRAP(trap_memory_unmap, 2),
	[TRAP_ROW(TRAP_assay_memory_protect)]   = TRAP(trap_memory_protect, 3),
	[TRAP_ROW(TRAP_assay_clock_read)]       = TRAP(trap_clock_read, 2),
	[TRAP_ROW(TRAP_assay_thread_label)]     = TRAP(trap_thread_label, 0),
	HOLES(110, 110),
	[TRAP_ROW(TRAP_assay_counts)]           = TRAP(trap_counts, 3),
	[TRAP_ROW(TRAP_assay_cpu_info)]         = TRAP(trap_cpu_info, 1),
	[TRAP_ROW(TRAP_assay_thread_serve)]     = TRAP(trap_thread_serve, 1),
	[TRAP_ROW(TRAP_assay_fail_allocation)]  = TRAP(trap_fail_allocation, 2),
	[TRAP_ROW(TRAP_assay_allocation_site)]  = TRAP(trap_allocation_site, 2),
	[TRAP_ROW(TRAP_assay_interrupts_off)]   = TRAP(trap_interrupts_off, 1),
	[TRAP_ROW(TRAP_assay_count_call)]       = TRAP(trap_count_call, 2),
	[TRAP_ROW(TRAP_assay_event_pass)]       = TRAP(trap_event_pass, 2),
	[TRAP_ROW(TRAP_assay_event_attribute)]  = TRAP(trap_event_attribute, 1),
	HOLES(120, MACH_TRAP_COUNT - 1),
};
/* clang-format on */

void traps_check(void)
{
	for (unsigned row = 0; row < TRAP_ROW(0); row++)
		assert(trap_table[row].function != NULL && trap_table[row].arguments != NULL);
}

/* A hole in the table. */
TRAP_ABI kern_return_t trap_invalid(void)
{
	return KERN_INVALID_ARGUMENT;
}

/* A place whose answer was once the name of a port. */
TRAP_ABI uint32_t trap_no_port(void)
{
	return MACH_PORT_NULL;
}

/* Pauses after each line: one may scroll the screen, which takes ten thousand instructions. */
static void traps_print_lines(const char *text, uint32_t length)
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

#define PRINT_PART 256u /* Bytes of a text that are on the stack at a time. */

TRAP_ABI kern_return_t trap_mach_print(user_address_t string)
{
	char part[PRINT_PART];
	uint32_t length;

	do {
		length = copyin_string(part, string, sizeof part);
		if (length == COPY_FAULT)
			return KERN_INVALID_ADDRESS;
		traps_print_lines(part, length);
		string += length;
		kernel_rest();
		if (thread_is_dying(current_thread()))
			return KERN_ABORTED;
	} while (length == sizeof part);
	return KERN_SUCCESS;
}
