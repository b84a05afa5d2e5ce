/* SPDX-License-Identifier: MIT */
/*
 * Signals of processes and threads.
 *
 * A signal is pending with a process or with one of its threads.  Whenever a thread may have to
 * take one (it was sent, or a mask was changed), signal_check() has it act: the default action is
 * carried out, or the thread is sent into its handler (signal_frame.c).
 */
#ifndef UX_SIGNAL_H
#define UX_SIGNAL_H

#include <sys/signal.h>

#include <assay/list.h>
#include "core/ux.h"

/* What a signal is for; all but the first are what a thread has done wrong itself. */
enum signal_cause {
	CAUSE_SENT,
	CAUSE_INSTRUCTION, /* That it executed. */
	CAUSE_TOUCH,       /* Of memory, */
	CAUSE_FRAME        /* or of its stack, where a handler's frame was to be put. */
};

/* What a handler is told: the beginning of siginfo_t, behind which there is nothing. */
struct signal_info {
	int signal;
	int error; /* 0 always. */
	int code;  /* SI_USER ... */
	union {
		struct {
			pid_t pid; /* Of whoever has sent it, or ended. */
			uid_t uid;
			uint32_t value; /* Of sigqueue(); of SIGCHLD, status or signal. */
		};
		struct {
			int timer;
			int overrun; /* How many times more a timer has expired. */
		};
		uint32_t address; /* Of a fault. */
	};
	uint32_t trap; /* Beside siginfo_t: the processor's number for the fault, */
	uint32_t pc;   /* where it was done, */
	enum signal_cause cause;
};

/* What is pending.  Without a note are signals when memory was short, and real-time ones that
 * came without a value when there were UX_SIGNALS_MAX. */
struct signals_pending {
	sigset_t set;
	struct list notes; /* Of `struct signal_note`, in the order in which they came. */
};

struct signal_action {
	uint32_t handler; /* SIG_DFL_WORD, SIG_IGN_WORD or an address. */
	sigset_t mask;    /* Blocked beside the signal itself while the handler runs. */
	int flags;        /* SA_ bits. */
	uint32_t trampoline;
};

struct process_signals {
	struct signals_pending pending;
	unsigned notes; /* With the process and its threads: real-time ones up to UX_SIGNALS_MAX. */
	struct signal_action actions[NSIG];
	sigset_t acted;             /* Those whose action was set, in this program or before. */
	uint32_t trampoline;        /* The last that was named; 0: none. */
	unsigned taken;             /* For rusage. */
	bool is_stopped;            /* It takes nothing but SIGKILL. */
	bool is_held;               /* Its task is suspended: it is stopped, or about to go on. */
	bool is_queued;             /* See signal_check_later(). */
	bool is_served;             /* A thread is at work for it there. */
	bool is_told;               /* Somebody is in fault_tell() for it. */
	mach_port_t exception_port; /* Its receive right; null: none yet. */
};

struct thread_signals {
	struct signals_pending pending;
	sigset_t mask;
	sigset_t saved_mask; /* Of before sigsuspend(), */
	bool has_saved_mask; /* if that is under way. */
	stack_t stack;       /* sigaltstack(): ss_flags is SS_DISABLE or 0. */
	bool is_delivering;  /* Somebody is about to send it into a handler: signal_frame.c. */
	bool stands_still;   /* It waits for the answer to an exception until this is false. */
};

#define TRAP_PAGE_FAULT 14

/* ---------------- Life (signal.c) ---------------- */

/*
 * A new process, whose structure is zero, and the child of a fork; exec keeps ignored signals and
 * forgets handlers.
 */
void signals_init(struct process_signals *signals);
void signals_fork(struct process_signals *child, const struct process_signals *parent);
void signals_exec(struct process_signals *signals);
void thread_signals_init(struct thread_signals *signals);

/* A process or thread ends: nothing is pending for it any more. */
void signals_end(struct process *process);
void thread_signals_end(struct thread *thread);

/* ---------------- Sending (signal.c) ---------------- */

/*
 * Makes a signal pending, and no more.  Nothing happens if the process ignores it, or is ending.
 * SIGCONT has a stopped process go on even then.  False: there is no room to note all that was to
 * be told, which matters only to who has sent more than a number.
 */
bool signal_process(struct process *process, const struct signal_info *info);
bool signal_thread(struct thread *thread, const struct signal_info *info);

/* From the server itself: SIGCHLD, SIGPIPE, SIGINT of a terminal ... */
void signal_process_number(struct process *process, int signal);
void signal_group(pid_t pgrp, int signal); /* With signal_check_later() for each. */

/* ---------------- Taking (signal_take.c) ---------------- */

/* Whether a signal waits that the thread would take, and the result of a call that it ends. */
bool signal_is_due(struct thread *thread);
int signal_interrupt_result(struct thread *thread);

/*
 * Has pending signals taken.  May end the process.  Unlocks; after it the caller must look whether
 * its thread still lives.  Called by whoever made one pending for the process that it works for,
 * and after a mask changed.  For other processes there is signal_check_later(), since the memory
 * that a handler's stack is in may be slow to come, or never come; it does not unlock.
 */
void signal_check(struct process *process);
void signal_check_later(struct process *process);

/*
 * Before an answer to a call goes out: what is due for the caller is taken, and what somebody else
 * is about to deliver to it has been delivered.  So a handler runs before the call that it broke
 * off returns.  Unlocks.
 */
void signal_before_reply(struct thread *caller);

/*
 * A signal that the thread has caused by itself, and cannot go on without: if it is blocked or has
 * no handler the process ends, and may be gone; else it is pending.  It needs no memory to end.
 * Unlocks.
 */
void signal_force(struct thread *thread, const struct signal_info *info);

/* ---------------- Who ends by a fault is told (fault.c) ---------------- */

/*
 * Ends the process of the thread by the signal, which is pending no more; for what the thread has
 * done wrong it is told where and why.  Unlocks.
 */
void fault_end(struct thread *thread, const struct signal_info *info);

/* As fault_end(), of a thread that the server has not made; `kernel` is the kernel's name of it. */
void fault_end_stranger(struct process *process, mach_port_t kernel,
			const struct signal_info *info);

/* Ends a process by SIGKILL that nobody has sent.  Unlocks. */
void fault_kill(struct process *process, const char *why);
void fault_kill_without_task(struct process *process); /* Somebody has ended that. */

/* ---------------- Between these files ---------------- */

/* What a process does with a signal. */
bool signal_is_ignored(const struct process_signals *signals, int signal);
bool signal_stops(int signal); /* By default. */

int signal_lowest(sigset_t set); /* 0: there is none. */

/* No longer pending, neither with the process nor with one of its threads. */
void signal_forget(struct process *process, sigset_t set);

/* What a signal that is due for the thread tells, and to take it from where it is pending. */
struct signal_info signal_told(const struct thread *thread, int signal);
void signal_take(struct thread *thread, int signal);

/* After SIGCONT: its threads run again, if it is not stopped. */
void signal_go_on(struct process *process);

/* The set without those that nobody can block. */
sigset_t signal_mask_of(sigset_t set);

/* SIGKILL, which is pending for the process, ends it.  Unlocks. */
void signal_kill(struct process *process);

/* Whether a thread with this stack pointer is on that stack. */
bool signal_is_on_stack(const stack_t *stack, uint32_t stack_pointer);

/*
 * Sends the thread into its handler for a signal that is due, unless the world has changed
 * meanwhile.  Unlocks; thread and process may be gone.
 */
void signal_deliver(struct thread *thread, int signal);

/*
 * The end of a handler, whose frame is at this address: the thread waits for the answer to an
 * exception, and is to go on with the registers and the mask of the frame.  Unlocks; the caller has
 * a reference to the thread.
 */
void signal_return(struct thread *thread, uint32_t frame);

/* ---------------- Exceptions (exception.c) ---------------- */

/* Starts the threads that wait for exceptions, and those for signal_check_later(). */
bool exceptions_start(void);

/*
 * Makes the exceptions of the process's task come to the server: a task that was just made.  Stops
 * it if the process is stopped.
 */
bool exceptions_catch(struct process *process);
void exceptions_forget(struct process *process);

/* The threads of signal_check_later(): signal_later.c. */
bool signal_workers_start(void);

#endif
