/* SPDX-License-Identifier: MIT */
/* What a program sees of signals that are queued: test_linux.py compares that with the host. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST  40      /* No library keeps this for itself, */
#define SECOND 41      /* nor this. */
#define NOBODY 5000000 /* Linux has no process of such a number. */
#define MANY   200

static void note(int signal, siginfo_t *info, void *context)
{
	(void)context;
	printf("%d, number %d, code %d, %s, value %d\n", signal, info->si_signo, info->si_code,
	       info->si_pid == getpid() ? "mine" : "another's",
	       info->si_code == SI_QUEUE ? info->si_value.sival_int : 0);
}

static void act(int signal)
{
	struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};

	sigfillset(&action.sa_mask);
	printf("sigaction %d\n", sigaction(signal, &action, NULL));
}

static void queue(int pid, int signal, int number)
{
	const union sigval value = {.sival_int = number};
	int result = sigqueue(pid, signal, value);

	printf("sigqueue %d %d: %d %s\n", signal, number, result,
	       result == 0 ? "" : strerror(errno));
}

static void hold(int how)
{
	sigset_t all;

	sigfillset(&all);
	printf("sigprocmask %d\n", sigprocmask(how, &all, NULL));
}

static void tell_pending(void)
{
	sigset_t set;

	sigpending(&set);
	printf("pending: %d %d %d\n", sigismember(&set, SIGUSR1), sigismember(&set, FIRST),
	       sigismember(&set, SECOND));
}

/* Of a real-time signal each comes, in order, with its value; of another kind the first. */
static void queue_several(void)
{
	hold(SIG_BLOCK);
	queue(getpid(), SECOND, 1);
	queue(getpid(), FIRST, 2);
	kill(getpid(), FIRST);
	queue(getpid(), FIRST, 3);
	queue(getpid(), SIGUSR1, 4);
	queue(getpid(), SIGUSR1, 5);
	queue(getpid(), SECOND, 6);
	raise(SECOND);
	tell_pending();
	hold(SIG_UNBLOCK);
	tell_pending();
}

static void queue_and_ignore(void)
{
	hold(SIG_BLOCK);
	for (int number = 0; number < MANY; number++)
		queue(getpid(), FIRST, number);
	signal(FIRST, SIG_IGN);
	tell_pending();
	hold(SIG_UNBLOCK);
	queue(getpid(), FIRST, 7);
	signal(FIRST, SIG_DFL);
}

static void die(int signal)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		kill(getpid(), signal);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("%d: signaled %d, by %d\n", signal, WIFSIGNALED(status), WTERMSIG(status));
}

int main(void)
{
	act(FIRST);
	act(SECOND);
	act(SIGUSR1);
	queue_several();
	queue_and_ignore();
	queue(getpid(), 0, 8);
	queue(getpid(), 65, 9);
	queue(NOBODY, FIRST, 10);
	for (int signal = FIRST; signal <= 64; signal += 12)
		die(signal);
	die(SIGSYS);
	return 0;
}
