/* SPDX-License-Identifier: MIT */
/*
 * A thread is sent into a handler: it is stopped wherever it is, what it was doing is written to
 * its stack as a struct signal_frame, and it goes on at the program's trampoline.
 *
 * To stop it and to write its stack may take long, or for ever if the stack's pager is a program:
 * the lock is released meanwhile.  After that the world may be another, so it is looked at again,
 * and if anything is different that matters, the thread goes on where it was and whoever has
 * signals taken begins anew.  What was written below its stack pointer by then is nobody's.
 *
 * A call of the server's that the thread had under way goes on, or is broken off if it waits
 * interruptibly; its answer waits at the thread's reply port until the handler is done.
 */
#include <mach/i386/eflags.h>
#include <mach/thread_status.h>

#include "process/process.h"
#include "process/thread.h"
#include "signal/signal.h"
#include "trace/trace.h"

#define STACK_ALIGN 16u /* As the ABI wants it where arguments begin: behind a return address. */

struct delivery {
	mach_port_t kernel, task; /* Rights of its own. */
	int signal;
	struct signal_action action;
	stack_t stack;
	sigset_t mask;       /* In force, */
	sigset_t mask_after; /* and after the handler. */
	struct signal_info info;
	bool stands_still; /* As it waits for an answer, which does not come meanwhile. */
	bool is_suspended;
	struct i386_thread_state state; /* Of the handler's beginning. */
};

enum outcome {
	WRITTEN,
	NO_STACK, /* The frame cannot be written where it should be. */
	GONE      /* The thread is ending. */
};

#define TOLD offsetof(struct signal_info, trap) /* What handlers see of it. */

_Static_assert(offsetof(siginfo_t, si_code) == offsetof(struct signal_info, code) &&
		       offsetof(siginfo_t, si_pid) == offsetof(struct signal_info, pid) &&
		       offsetof(siginfo_t, si_value) == offsetof(struct signal_info, value) &&
		       offsetof(siginfo_t, si_overrun) == offsetof(struct signal_info, overrun) &&
		       offsetof(siginfo_t, si_addr) == offsetof(struct signal_info, address),
	       "it is the beginning of siginfo_t");

/* ---------------- The frame ---------------- */

bool signal_is_on_stack(const stack_t *stack, uint32_t stack_pointer)
{
	uint32_t begin = (uint32_t)stack->ss_sp;

	return (stack->ss_flags & SS_DISABLE) == 0 && stack_pointer > begin &&
	       stack_pointer - begin <= stack->ss_size;
}

/* Where the frame goes. */
static uint32_t frame_address(const struct delivery *delivery, bool on_stack)
{
	const stack_t *stack = &delivery->stack;
	uint32_t top = delivery->state.uesp;

	if ((delivery->action.flags & SA_ONSTACK) != 0 && !on_stack &&
	    (stack->ss_flags & SS_DISABLE) == 0)
		top = (uint32_t)stack->ss_sp + stack->ss_size;
	return ((top - sizeof(struct signal_frame)) & ~(STACK_ALIGN - 1)) - sizeof(uint32_t);
}

static mcontext_t frame_registers_of(const struct i386_thread_state *state)
{
	return (mcontext_t){
		.gs = (uint16_t)state->gs,
		.fs = (uint16_t)state->fs,
		.es = (uint16_t)state->es,
		.ds = (uint16_t)state->ds,
		.edi = state->edi,
		.esi = state->esi,
		.ebp = state->ebp,
		.esp = state->uesp,
		.ebx = state->ebx,
		.edx = state->edx,
		.ecx = state->ecx,
		.eax = state->eax,
		.eip = state->eip,
		.cs = (uint16_t)state->cs,
		.eflags = state->efl,
		.esp_at_signal = state->uesp,
		.ss = (uint16_t)state->ss,
	};
}

static void frame_build_frame(const struct delivery *delivery, uint32_t address, bool on_stack,
			      struct signal_frame *frame)
{
	const struct signal_info *info = &delivery->info;
	mcontext_t *registers = &frame->context.uc_mcontext;

	*frame = (struct signal_frame){
		.signal = (uint32_t)delivery->signal,
		.siginfo = address + offsetof(struct signal_frame, info),
		.ucontext = address + offsetof(struct signal_frame, context),
		.handler = delivery->action.handler,
		.flags = (uint32_t)delivery->action.flags,
		.context = {.uc_stack = delivery->stack,
			    .uc_mcontext = frame_registers_of(&delivery->state),
			    .uc_sigmask = delivery->mask_after},
	};
	memcpy(&frame->info, info, TOLD);
	registers->trapno = info->trap;
	registers->oldmask = (uint32_t)delivery->mask_after;
	registers->cr2 = info->trap == TRAP_PAGE_FAULT ? info->address : 0;
	if (on_stack)
		frame->context.uc_stack.ss_flags |= SS_ONSTACK;
}

/* Puts the frame on the stack, and makes the state one in which the trampoline begins. */
static enum outcome frame_write_frame(struct delivery *delivery)
{
	bool on_stack = signal_is_on_stack(&delivery->stack, delivery->state.uesp);
	uint32_t address = frame_address(delivery, on_stack);
	struct signal_frame frame;

	frame_build_frame(delivery, address, on_stack, &frame);
	if (ux_patiently(vm_write(delivery->task, address, (pointer_t)&frame, sizeof frame)) !=
	    KERN_SUCCESS)
		return NO_STACK;
	delivery->state.uesp = address;
	delivery->state.eip = delivery->action.trampoline;
	delivery->state.efl &= ~(EFL_TF | EFL_DF);
	return WRITTEN;
}

/* ---------------- The thread ---------------- */

/* A thread must not wait in the kernel for anything when its registers are changed. */
static bool frame_stop_thread(struct delivery *delivery)
{
	if (delivery->stands_still)
		return true;
	delivery->is_suspended = ux_patiently(thread_suspend(delivery->kernel)) == KERN_SUCCESS;
	return delivery->is_suspended &&
	       ux_patiently(thread_abort(delivery->kernel)) == KERN_SUCCESS;
}

static bool frame_get_registers(struct delivery *delivery)
{
	mach_msg_type_number_t count = i386_REGS_SEGS_STATE_COUNT;

	return ux_patiently(thread_get_state(delivery->kernel, i386_REGS_SEGS_STATE,
					     (thread_state_t)&delivery->state, &count)) ==
	       KERN_SUCCESS;
}

/* Failures are of a thread that has ended meanwhile, or memory does not come back. */
static void frame_let_go(struct delivery *delivery)
{
	if (delivery->is_suspended)
		ux_patiently(thread_resume(delivery->kernel));
	syscall_mach_port_deallocate(mach_task_self_cached(), delivery->kernel);
	syscall_mach_port_deallocate(mach_task_self_cached(), delivery->task);
}

/* ---------------- Before and after ---------------- */

static sigset_t frame_mask_after(const struct thread_signals *signals)
{
	return signals->has_saved_mask ? signals->saved_mask : signals->mask;
}

/* A right that is in use keeps its name, so that the delivery never means another thread by it. */
static bool frame_keep_rights(struct delivery *delivery)
{
	mach_port_t self = mach_task_self_cached();

	if (mach_port_mod_refs(self, delivery->kernel, MACH_PORT_RIGHT_SEND, 1) != KERN_SUCCESS)
		return false;
	if (mach_port_mod_refs(self, delivery->task, MACH_PORT_RIGHT_SEND, 1) == KERN_SUCCESS)
		return true;
	syscall_mach_port_deallocate(self, delivery->kernel);
	return false;
}

static void frame_plan(struct delivery *delivery, const struct thread *thread, int signal)
{
	*delivery = (struct delivery){
		.kernel = thread->kernel,
		.task = thread->process->task,
		.signal = signal,
		.action = thread->process->signals.actions[signal],
		.stack = thread->signals.stack,
		.mask = thread->signals.mask,
		.mask_after = frame_mask_after(&thread->signals),
		.info = signal_told(thread, signal),
		.stands_still = thread->signals.stands_still,
	};
}

/* Whether the thread would still take the signal, and in the same way. */
static bool frame_is_unchanged(const struct delivery *delivery, const struct thread *thread)
{
	const struct process_signals *shared = &thread->process->signals;
	const struct thread_signals *own = &thread->signals;
	const struct signal_info told = signal_told(thread, delivery->signal);
	sigset_t bit = SIGNAL_BIT(delivery->signal);

	return !shared->is_stopped && ((own->pending.set | shared->pending.set) & bit) != 0 &&
	       memcmp(&told, &delivery->info, sizeof told) == 0 && own->mask == delivery->mask &&
	       frame_mask_after(own) == delivery->mask_after &&
	       memcmp(&shared->actions[delivery->signal], &delivery->action,
		      sizeof delivery->action) == 0 &&
	       memcmp(&own->stack, &delivery->stack, sizeof own->stack) == 0;
}

/* ---------------- Delivery ---------------- */

/* A program may end a thread without a word to the server. */
static void frame_forget_thread(struct thread *thread)
{
	struct process *process = thread->process;

	thread_end(thread);
	if (list_empty(&process->threads))
		process_exit(process, process->status);
}

/* The thread is in its handler from now on, when it is let go.  Unlocks. */
static void frame_commit(struct delivery *delivery, struct thread *thread)
{
	struct thread_signals *signals = &thread->signals;
	struct signal_action *action = &thread->process->signals.actions[delivery->signal];
	sigset_t blocked = action->mask;

	if (ux_patiently(thread_set_state(thread->kernel, i386_REGS_SEGS_STATE,
					  (thread_state_t)&delivery->state,
					  i386_REGS_SEGS_STATE_COUNT)) != KERN_SUCCESS) {
		frame_forget_thread(thread);
		return;
	}
	signal_take(thread, delivery->signal);
	if ((action->flags & SA_NODEFER) == 0)
		blocked |= SIGNAL_BIT(delivery->signal);
	signals->mask = signal_mask_of(signals->mask | blocked);
	signals->has_saved_mask = false;
	ux_interrupt(thread, (action->flags & SA_RESTART) != 0 ? ERESTARTSYS : EINTR);
	if ((action->flags & SA_RESETHAND) != 0)
		*action = (struct signal_action){0};
	trace_signal(thread->process, thread, &delivery->info, delivery->action.handler,
		     delivery->mask);
}

/* A thread without a stack is told so, if it has another one for that; else it ends the process. */
static void frame_refuse(struct delivery *delivery, struct thread *thread)
{
	const struct signal_info info = {.signal = SIGSEGV,
					 .code = SEGV_MAPERR,
					 .address = delivery->state.uesp,
					 .trap = TRAP_PAGE_FAULT,
					 .pc = delivery->state.eip,
					 .cause = CAUSE_FRAME};

	signal_take(thread, delivery->signal);
	if (delivery->signal == SIGSEGV)
		fault_end(thread, &info);
	else
		signal_force(thread, &info);
}

/* The process of a thread that has ended may be no more. */
static void frame_finish(struct delivery *delivery, struct thread *thread, enum outcome outcome)
{
	thread->signals.is_delivering = false;
	ux_wakeup(&thread->signals);
	if (thread->is_ending || thread->process->is_exiting ||
	    !frame_is_unchanged(delivery, thread))
		return;
	if (outcome == WRITTEN)
		frame_commit(delivery, thread);
	else if (outcome == NO_STACK)
		frame_refuse(delivery, thread);
	else
		frame_forget_thread(thread);
}

void signal_deliver(struct thread *thread, int signal)
{
	enum outcome outcome = GONE;
	struct delivery delivery;

	assert(!thread->signals.is_delivering);
	frame_plan(&delivery, thread, signal);
	if (!frame_keep_rights(&delivery)) {
		frame_forget_thread(thread);
		return;
	}
	thread_reference(thread);
	thread->signals.is_delivering = true;
	ux_unlock();
	if (frame_stop_thread(&delivery) && frame_get_registers(&delivery))
		outcome = frame_write_frame(&delivery);
	ux_lock();
	frame_finish(&delivery, thread, outcome);
	frame_let_go(&delivery);
	thread_release(thread);
}
