/* SPDX-License-Identifier: MIT */
/* Calls that send signals, and those that say what becomes of them.  Guarded by ux_lock. */
#include <mach/mig_errors.h>
#include <ux/bsd_types.h>

#include "process/process.h"
#include "process/thread.h"
#include "signal/signal.h"
#include <ux/bsd_server.h>

#define FLAGS (SA_ONSTACK | SA_RESTART | SA_RESETHAND | SA_NOCLDSTOP | SA_NODEFER | SA_SIGINFO)

static bool signal_is_signal(int signal)
{
	return signal > 0 && signal < NSIG;
}

/* ---------------- kill ---------------- */

/* Whether `pid`, as kill() takes it, means the process. */
static bool signal_is_meant(const struct process *sender, const struct process *process, pid_t pid)
{
	if (pid > 0)
		return process->pid == pid;
	if (pid == -1)
		return process->pid != 1 && process != sender;
	return process->pgrp == (pid == 0 ? sender->pgrp : -pid);
}

static struct signal_info signal_sent_by(const struct process *sender, int signal, int code)
{
	return (struct signal_info){
		.signal = signal, .code = code, .pid = sender->pid, .uid = sender->credentials.uid};
}

/* Signal 0 asks only whether it may be done.  EAGAIN: there is no room for what it tells. */
static int signal_send(struct process *sender, struct process *process,
		       const struct signal_info *info)
{
	if (!may_control(sender, process))
		return EPERM;
	if (info->signal == 0)
		return 0;
	if (!signal_process(process, info) && info->code == SI_QUEUE)
		return EAGAIN;
	if (process != sender)
		signal_check_later(process);
	return 0;
}

/* SIGKILL waits for nothing and nobody: the processes that have it pending are ended. */
static void signal_end_killed(void)
{
	struct list *link = processes.next;

	while (link != &processes) {
		struct process *process = list_object(link, struct process, link);

		link = link->next;
		if (process->is_exiting ||
		    (process->signals.pending.set & SIGNAL_BIT(SIGKILL)) == 0)
			continue;
		signal_kill(process);
		link = processes.next; /* The lock has been released. */
	}
}

/* To the sender's own threads the signal has come when the call returns. */
static kern_return_t signal_answer(struct thread *caller, int signal, int error)
{
	if (signal == SIGKILL)
		signal_end_killed();
	if (!caller->is_ending)
		signal_check(caller->process);
	return caller->is_ending ? MIG_NO_REPLY : error;
}

kern_return_t ux_kill(struct thread *caller, int pid, int signal)
{
	struct process *sender = caller->process;
	const struct signal_info info = signal_sent_by(sender, signal, SI_USER);
	bool is_sent = false;
	int error = ESRCH;
	struct list *link;

	if (signal != 0 && !signal_is_signal(signal))
		return EINVAL;
	list_for_each (link, &processes) {
		struct process *process = list_object(link, struct process, link);

		if (!signal_is_meant(sender, process, pid))
			continue;
		error = signal_send(sender, process, &info);
		is_sent |= error == 0;
	}
	return signal_answer(caller, signal, is_sent ? 0 : error);
}

kern_return_t ux_sigqueue(struct thread *caller, int pid, int signal, unsigned value)
{
	struct signal_info info = signal_sent_by(caller->process, signal, SI_QUEUE);
	struct process *process = process_by_pid(pid);

	if (signal != 0 && !signal_is_signal(signal))
		return EINVAL;
	if (process == NULL)
		return ESRCH;
	info.value = value;
	return signal_answer(caller, signal, signal_send(caller->process, process, &info));
}

kern_return_t ux_thread_kill(struct thread *caller, int id, int signal)
{
	struct process *process = caller->process;
	const struct signal_info info = signal_sent_by(process, signal, SI_TKILL);
	struct list *link;

	if (signal != 0 && !signal_is_signal(signal))
		return EINVAL;
	list_for_each (link, &process->threads) {
		struct thread *thread = list_object(link, struct thread, link);

		if (thread->id != id)
			continue;
		if (signal != 0)
			signal_thread(thread, &info);
		return signal_answer(caller, 0, 0);
	}
	return ESRCH;
}

/* ---------------- sigaction ---------------- */

static int signal_change_action(struct process *process, int signal,
				const struct signal_action *action)
{
	bool is_function = action->handler != SIG_DFL_WORD && action->handler != SIG_IGN_WORD;

	if (signal == SIGKILL || signal == SIGSTOP || (action->flags & ~FLAGS) != 0 ||
	    (is_function && action->trampoline == 0))
		return EINVAL;
	process->signals.actions[signal] = *action;
	process->signals.acted |= SIGNAL_BIT(signal);
	if (is_function)
		process->signals.trampoline = action->trampoline;
	if (signal_is_ignored(&process->signals, signal))
		signal_forget(process, SIGNAL_BIT(signal));
	return 0;
}

kern_return_t ux_sigaction(struct thread *caller, int signal, int change, unsigned handler,
			   sigset_t mask, int flags, unsigned trampoline, unsigned *old_handler,
			   sigset_t *old_mask, int *old_flags)
{
	const struct signal_action action = {.handler = handler,
					     .mask = signal_mask_of(mask),
					     .flags = flags,
					     .trampoline = trampoline};
	struct process *process = caller->process;
	struct signal_action old;
	int error = 0;

	if (!signal_is_signal(signal))
		return EINVAL;
	old = process->signals.actions[signal];
	if (change != 0)
		error = signal_change_action(process, signal, &action);
	if (error != 0)
		return error;
	*old_handler = old.handler;
	*old_mask = old.mask;
	*old_flags = old.flags;
	return 0;
}
