/* SPDX-License-Identifier: MIT */
/* Calls that send signals, and that say what is to become of them. */
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "../internal.h"
#include "../sys/call.h"
#include "trampoline.h"

/*
 * What is done by default: nothing but the server's, unless a profiling library has something to
 * write first.  To the program that is the default all the same.
 */
static sighandler_t usual_handler(int signal)
{
	return __profile_handler != NULL ? __profile_handler(signal) : SIG_DFL;
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *old_action)
{
	static const struct sigaction none;
	struct sigaction old = {0};
	const struct sigaction *new = action != NULL ? action : &none;
	unsigned old_handler = 0;
	sighandler_t handler;
	kern_return_t result;

	if (is_bad_option(action, sizeof *action) || is_bad_option(old_action, sizeof old))
		return finish(EFAULT);
	handler = new->sa_handler == SIG_DFL ? usual_handler(signal) : new->sa_handler;
	result = CALL(bsd_sigaction, signal, action != NULL, (unsigned)(uintptr_t)handler,
		      new->sa_mask, new->sa_flags, (unsigned)(uintptr_t)__signal_trampoline,
		      &old_handler, &old.sa_mask, &old.sa_flags);
	if (finish(result) != 0)
		return -1;
	old.sa_handler = (sighandler_t)(uintptr_t)old_handler;
	if (old.sa_handler == usual_handler(signal))
		old.sa_handler = SIG_DFL;
	if (old_action != NULL)
		*old_action = old;
	return 0;
}

/* As 4.4BSD has it: the handler stays, and calls that it interrupts are made again. */
sighandler_t signal(int signal, sighandler_t handler)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct sigaction old;

	return sigaction(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

int sigprocmask(int how, const sigset_t *mask, sigset_t *old_mask)
{
	static const sigset_t none;
	sigset_t old = 0;

	if (is_bad_option(mask, sizeof *mask) || is_bad_option(old_mask, sizeof old))
		return finish(EFAULT);
	if (mask != NULL && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
		return finish(EINVAL);
	if (mask == NULL) { /* It only asks. */
		mask = &none;
		how = SIG_BLOCK;
	}
	if (finish(CALL(bsd_sigprocmask, how, *mask, &old)) != 0)
		return -1;
	if (old_mask != NULL)
		*old_mask = old;
	return 0;
}

int sigpending(sigset_t *pending)
{
	if (is_bad(pending, sizeof *pending))
		return finish(EFAULT);
	return finish(CALL(bsd_sigpending, pending));
}

int sigsuspend(const sigset_t *mask)
{
	if (is_bad(mask, sizeof *mask))
		return finish(EFAULT);
	return finish(bsd_sigsuspend(ux_port(), *mask));
}

int pause(void)
{
	sigset_t mask = 0;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	return sigsuspend(&mask);
}

int sigaltstack(const stack_t *stack, stack_t *old_stack)
{
	stack_t none = {0}, old = {0};
	const stack_t *new = stack != NULL ? stack : &none;
	unsigned address = 0;

	if (is_bad_option(stack, sizeof *stack) || is_bad_option(old_stack, sizeof old))
		return finish(EFAULT);
	if (finish(CALL(bsd_sigaltstack, stack != NULL, (unsigned)(uintptr_t) new->ss_sp,
			new->ss_size, new->ss_flags, &address, &old.ss_size, &old.ss_flags)) != 0)
		return -1;
	old.ss_sp = (void *)(uintptr_t)address;
	if (old_stack != NULL)
		*old_stack = old;
	return 0;
}

int kill(pid_t pid, int signal)
{
	return finish(CALL(bsd_kill, pid, signal));
}

int sigqueue(pid_t pid, int signal, const union sigval value)
{
	return finish(CALL(bsd_sigqueue, pid, signal, (unsigned)value.sival_int));
}

int killpg(pid_t pgrp, int signal)
{
	return kill(-pgrp, signal);
}

int thread_kill(int thread, int signal)
{
	return finish(CALL(bsd_thread_kill, thread, signal));
}

int gettid(void)
{
	return tcb_self()->id;
}

int raise(int signal)
{
	return thread_kill(gettid(), signal);
}
