/* SPDX-License-Identifier: MIT */
/* Exceptions of user programs: see exception.h. */
#include "kern/exception.h"

#include "kern/assert.h"
#include "kern/cpu_state.h"
#include "kern/lock.h"
#include "kern/log.h"
#include "kern/task.h"
#include "kern/thread.h"

#define STATUS_OF_EXCEPTION 128

static const char *exception_name(int exception)
{
	static const char *const names[] = {
		[EXC_BAD_ACCESS] = "EXC_BAD_ACCESS", [EXC_BAD_INSTRUCTION] = "EXC_BAD_INSTRUCTION",
		[EXC_ARITHMETIC] = "EXC_ARITHMETIC", [EXC_EMULATION] = "EXC_EMULATION",
		[EXC_SOFTWARE] = "EXC_SOFTWARE",     [EXC_BREAKPOINT] = "EXC_BREAKPOINT",
	};

	assert(exception > 0 && exception < (int)(sizeof names / sizeof names[0]));
	return names[exception];
}

void exception_raise(int exception, int code, uint32_t subcode)
{
	struct thread *thread = current_thread();
	struct task *task = thread->task;

	assert(kernel_locked());
	klog("task %u \"%s\", thread %u: %s, code %d, subcode 0x%x, at 0x%x: ended\n", task->id,
	     task->name, thread->id, exception_name(exception), code, (unsigned)subcode,
	     (unsigned)thread_user_pc(thread));
	task_end(task, STATUS_OF_EXCEPTION + exception);
}
