/* SPDX-License-Identifier: MIT */
/*
 * The end of a handler: a thread goes on where the signal has found it.
 *
 * Registers and mask are set in one go, by the server.  If the thread did one after the other,
 * signals could come in between, each on top of the last, until the stack is full.  What becomes
 * due by the mask finds the stack as it was before the handler.
 *
 * To read the frame may take long, so the lock is released meanwhile, as in signal_frame.c.
 */
#include <mach/thread_status.h>

#include "process/process.h"
#include "process/thread.h"
#include "signal/signal.h"

static bool signal_return_read_context(mach_port_t task, uint32_t frame, ucontext_t *context)
{
	mach_msg_type_number_t size;
	pointer_t data;

	if (ux_patiently(vm_read(task, frame + offsetof(struct signal_frame, context),
				 sizeof *context, &data, &size)) != KERN_SUCCESS)
		return false;
	memcpy(context, (const void *)data, sizeof *context);
	syscall_vm_deallocate(mach_task_self_cached(), data, size);
	return true;
}

static bool signal_return_set_registers_of(const struct thread *thread, const mcontext_t *registers)
{
	struct i386_thread_state state = {
		.gs = registers->gs,
		.fs = registers->fs,
		.es = registers->es,
		.ds = registers->ds,
		.edi = registers->edi,
		.esi = registers->esi,
		.ebp = registers->ebp,
		.ebx = registers->ebx,
		.edx = registers->edx,
		.ecx = registers->ecx,
		.eax = registers->eax,
		.eip = registers->eip,
		.cs = registers->cs,
		.efl = registers->eflags,
		.uesp = registers->esp,
		.ss = registers->ss,
	};

	return ux_patiently(thread_set_state(thread->kernel, i386_REGS_SEGS_STATE,
					     (thread_state_t)&state, i386_REGS_SEGS_STATE_COUNT)) ==
	       KERN_SUCCESS;
}

/*
 * The request of a sigsuspend() may have come while its thread was sent into the handler that ends
 * now: to the program, the handler has run within sigsuspend(), which is over by that.
 */
static void signal_return_set_mask(struct thread_signals *signals, sigset_t mask)
{
	signals->mask = signal_mask_of(mask);
	signals->has_saved_mask = false;
	ux_wakeup(&signals->saved_mask);
}

/* A context that the kernel refuses, or that is not there, is a mistake of the program's. */
static void signal_return_refuse(struct thread *thread, uint32_t frame)
{
	const struct signal_info info = {.signal = SIGSEGV,
					 .code = SEGV_MAPERR,
					 .address = frame,
					 .trap = TRAP_PAGE_FAULT,
					 .pc = thread->process->signals.trampoline - SIGNAL_END,
					 .cause = CAUSE_FRAME};

	fault_end(thread, &info);
}

static void signal_return_finish(struct thread *thread, uint32_t frame, bool is_read,
				 ucontext_t *context)
{
	thread->signals.is_delivering = false;
	ux_wakeup(&thread->signals);
	if (thread->is_ending || thread->process->is_exiting)
		return;
	if (!is_read || !signal_return_set_registers_of(thread, &context->uc_mcontext)) {
		signal_return_refuse(thread, frame);
		return;
	}
	signal_return_set_mask(&thread->signals, context->uc_sigmask);
}

void signal_return(struct thread *thread, uint32_t frame)
{
	struct process *process = process_reference(thread->process);
	mach_port_t task = process->task;
	ucontext_t context;
	bool is_read;

	assert(!thread->signals.is_delivering);
	thread->signals.is_delivering = true;
	ux_unlock();
	is_read = signal_return_read_context(task, frame, &context);
	ux_lock();
	signal_return_finish(thread, frame, is_read, &context);
	process_release(process);
}
