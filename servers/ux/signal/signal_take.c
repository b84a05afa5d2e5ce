/* SPDX-License-Identifier: MIT */
/*
 * Signals are taken: which thread takes what is pending, and what happens then.  Guarded by
 * ux_lock.
 *
 * A signal of a process goes to the first of its threads that does not block it.  Default actions
 * are carried out here, handlers are the business of signal_frame.c.
 */

#include <sys/wait.h>

#include "process/process.h"
#include "process/thread.h"
#include "signal/signal.h"
#include "trace/trace.h"

/* What the thread does wrong itself: a handler for that is to find the thread where it did it. */
#define SYNCHRONOUS                                                                           \
	(SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGBUS) | \
	 SIGNAL_BIT(SIGSEGV))

/* ---------------- Which ---------------- */

/* Those of the process's signals that no thread before this one would take. */
static sigset_t signal_left_to(const struct thread *thread)
{
	sigset_t left = thread->process->signals.pending.set;
	struct list *link;

	list_for_each (link, &thread->process->threads) {
		const struct thread *other = list_object(link, struct thread, link);

		if (other == thread)
			break;
		left &= other->signals.mask;
	}
	return left;
}

/* What the thread would take now. */
static sigset_t signal_due(const struct thread *thread)
{
	const struct process *process = thread->process;
	sigset_t pending;

	if (thread->is_ending || process->task == MACH_PORT_NULL || process->is_exiting)
		return 0;
	pending = (thread->signals.pending.set | signal_left_to(thread)) & ~thread->signals.mask;
	return process->signals.is_stopped ? pending & SIGNAL_BIT(SIGKILL) : pending;
}

/* 0: none.  A frame goes on top of those before it, so the first is the last to be handled. */
static int signal_first_of(sigset_t set)
{
	sigset_t first = (set & SIGNAL_BIT(SIGKILL)) != 0 ? SIGNAL_BIT(SIGKILL) : set & SYNCHRONOUS;

	return signal_lowest(first != 0 ? first : set);
}

/* The thread's own come first, but for the one that ends everything. */
static int signal_first_due(const struct thread *thread, sigset_t set)
{
	sigset_t own = set & thread->signals.pending.set;

	return signal_first_of(own != 0 && (set & SIGNAL_BIT(SIGKILL)) == 0 ? own : set);
}

bool signal_is_due(struct thread *thread)
{
	assert(ux_lock_held());
	return signal_due(thread) != 0;
}

int signal_interrupt_result(struct thread *thread)
{
	int signal = signal_first_due(thread, signal_due(thread));

	if (signal == 0 || signal_stops(signal))
		return ERESTARTSYS;
	return (thread->process->signals.actions[signal].flags & SA_RESTART) != 0 ? ERESTARTSYS
										  : EINTR;
}

/* ---------------- Default actions ---------------- */

/* Calls under way go on, but nobody hears of their end before SIGCONT. */
static void signal_stop(struct process *process, int signal)
{
	struct process_signals *signals = &process->signals;

	if (!signals->is_held && ux_patiently(task_suspend(process->task)) != KERN_SUCCESS)
		return; /* It is ending. */
	signals->is_held = signals->is_stopped = true;
	process_stopped(process, signal);
}

/*
 * Not before what ends or stops the process again; but before a handler, whose stack may be in
 * memory that the process's own threads provide.
 */
void signal_go_on(struct process *process)
{
	struct process_signals *signals = &process->signals;

	if (!signals->is_held || signals->is_stopped || process->is_exiting)
		return;
	/* Without memory the next signal tries again; else it runs already, or is no more. */
	signals->is_held = mach_is_short(ux_patiently(task_resume(process->task)));
}

static bool signal_has_handler(const struct process *process, int signal)
{
	uint32_t handler = process->signals.actions[signal].handler;

	return handler != SIG_DFL_WORD && handler != SIG_IGN_WORD;
}

/* Unlocks; thread and process may be gone. */
static void signal_act_by_default(struct thread *thread, int signal)
{
	struct process *process = thread->process;
	struct signal_info info = signal_told(thread, signal);

	signal_take(thread, signal);
	if (!signal_stops(signal)) {
		fault_end(thread, &info);
		return;
	}
	process_reference(process);
	trace_signal(process, thread, &info, SIG_DFL_WORD, thread->signals.mask);
	if (!process->is_exiting)
		signal_stop(process, signal);
	process_release(process);
}

void signal_kill(struct process *process)
{
	if (list_empty(&process->threads))
		process_exit(process, W_EXITCODE(0, SIGKILL));
	else
		signal_act_by_default(list_first_object(&process->threads, struct thread, link),
				      SIGKILL);
}

static void signal_act(struct thread *thread, int signal)
{
	struct process *process = thread->process;

	if (signal_is_ignored(&process->signals, signal)) {
		signal_forget(process, SIGNAL_BIT(signal));
		return;
	}
	if (signal_has_handler(process, signal)) {
		signal_go_on(process);
		signal_deliver(thread, signal);
		return;
	}
	signal_act_by_default(thread, signal);
}

/* ---------------- Taking ---------------- */

/*
 * What is to be taken now; 0: nothing.  Handlers of a thread that somebody is delivering to are
 * left to him: he looks for more himself.  What needs no delivery does not wait for one.
 */
static int signal_first_to_take(const struct thread *thread)
{
	sigset_t set = signal_due(thread);
	int signal = signal_first_due(thread, set);

	while (thread->signals.is_delivering && signal != 0 &&
	       signal_has_handler(thread->process, signal)) {
		set &= ~SIGNAL_BIT(signal);
		signal = signal_first_due(thread, set);
	}
	return signal;
}

/* Has one signal taken; false if there is none. */
static bool take_one(struct process *process)
{
	struct list *link;

	list_for_each (link, &process->threads) {
		struct thread *thread = list_object(link, struct thread, link);
		int signal = signal_first_to_take(thread);

		if (signal == 0)
			continue;
		signal_act(thread, signal);
		return true;
	}
	return false;
}

/* By number, as the lock has been released; if another process has it by now, no harm is done. */
void signal_check(struct process *process)
{
	pid_t pid = process->pid;

	assert(ux_lock_held());
	while (process != NULL && take_one(process))
		process = process_by_pid(pid);
	if (process != NULL)
		signal_go_on(process);
}

void signal_before_reply(struct thread *caller)
{
	assert(ux_lock_held());
	while (!caller->is_ending) {
		if (caller->signals.is_delivering)
			ux_sleep(&caller->signals, NULL);
		else if (signal_due(caller) != 0)
			signal_check(caller->process);
		else
			break;
	}
}

void signal_force(struct thread *thread, const struct signal_info *info)
{
	struct process *process = thread->process;
	int signal = info->signal;

	if (thread->is_ending || process->task == MACH_PORT_NULL || process->is_exiting)
		return;
	if (signal_is_ignored(&process->signals, signal) ||
	    (thread->signals.mask & SIGNAL_BIT(signal)) != 0 ||
	    (!process->signals.is_stopped && !signal_has_handler(process, signal))) {
		process->signals.taken++;
		fault_end(thread, info);
		return;
	}
	signal_thread(thread, info);
}
