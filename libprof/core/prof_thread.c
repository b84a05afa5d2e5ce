/* SPDX-License-Identifier: MIT */
/* A thread that only the kernel knows: see prof_thread.h. */
#include "prof_thread.h"

#include <mach.h>
#include <mach/i386/thread_status.h>
#include <mach/thread_info.h>

static uint32_t id_of(mach_port_t thread)
{
	struct thread_id_info info = {.id = 0};
	mach_msg_type_number_t count = THREAD_ID_INFO_COUNT;

	thread_info(thread, THREAD_ID_INFO, (thread_info_t)&info, &count);
	return info.id;
}

/* What run() finds on its stack: it was called from nowhere, with one argument. */
struct frame {
	uint32_t caller;
	void *argument;
};

static kern_return_t set_registers(mach_port_t thread, void (*run)(void *argument),
				   const struct frame *frame)
{
	struct i386_thread_state state = {.eip = (unsigned)(uintptr_t)run,
					  .uesp = (unsigned)(uintptr_t)frame};

	return thread_set_state(thread, i386_THREAD_STATE, (thread_state_t)&state,
				i386_THREAD_STATE_COUNT);
}

kern_return_t __prof_thread_start(void (*run)(void *argument), void *argument, void *top,
				  mach_port_t *thread, uint32_t *id)
{
	struct frame *frame = (struct frame *)top - 1;
	kern_return_t result = thread_create(mach_task_self_cached(), thread);

	if (result != KERN_SUCCESS)
		return result;
	*id = id_of(*thread);
	*frame = (struct frame){.caller = 0, .argument = argument};
	result = set_registers(*thread, run, frame);
	if (result == KERN_SUCCESS)
		result = thread_resume(*thread);
	if (result != KERN_SUCCESS) {
		thread_terminate(*thread);
		syscall_mach_port_deallocate(mach_task_self_cached(), *thread);
	}
	return result;
}
