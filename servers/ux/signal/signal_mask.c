/* SPDX-License-Identifier: MIT */
/*
 * Calls on a thread's own signals: its mask, waiting, the stack for handlers.  What becomes due by
 * a change of the mask is taken before the answer goes out (signal_before_reply()).  Guarded by
 * ux_lock.
 */
#include <mach/thread_status.h>
#include <ux/bsd_types.h>

#include "process/process.h"
#include "process/thread.h"
#include "signal/signal.h"
#include <ux/bsd_server.h>

kern_return_t ux_sigprocmask(struct thread *caller, int how, sigset_t set, sigset_t *old_mask)
{
	sigset_t mask = caller->signals.mask;

	switch (how) {
	case SIG_BLOCK:
		mask |= set;
		break;
	case SIG_UNBLOCK:
		mask &= ~set;
		break;
	case SIG_SETMASK:
		mask = set;
		break;
	default:
		return EINVAL;
	}
	*old_mask = caller->signals.mask;
	caller->signals.mask = signal_mask_of(mask);
	return 0;
}

kern_return_t ux_sigpending(struct thread *caller, sigset_t *pending)
{
	const struct thread_signals *signals = &caller->signals;

	*pending = (signals->pending.set | caller->process->signals.pending.set) & signals->mask;
	return 0;
}

/* ---------------- Waiting ---------------- */

/*
 * The mask is changed and the wait begins under the lock, so no signal comes in between.  Whoever
 * sends the thread into a handler clears has_saved_mask: the handler's end brings that mask back.
 */
kern_return_t ux_sigsuspend(struct thread *caller, sigset_t mask)
{
	struct thread_signals *signals = &caller->signals;

	signals->saved_mask = signals->mask;
	signals->has_saved_mask = true;
	signals->mask = signal_mask_of(mask);
	for (;;) {
		signal_before_reply(caller);
		if (!signals->has_saved_mask || caller->is_ending)
			return EINTR;
		ux_sleep(&signals->saved_mask, caller);
	}
}

/* ---------------- The alternate stack ---------------- */

/* The thread waits for the answer, so its registers stand still. */
static int mask_is_on_stack(const struct thread *thread, bool *on_stack)
{
	struct i386_thread_state state;
	mach_msg_type_number_t count = i386_REGS_SEGS_STATE_COUNT;

	if (thread_get_state(thread->kernel, i386_REGS_SEGS_STATE, (thread_state_t)&state,
			     &count) != KERN_SUCCESS)
		return ESRCH;
	*on_stack = signal_is_on_stack(&thread->signals.stack, state.uesp);
	return 0;
}

static int mask_change_stack(stack_t *stack, unsigned address, unsigned size, int flags)
{
	if ((flags & ~SS_DISABLE) != 0)
		return EINVAL;
	if (flags == SS_DISABLE) {
		*stack = (stack_t){.ss_flags = SS_DISABLE};
		return 0;
	}
	if (size < MINSIGSTKSZ)
		return ENOMEM;
	*stack = (stack_t){.ss_sp = (void *)address, .ss_size = size};
	return 0;
}

kern_return_t ux_sigaltstack(struct thread *caller, int change, unsigned address, unsigned size,
			     int flags, unsigned *old_address, unsigned *old_size, int *old_flags)
{
	stack_t old = caller->signals.stack;
	bool on_stack;
	int error = mask_is_on_stack(caller, &on_stack);

	if (error == 0 && change != 0)
		error = on_stack ? EPERM
				 : mask_change_stack(&caller->signals.stack, address, size, flags);
	if (error != 0)
		return error;
	*old_address = (unsigned)old.ss_sp;
	*old_size = old.ss_size;
	*old_flags = on_stack ? SS_ONSTACK : old.ss_flags;
	return 0;
}
