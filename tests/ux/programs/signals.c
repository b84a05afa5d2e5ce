/* SPDX-License-Identifier: MIT */
/*
 * Signals between processes and threads: who gets one, when, and what it does to calls.
 *
 * guest: user=root cpus=1 limit=30
 * guest: user=student cpus=2 limit=30 seed=1
 */
#include <assay.h>
#include <cthreads.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ux.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_unix.h"

#define ROUNDS  100
#define NO_USER 4711

static volatile sig_atomic_t handled, last, last_code, last_pid, depth, deepest;

static void note(int signal)
{
	handled++;
	last = signal;
}

static void note_info(int signal, siginfo_t *info, void *context)
{
	note(signal);
	last_code = info->si_code;
	last_pid = info->si_pid;
	EXPECT_EQ(info->si_signo, signal);
	EXPECT(context != NULL);
}

static void act(int signal, void (*handler)(int), int flags, sigset_t mask)
{
	const struct sigaction action = {.sa_handler = handler, .sa_flags = flags, .sa_mask = mask};

	EXPECT_EQ(sigaction(signal, &action, NULL), 0);
	handled = 0;
}

static void act_info(int signal)
{
	const struct sigaction action = {.sa_sigaction = note_info, .sa_flags = SA_SIGINFO};

	EXPECT_EQ(sigaction(signal, &action, NULL), 0);
	handled = 0;
}

static void set_mask(sigset_t mask)
{
	EXPECT_EQ(sigprocmask(SIG_SETMASK, &mask, NULL), 0);
}

static sigset_t get_mask(void)
{
	sigset_t mask = 0;

	EXPECT_EQ(sigprocmask(SIG_BLOCK, NULL, &mask), 0);
	return mask;
}

/* How a child that does this ends. */
static int status_of(void (*run)(int), int argument)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		check_failures = 0;
		run(argument);
		_exit(0);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

/* ---------------- To oneself ---------------- */

TEST(handler_runs_before_kill_returns)
{
	act_info(SIGUSR1);
	for (int round = 1; round <= ROUNDS; round++) {
		EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
		EXPECT_EQ(handled, round);
	}
	EXPECT_EQ(last_code, SI_USER);
	EXPECT_EQ(last_pid, getpid());
	EXPECT_EQ(raise(SIGUSR1), 0);
	EXPECT_EQ(handled, ROUNDS + 1);
	EXPECT_EQ(last_code, SI_TKILL);
}

TEST(blocked_signals_wait)
{
	sigset_t pending = 0;

	act(SIGUSR1, note, 0, 0);
	act(SIGUSR2, note, 0, 0);
	set_mask(SIGNAL_BIT(SIGUSR1));
	raise(SIGUSR1);
	raise(SIGUSR1);
	raise(SIGUSR2);
	EXPECT_EQ(handled, 1);
	EXPECT_EQ(sigpending(&pending), 0);
	EXPECT_EQ(pending, SIGNAL_BIT(SIGUSR1));
	set_mask(0);
	EXPECT_EQ(handled, 2);
	EXPECT_EQ(last, SIGUSR1);
	EXPECT_EQ(sigpending(&pending), 0);
	EXPECT_EQ(pending, 0);
}

static siginfo_t told;

static void keep_info(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	told = *info;
}

/* More than the server notes for a process fail, and disturb no others: those are told in full. */
TEST(signals_are_queued_up_to_a_limit)
{
	const union sigval value = {.sival_int = 1};

	const struct sigaction action = {.sa_sigaction = keep_info, .sa_flags = SA_SIGINFO};

	act(SIGRTMIN, note, 0, 0);
	EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
	set_mask(SIGNAL_BIT(SIGRTMIN) | SIGNAL_BIT(SIGUSR1));
	for (int n = 0; n < UX_SIGNALS_MAX; n++)
		EXPECT_EQ(sigqueue(getpid(), SIGRTMIN, value), 0);
	EXPECT_FAILS(sigqueue(getpid(), SIGRTMIN, value), EAGAIN);
	EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
	set_mask(0);
	EXPECT_EQ(handled, UX_SIGNALS_MAX);
	EXPECT_EQ(told.si_signo, SIGUSR1);
	EXPECT_EQ(told.si_pid, getpid());
}

TEST(some_cannot_be_blocked)
{
	set_mask(~(sigset_t)0);
	EXPECT_EQ(get_mask(), ~(SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP)));
	set_mask(0);
}

TEST(ignored_signals_are_forgotten)
{
	set_mask(SIGNAL_BIT(SIGUSR1));
	act(SIGUSR1, note, 0, 0);
	raise(SIGUSR1);
	act(SIGUSR1, SIG_IGN, 0, 0);
	act(SIGUSR1, note, 0, 0);
	set_mask(0);
	EXPECT_EQ(handled, 0);
	act(SIGUSR1, SIG_IGN, 0, 0);
	raise(SIGUSR1);
	act(SIGUSR1, note, 0, 0);
	EXPECT_EQ(handled, 0);
}

/* ---------------- While a handler runs ---------------- */

static void note_depth(int signal)
{
	depth++;
	deepest = depth > deepest ? depth : deepest;
	if (handled++ < 3)
		raise(signal);
	depth--;
}

TEST(handlers_do_not_nest_unless_asked)
{
	act(SIGUSR1, note_depth, 0, 0);
	deepest = 0;
	raise(SIGUSR1);
	EXPECT_EQ(deepest, 1);
	EXPECT_EQ(handled, 4);
	act(SIGUSR1, note_depth, SA_NODEFER, 0);
	raise(SIGUSR1);
	EXPECT_EQ(deepest, 4);
	EXPECT_EQ(get_mask(), 0);
}

static void raise_the_other(int signal)
{
	(void)signal;
	depth = handled;
	raise(SIGUSR2);
	EXPECT_EQ(handled, depth);
	EXPECT_EQ(get_mask(), SIGNAL_BIT(SIGUSR1) | SIGNAL_BIT(SIGUSR2));
}

TEST(an_actions_mask_is_blocked_too)
{
	act(SIGUSR2, note, 0, 0);
	act(SIGUSR1, raise_the_other, 0, SIGNAL_BIT(SIGUSR2));
	raise(SIGUSR1);
	EXPECT_EQ(handled, 1);
	EXPECT_EQ(get_mask(), 0);
}

TEST(a_handler_for_once)
{
	struct sigaction action;

	act(SIGURG, note, SA_RESETHAND, 0);
	raise(SIGURG);
	raise(SIGURG);
	EXPECT_EQ(handled, 1);
	EXPECT_EQ(sigaction(SIGURG, NULL, &action), 0);
	EXPECT(action.sa_handler == SIG_DFL);
}

static volatile double product;

static void multiply(int signal)
{
	product = product * 3 + signal;
}

TEST(the_fpu_is_as_it_was)
{
	double sum = 0;

	act(SIGUSR1, multiply, 0, 0);
	for (int round = 0; round < ROUNDS; round++) {
		sum += 0.5;
		raise(SIGUSR1);
	}
	EXPECT(sum == ROUNDS / 2.0);
}

/* ---------------- What signals do by default ---------------- */

static void die(int signal)
{
	raise(signal);
}

TEST(default_actions)
{
	static const int ending[] = {SIGHUP,  SIGINT,    SIGQUIT, SIGILL,  SIGTRAP,
				     SIGABRT, SIGFPE,    SIGKILL, SIGBUS,  SIGSEGV,
				     SIGSYS,  SIGPIPE,   SIGALRM, SIGTERM, SIGXCPU,
				     SIGXFSZ, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2};
	static const int ignored[] = {SIGURG, SIGCHLD, SIGIO, SIGWINCH, SIGCONT};

	act(SIGUSR1, SIG_DFL, 0, 0);
	act(SIGUSR2, SIG_DFL, 0, 0);
	for (unsigned n = 0; n < sizeof ending / sizeof ending[0]; n++)
		EXPECT_EQ(status_of(die, ending[n]), ending[n]);
	for (unsigned n = 0; n < sizeof ignored / sizeof ignored[0]; n++)
		EXPECT_EQ(status_of(die, ignored[n]), 0);
}

/* It goes on where it stopped. */
static void stop_and_exit(int signal)
{
	raise(signal);
	_exit(7);
}

TEST(stopped_children)
{
	static const int stopping[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};

	for (unsigned n = 0; n < sizeof stopping / sizeof stopping[0]; n++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0)
			stop_and_exit(stopping[n]);
		EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
		EXPECT(WIFSTOPPED(status));
		EXPECT_EQ(WSTOPSIG(status), stopping[n]);
		EXPECT_EQ(waitpid(pid, &status, WUNTRACED | WNOHANG), 0);
		EXPECT_EQ(kill(pid, SIGTERM), 0); /* Waits until it goes on. */
		EXPECT_EQ(waitpid(pid, &status, WNOHANG), 0);
		EXPECT_EQ(kill(pid, n % 2 == 0 ? SIGKILL : SIGCONT), 0);
		EXPECT_EQ(waitpid(pid, &status, 0), pid);
		EXPECT_EQ(status, n % 2 == 0 ? SIGKILL : SIGTERM);
	}
}

/* What came while it was stopped ends it before it does anything, wherever its CPU is. */
TEST(it_ends_where_it_stopped)
{
	for (int n = 0; n < ROUNDS; n++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0)
			stop_and_exit(SIGSTOP);
		EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
		EXPECT_EQ(kill(pid, SIGTERM), 0);
		EXPECT_EQ(kill(pid, SIGCONT), 0);
		EXPECT_EQ(waitpid(pid, &status, 0), pid);
		EXPECT_EQ(status, SIGTERM);
	}
}

TEST(a_child_goes_on)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		stop_and_exit(SIGSTOP);
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, W_EXITCODE(7, 0));
}

/* ---------------- Calls that wait ---------------- */

/* Sends signals to its parent for ever, or so many and then a byte; and lets it run in between. */
static pid_t start_pest(int to, int signals)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	for (int n = 0; signals == 0 || n < signals; n++) {
		if (kill(getppid(), SIGUSR1) != 0)
			_exit(1);
		swtch();
	}
	_exit(write(to, "x", 1) == 1 ? 0 : 1);
}

static void end_pest(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) != pid)
		EXPECT_EQ(errno, EINTR);
}

TEST(reads_are_broken_off)
{
	int ends[2];
	char byte;
	pid_t pid;

	act(SIGUSR1, note, 0, 0);
	EXPECT_EQ(pipe(ends), 0);
	pid = start_pest(ends[1], 0);
	EXPECT_FAILS(read(ends[0], &byte, 1), EINTR);
	EXPECT(handled > 0);
	end_pest(pid);
	close(ends[0]);
	close(ends[1]);
}

TEST(reads_are_made_again)
{
	int ends[2];
	char byte = 0;
	pid_t pid;

	act(SIGUSR1, note, SA_RESTART, 0);
	EXPECT_EQ(pipe(ends), 0);
	pid = start_pest(ends[1], ROUNDS);
	EXPECT_EQ(read(ends[0], &byte, 1), 1);
	EXPECT_EQ(byte, 'x');
	EXPECT(handled > 0);
	end_pest(pid);
	close(ends[0]);
	close(ends[1]);
}

/* Each waits for the other's signal and then sends one: a lost one would be the end. */
static void ping_pong(pid_t other)
{
	const sigset_t none = 0;

	for (int round = 1; round <= ROUNDS; round++) {
		while (handled < round)
			EXPECT_FAILS(sigsuspend(&none), EINTR);
		kill(other, SIGUSR1);
	}
}

TEST(no_wake_up_is_lost)
{
	pid_t pid;

	act(SIGUSR1, note, 0, 0);
	set_mask(SIGNAL_BIT(SIGUSR1));
	pid = fork();
	if (pid == 0) {
		check_failures = 0;
		ping_pong(getppid());
		_exit(check_failures);
	}
	kill(pid, SIGUSR1);
	ping_pong(pid);
	EXPECT_EQ(get_mask(), SIGNAL_BIT(SIGUSR1));
	end_pest(pid);
	set_mask(0);
}

/* ---------------- Whom ---------------- */

static void send_to_nobody(int unused)
{
	(void)unused;
	EXPECT_EQ(setuid(NO_USER), 0);
	EXPECT_FAILS(kill(1, 0), EPERM);
	EXPECT_FAILS(kill(1, SIGTERM), EPERM);
	EXPECT_EQ(kill(-1, SIGTERM), -1);
	EXPECT_EQ(kill(getpid(), 0), 0);
	EXPECT_EQ(kill(0, 0), 0);
	_exit(check_failures);
}

TEST(errors)
{
	struct sigaction action = {.sa_handler = note};
	sigset_t mask = 0;

	EXPECT_FAILS(kill(getpid(), NSIG), EINVAL);
	EXPECT_FAILS(kill(getpid(), -1), EINVAL);
	EXPECT_FAILS(kill(30000, SIGTERM), ESRCH);
	EXPECT_FAILS(kill(-30000, SIGTERM), ESRCH);
	EXPECT_FAILS(thread_kill(99, SIGTERM), ESRCH);
	EXPECT_FAILS(thread_kill(gettid(), NSIG), EINVAL);
	EXPECT_FAILS(sigaction(0, &action, NULL), EINVAL);
	EXPECT_FAILS(sigaction(NSIG, &action, NULL), EINVAL);
	EXPECT_FAILS(sigaction(SIGKILL, &action, NULL), EINVAL);
	EXPECT_FAILS(sigaction(SIGSTOP, &action, NULL), EINVAL);
	EXPECT_EQ(sigaction(SIGKILL, NULL, &action), 0);
	action.sa_flags = 0x4000;
	EXPECT_FAILS(sigaction(SIGUSR1, &action, NULL), EINVAL);
	EXPECT_FAILS(sigprocmask(17, &mask, NULL), EINVAL);
	if (getuid() == 0)
		EXPECT_EQ(status_of(send_to_nobody, 0), 0);
}

static void hit_the_group(int unused)
{
	(void)unused;
	EXPECT_EQ(setpgid(0, 0), 0);
	act(SIGUSR1, note, 0, 0);
	EXPECT_EQ(status_of(die, 0), 0);
	EXPECT_EQ(kill(0, SIGUSR1), 0);
	EXPECT_EQ(handled, 1);
	EXPECT_EQ(kill(-getpid(), SIGUSR1), 0);
	EXPECT_EQ(handled, 2);
	_exit(check_failures);
}

TEST(groups)
{
	act(SIGUSR1, note, 0, 0);
	EXPECT_EQ(status_of(hit_the_group, 0), 0);
	EXPECT_EQ(handled, 0);
}

/* ---------------- Threads ---------------- */

static volatile int taker, second;
static int gate[2];

static void note_thread(int signal)
{
	(void)signal;
	taker = gettid();
}

static void *wait_at_gate(void *unused)
{
	char byte;

	second = gettid();
	while (read(gate[0], &byte, 1) != 1)
		EXPECT_EQ(errno, EINTR);
	return unused;
}

/* The process's go to who does not block it, a thread's to the thread. */
TEST(threads_take_their_own)
{
	cthread_t thread;

	EXPECT_EQ(pipe(gate), 0);
	act(SIGUSR1, note_thread, SA_RESTART, 0);
	second = 0;
	thread = cthread_fork(wait_at_gate, NULL);
	while (second == 0)
		cthread_yield();
	set_mask(SIGNAL_BIT(SIGUSR1));
	EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
	while (taker == 0)
		cthread_yield();
	EXPECT_EQ(taker, second);
	taker = 0;
	EXPECT_EQ(raise(SIGUSR1), 0);
	cthread_yield();
	EXPECT_EQ(taker, 0);
	set_mask(0);
	EXPECT_EQ(taker, gettid());
	EXPECT_EQ(write(gate[1], "x", 1), 1);
	cthread_join(thread);
	close(gate[0]);
	close(gate[1]);
}
