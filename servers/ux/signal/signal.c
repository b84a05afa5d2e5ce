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
	 SIGNAL_BIT(SIGWINCH))
#define UNBLOCKABLE (SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP))
#define ALL         (~(sigset_t)0)
#define WORD_BITS   32

bool signal_stops(int signal)
{
	return (SIGNAL_BIT(signal) & STOPS) != 0;
}

sigset_t signal_mask_of(sigset_t set)
{
	return set & ~UNBLOCKABLE;
}

int signal_lowest(sigset_t set)
{
	uint32_t low = (uint32_t)set, high = (uint32_t)(set >> WORD_BITS);

	if (low != 0)
		return __builtin_ffs((int)low);
	return high != 0 ? WORD_BITS + __builtin_ffs((int)high) : 0;
}

bool signal_is_ignored(const struct process_signals *signals, int signal)
{
	uint32_t handler = signals->actions[signal].handler;

	assert(signal > 0 && signal < NSIG);
	if (handler == SIG_DFL_WORD)
		return (SIGNAL_BIT(signal) & IGNORED) != 0;
	return handler == SIG_IGN_WORD;
}

/* ---------------- Pending ---------------- */

struct signal_note {
	struct list link;
	struct signal_info info;
};

/* The first of a signal's; null: it is not pending, or there was no memory. */
static struct signal_note *signal_note_of(const struct signals_pending *pending, int signal)
{
	struct list *link;

	if ((pending->set & SIGNAL_BIT(signal)) == 0)
		return NULL;
	list_for_each (link, &pending->notes) {
		struct signal_note *note = list_object(link, struct signal_note, link);

		if (note->info.signal == signal)
			return note;
	}
	return NULL;
}

/* Ordinary signals are few, and a fault's must be told: the limit is for real-time ones. */
static bool signal_note_add(struct process *process, struct signals_pending *pending,
			    const struct signal_info *info)
{
	struct signal_note *note = NULL;

	if (info->signal < SIGRTMIN || process->signals.notes < UX_SIGNALS_MAX)
		note = ux_allocate(sizeof *note);
	if (note == NULL)
		return false;
	note->info = *info;
	list_add_last(&pending->notes, &note->link);
	process->signals.notes++;
	return true;
}

static void signal_note_drop(struct process *process, struct signal_note *note)
{
	list_remove(&note->link);
	process->signals.notes--;
	ux_free(note);
}

/*
 * Of several ordinary signals of a kind the first is told; expiries of a timer are added up.  Where
 * there is no room for a note, what carries a value is not pending either.
 */
static bool signal_pend(struct process *process, struct signals_pending *pending,
			const struct signal_info *info)
{
	struct signal_note *known = NULL;
	bool is_noted = true;

	if (info->signal < SIGRTMIN)
		known = signal_note_of(pending, info->signal);
	if (known == NULL)
		is_noted = signal_note_add(process, pending, info);
	else if (known->info.code == SI_TIMER && info->code == SI_TIMER)
		known->info.overrun += info->overrun + 1;
	if (is_noted || info->code != SI_QUEUE)
		pending->set |= SIGNAL_BIT(info->signal);
	return is_noted;
}

static void signal_pending_forget(struct process *process, struct signals_pending *pending,
				  sigset_t set)
{
	struct list *link, *after;

	if ((pending->set & set) == 0)
		return;
	pending->set &= ~set;
	list_for_each_removable (link, after, &pending->notes) {
		struct signal_note *note = list_object(link, struct signal_note, link);

		if ((SIGNAL_BIT(note->info.signal) & set) != 0)
			signal_note_drop(process, note);
	}
}

void signal_forget(struct process *process, sigset_t set)
{
	struct list *link;

	assert(ux_lock_held());
	signal_pending_forget(process, &process->signals.pending, set);
	list_for_each (link, &process->threads)
		signal_pending_forget(
			process, &list_object(link, struct thread, link)->signals.pending, set);
}

/* ---------------- Life ---------------- */

void signals_init(struct process_signals *signals)
{
	list_init(&signals->pending.notes);
}

void signals_fork(struct process_signals *child, const struct process_signals *parent)
{
	signals_init(child);
	for (sigset_t left = parent->acted; left != 0; left &= left - 1) {
		int signal = signal_lowest(left);

		child->actions[signal] = parent->actions[signal];
	}
	child->acted = parent->acted;
	child->trampoline = parent->trampoline;
}

void signals_exec(struct process_signals *signals)
{
	for (sigset_t left = signals->acted; left != 0; left &= left - 1) {
		struct signal_action *action = &signals->actions[signal_lowest(left)];

		if (action->handler != SIG_IGN_WORD)
			*action = (struct signal_action){0};
	}
	signals->trampoline = 0;
}

void signals_end(struct process *process)
{
	signal_pending_forget(process, &process->signals.pending, ALL);
}

void thread_signals_init(struct thread_signals *signals)
{
	list_init(&signals->pending.notes);
	signals->stack.ss_flags = SS_DISABLE;
}

void thread_signals_end(struct thread *thread)
{
	signal_pending_forget(thread->process, &thread->signals.pending, ALL);
}

/* ---------------- Taking one ---------------- */

/* The thread's own come before those of its process. */
static bool signal_is_own(const struct thread *thread, int signal)
{
	return (thread->signals.pending.set & SIGNAL_BIT(signal)) != 0;
}

struct signal_info signal_told(const struct thread *thread, int signal)
{
	const struct signals_pending *pending = signal_is_own(thread, signal)
							? &thread->signals.pending
							: &thread->process->signals.pending;
	const struct signal_note *note = signal_note_of(pending, signal);

	return note != NULL ? note->info : (struct signal_info){.signal = signal, .code = SI_USER};
}

/* A real-time signal stays pending as long as there are more of it. */
void signal_take(struct thread *thread, int signal)
{
	struct signals_pending *pending = signal_is_own(thread, signal)
						  ? &thread->signals.pending
						  : &thread->process->signals.pending;
	struct signal_note *note = signal_note_of(pending, signal);

	assert((pending->set & SIGNAL_BIT(signal)) != 0);
	if (note != NULL)
		signal_note_drop(thread->process, note);
	if (signal_note_of(pending, signal) == NULL)
		pending->set &= ~SIGNAL_BIT(signal);
	thread->process->signals.taken++;
}

/* ---------------- Sending ---------------- */

/* The threads run when what was pending is taken: a signal that ends the process comes first. */
static void signal_let_go_on(struct process *process)
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
		signal_let_go_on(process);
	} else if (signal_stops(signal)) {
		signal_forget(process, SIGNAL_BIT(SIGCONT));
	}
	return !signal_is_ignored(&process->signals, signal);
}

bool signal_process(struct process *process, const struct signal_info *info)
{
	return !signal_note_sent(process, info->signal) ||
	       signal_pend(process, &process->signals.pending, info);
}

bool signal_thread(struct thread *thread, const struct signal_info *info)
{
	return thread->is_ending || !signal_note_sent(thread->process, info->signal) ||
	       signal_pend(thread->process, &thread->signals.pending, info);
}

void signal_process_number(struct process *process, int signal)
{
	const struct signal_info info = {.signal = signal, .code = SI_KERNEL};

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
