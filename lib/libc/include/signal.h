/* SPDX-License-Identifier: MIT */
/* Signals. */
#ifndef _SIGNAL_H
#define _SIGNAL_H

#include <sys/signal.h>
#include <sys/types.h>

typedef int sig_atomic_t;
typedef void (*sighandler_t)(int);

#define SIG_DFL ((sighandler_t)0)
#define SIG_IGN ((sighandler_t)1)
#define SIG_ERR ((sighandler_t)-1)

struct sigaction {
	union {
		sighandler_t sa_handler;
		void (*sa_sigaction)(int, siginfo_t *, void *);
	};
	sigset_t sa_mask;
	int sa_flags;
};

sighandler_t signal(int signal, sighandler_t handler);
int sigaction(int signal, const struct sigaction *action, struct sigaction *old_action);
int sigprocmask(int how, const sigset_t *mask, sigset_t *old_mask);
int sigpending(sigset_t *pending);
int sigsuspend(const sigset_t *mask);
int sigaltstack(const stack_t *stack, stack_t *old_stack);

int kill(pid_t pid, int signal);
int killpg(pid_t pgrp, int signal);
int sigqueue(pid_t pid, int signal, const union sigval value);
int raise(int signal);

/* To one thread of this process, by the id that gettid() gives. */
int thread_kill(int thread, int signal);
int gettid(void);

int sigemptyset(sigset_t *set);
int sigfillset(sigset_t *set);
int sigaddset(sigset_t *set, int signal);
int sigdelset(sigset_t *set, int signal);
int sigismember(const sigset_t *set, int signal);

#endif
