/* SPDX-License-Identifier: MIT */
/*
 * Signals: what is pending with processes and threads, and what they want done with it.  Who takes
 * them is in signal_take.c.  Guarded by ux_lock.
 */
#include "signal/signal.h"

#include "process/process.h"
#include "process/thread.h"

#define STOPS \
	(SIGNAL_BIT(SIGSTOP) | SIGNAL_BIT(SIGTSTP) | SIGNAL_BIT(SIGTTIN) | SIGNAL_BIT(SIGTTOU))
#define IGNORED                                                                               \
	(SIGNAL_BIT(SIGURG) | SIGNAL_BIT(SIGCONT) | SIGNAL_BIT(SIGCHLD) | SIGNAL_BIT(SIGIO) | \
	 SIGNAL_BIT(SIGWINCH) | SIGNAL_BIT(SIGINFO))
#define UNBLOCKABLE (SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP))

bool signal_stops(int signal)
{
	return (SIGNAL_BIT(signal) & STOPS) != 0;
}

sigset_t signal_mask_of(sigset_t set)
{
	return set & ~UNBLOCKABLE;
}

bool signal_is_ignored(const struct process_signals *signals, int signal)
{
	uint32_t handler = signals->actions[signal].handler;

	assert(signal > 0 && signal < NSIG);
	if (handler == SIG_DFL_WORD)
		return (SIGNAL_BIT(signal) & IGNORED) != 0;
	return handler == SIG_IGN_WORD;
}

/* ---------------- Life ---------------- */

void signals_init(struct process_signals *signals)
{
	*signals = (struct process_signals){0};
}

void signals_fork(struct process_signals *child, const struct process_signals *parent)
{
	signals_init(child);
	memcpy(child->actions, parent->actions, sizeof child->actions);
	child->trampoline = parent->trampoline;
}

void signals_exec(struct process_signals *signals)
{
	for (int signal = 1; signal < NSIG; signal++) {
		struct signal_action *action = &signals->actions[signal];

		if (action->handler != SIG_IGN_WORD)
			*action = (struct signal_action){0};
	}
	signals->trampoline = 0;
}

void thread_signals_init(struct thread_signals *signals, sigset_t mask)
{
	*signals = (struct thread_signals){.mask = mask, .stack.ss_flags = SS_DISABLE};
}

/* ---------------- Pending ---------------- */

/* Of several signals of a kind the first is told; expiries of a timer are added up. */
static void pend(sigset_t *pending, siginfo_t infos[NSIG], const siginfo_t *info)
{
	siginfo_t *known = &infos[info->si_signo];

	if ((*pending & SIGNAL_BIT(info->si_signo)) == 0)
		*known = *info;
	else if (known->si_code == SI_TIMER && info->si_code == SI_TIMER)
		known->si_status += info->si_status;
	*pending |= SIGNAL_BIT(info->si_signo);
}

void signal_forget(struct process *process, sigset_t set)
{
	struct list *link;

	assert(ux_lock_held());
	process->signals.pending &= ~set;
	list_for_each (link, &process->threads)
		list_object(link, struct thread, link)->signals.pending &= ~set;
}

void signal_take(struct thread *thread, int signal, siginfo_t *info)
{
	struct process_signals *shared = &thread->process->signals;
	struct thread_signals *own = &thread->signals;
	sigset_t bit = SIGNAL_BIT(signal);

	assert(((own->pending | shared->pending) & bit) != 0);
	if ((own->pending & bit) != 0) {
		*info = own->info[signal];
		own->pending &= ~bit;
	} else {
		*info = shared->info[signal];
		shared->pending &= ~bit;
	}
	shared->taken++;
}

/* ---------------- Sending ---------------- */

/* Its threads run when what was pending has been taken: a signal that ends it comes before them. */
static void let_go_on(struct process *process)
{
	if (!process->signals.is_stopped)
		return;
	process->signals.is_stopped = false;
	process_stopped(process, 0);
	/* Who delivers a signal there may be waiting for memory that its own threads provide. */
	if (process->signals.is_served)
		signal_go_on(process);
	signal_check_later(process);
}

/* What a signal does by being sent.  False: that was all, for the process does not want it. */
static bool signal_note_sent(struct process *process, int signal)
{
	assert(ux_lock_held());
	assert(signal > 0 && signal < NSIG);
	if (process->task == MACH_PORT_NULL || process->is_exiting)
		return false;
	if (signal == SIGCONT) {
		signal_forget(process, STOPS);
		let_go_on(process);
	} else if (signal_stops(signal)) {
		signal_forget(process, SIGNAL_BIT(SIGCONT));
	}
	return !signal_is_ignored(&process->signals, signal);
}

void signal_process(struct process *process, const siginfo_t *info)
{
	if (signal_note_sent(process, info->si_signo))
		pend(&process->signals.pending, process->signals.info, info);
}

void signal_thread(struct thread *thread, const siginfo_t *info)
{
	if (!thread->is_ending && signal_note_sent(thread->process, info->si_signo))
		pend(&thread->signals.pending, thread->signals.info, info);
}

void signal_process_number(struct process *process, int signal)
{
	const siginfo_t info = {.si_signo = signal, .si_code = SI_KERNEL};

	signal_process(process, &info);
}

void signal_group(pid_t pgrp, int signal)
{
	struct list *link;

	list_for_each (link, &processes) {
		struct process *process = list_object(link, struct process, link);

		if (process->pgrp != pgrp)
			continue;
		signal_process_number(process, signal);
		signal_check_later(process);
	}
}
