/* SPDX-License-Identifier: MIT */
/*
 * Calls that let a task serve its own traps, or have its instruction sequences restarted
 * (<mach/mach.defs>).  This kernel does neither: no task has such traps, and none can get them.
 */
#include <stddef.h>

#include <mach/mach_types.h>

#include "mach/mach_server.h"
#include "task/task.h"

kern_return_t task_get_emulation_vector(task_t task, int *start, emulation_vector_t *vector,
					mach_msg_type_number_t *count)
{
	if (task == NULL)
		return KERN_INVALID_ARGUMENT;
	*start = 0;
	*vector = NULL;
	*count = 0;
	return KERN_SUCCESS;
}

kern_return_t task_set_emulation_vector(task_t task, int start, emulation_vector_t vector,
					mach_msg_type_number_t count)
{
	(void)start;
	(void)vector;
	(void)count;
	return task == NULL ? KERN_INVALID_ARGUMENT : KERN_FAILURE;
}

kern_return_t task_set_emulation(task_t task, vm_address_t entry, int number)
{
	(void)entry;
	(void)number;
	return task == NULL ? KERN_INVALID_ARGUMENT : KERN_FAILURE;
}

kern_return_t task_ras_control(task_t task, vm_address_t start, vm_address_t end, int flavor)
{
	(void)start;
	(void)end;
	(void)flavor;
	return task == NULL ? KERN_INVALID_ARGUMENT : KERN_FAILURE;
}
