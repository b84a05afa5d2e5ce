/* SPDX-License-Identifier: MIT */
/*
 * Interval timers.
 *
 * guest: cpus=1 limit=30
 * guest: cpus=2 limit=30
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_unix.h"

#define TICK_US   10000
#define PERIOD_US 20000
#define SECOND_US 1000000
#define SIGNALS   5

#define SHORT_TIMERS 60

static volatile sig_atomic_t counts[NSIG], expiries[NSIG];

static void count(int signal, siginfo_t *info, void *context)
{
	(void)context;
	counts[signal]++;
	expiries[signal] += info->si_overrun + 1;
	EXPECT_EQ(info->si_code, SI_TIMER);
}

static void handle(int signal)
{
	const struct sigaction action = {.sa_sigaction = count,
					 .sa_flags = SA_SIGINFO | SA_RESTART};

	EXPECT_EQ(sigaction(signal, &action, NULL), 0);
	counts[signal] = 0;
	expiries[signal] = 0;
}

static int set(int which, long value_us, long interval_us)
{
	const struct itimerval timer = {
		{.tv_sec = interval_us / SECOND_US, .tv_usec = interval_us % SECOND_US},
		{.tv_sec = value_us / SECOND_US, .tv_usec = value_us % SECOND_US}};

	return setitimer(which, &timer, NULL);
}

static long left(int which)
{
	struct itimerval value;

	EXPECT_EQ(getitimer(which, &value), 0);
	return value.it_value.tv_sec * SECOND_US + value.it_value.tv_usec;
}

static void compute_until(volatile sig_atomic_t *counter, int wanted)
{
	while (*counter < wanted)
		__asm__ volatile("");
}

static void sleep_until(volatile sig_atomic_t *counter, int wanted, int signal)
{
	sigset_t mask = SIGNAL_BIT(signal), none = 0;

	EXPECT_EQ(sigprocmask(SIG_BLOCK, &mask, NULL), 0);
	while (*counter < wanted)
		sigsuspend(&none);
	EXPECT_EQ(sigprocmask(SIG_UNBLOCK, &mask, NULL), 0);
}

/* ---------------- Tests ---------------- */

TEST(periodic_timers)
{
	static const struct {
		int which, signal;
	} timers[] = {{ITIMER_REAL, SIGALRM}, {ITIMER_VIRTUAL, SIGVTALRM}, {ITIMER_PROF, SIGPROF}};

	for (int n = 0; n < ITIMERS; n++) {
		handle(timers[n].signal);
		EXPECT_EQ(set(timers[n].which, PERIOD_US, PERIOD_US), 0);
		compute_until(&counts[timers[n].signal], SIGNALS);
		EXPECT(left(timers[n].which) > 0);
		EXPECT_EQ(set(timers[n].which, 0, 0), 0);
		EXPECT_EQ(left(timers[n].which), 0);
		EXPECT(expiries[timers[n].signal] >= counts[timers[n].signal]);
	}
}

TEST(a_timer_for_once)
{
	handle(SIGALRM);
	EXPECT_EQ(set(ITIMER_REAL, TICK_US, 0), 0);
	sleep_until(&counts[SIGALRM], 1, SIGALRM);
	EXPECT_EQ(left(ITIMER_REAL), 0);
	handle(SIGPROF);
	EXPECT_EQ(set(ITIMER_PROF, TICK_US, 0), 0);
	compute_until(&counts[SIGPROF], 1);
	EXPECT_EQ(left(ITIMER_PROF), 0);
	EXPECT_EQ(expiries[SIGPROF], 1);
}

/* Time passes while nothing is used: only the real timer runs. */
TEST(who_sleeps_uses_nothing)
{
	handle(SIGALRM);
	handle(SIGPROF);
	EXPECT_EQ(set(ITIMER_PROF, 10 * PERIOD_US, 0), 0);
	EXPECT_EQ(set(ITIMER_REAL, PERIOD_US, PERIOD_US), 0);
	sleep_until(&expiries[SIGALRM], 20, SIGALRM);
	EXPECT_EQ(set(ITIMER_REAL, 0, 0), 0);
	EXPECT_EQ(counts[SIGPROF], 0);
	EXPECT(left(ITIMER_PROF) > 5 * PERIOD_US);
	EXPECT_EQ(set(ITIMER_PROF, 0, 0), 0);
}

TEST(what_was_set_is_told)
{
	const struct itimerval one = {{1, 5}, {1000, 0}}, other = {{0, 0}, {0, 0}};
	struct itimerval old;

	for (int which = 0; which < ITIMERS; which++) {
		EXPECT_EQ(setitimer(which, &one, &old), 0);
		EXPECT_EQ(setitimer(which, &other, &old), 0);
		EXPECT_EQ(old.it_interval.tv_sec, 1);
		EXPECT_EQ(old.it_interval.tv_usec, 5);
		EXPECT(old.it_value.tv_sec == 1000 || old.it_value.tv_sec == 999);
	}
}

static void run_short_timer(void)
{
	signal(SIGALRM, SIG_IGN);
	set(ITIMER_REAL, 1, 1);
	pause();
	_exit(1);
}

/* Timers that are always due leave the server time for others, and for other timers. */
TEST(many_short_timers)
{
	pid_t children[SHORT_TIMERS];

	for (int n = 0; n < SHORT_TIMERS; n++) {
		children[n] = fork();
		if (children[n] == 0)
			run_short_timer();
		EXPECT(children[n] > 0);
	}
	handle(SIGALRM);
	EXPECT_EQ(set(ITIMER_REAL, TICK_US, 0), 0);
	sleep_until(&counts[SIGALRM], 1, SIGALRM);
	for (int n = 0; n < SHORT_TIMERS; n++) {
		EXPECT_EQ(kill(children[n], SIGKILL), 0);
		EXPECT_EQ(waitpid(children[n], NULL, 0), children[n]);
	}
}

/* A shorter interval is made a millisecond. */
TEST(the_shortest_interval)
{
	const struct itimerval one = {{0, 1}, {1000, 0}};
	struct itimerval old;

	EXPECT_EQ(setitimer(ITIMER_REAL, &one, NULL), 0);
	EXPECT_EQ(getitimer(ITIMER_REAL, &old), 0);
	EXPECT_EQ(old.it_interval.tv_usec, 1000);
	EXPECT_EQ(set(ITIMER_REAL, 0, 0), 0);
}

TEST(errors)
{
	EXPECT_FAILS(set(3, 1, 1), EINVAL);
	EXPECT_FAILS(set(-1, 1, 1), EINVAL);
	for (int which = 0; which < ITIMERS; which++) {
		struct itimerval timer = {{0, 0}, {0, SECOND_US}};

		EXPECT_FAILS(setitimer(which, &timer, NULL), EINVAL);
		timer = (struct itimerval){{-1, 0}, {1, 0}};
		EXPECT_FAILS(setitimer(which, &timer, NULL), EINVAL);
	}
}

/* This program again, as a child's next one: it has the child's timers. */
#define SELF "/tmp/timers"
#define MARK "LOOK_AT_TIMERS"

static __attribute__((constructor)) void look_at_timers(void)
{
	if (getenv(MARK) == NULL)
		return;
	for (int which = 0; which < ITIMERS; which++)
		EXPECT(left(which) > 400L * SECOND_US && left(which) <= 500L * SECOND_US);
	fflush(stdout);
	_exit(check_failures);
}

static void have_timers_and_execute(void)
{
	for (int which = 0; which < ITIMERS; which++) {
		EXPECT_EQ(left(which), 0);
		EXPECT_EQ(set(which, 500L * SECOND_US, 0), 0);
	}
	setenv(MARK, "yes", 1);
	if (check_failures == 0)
		execl(SELF, SELF, NULL);
	_exit(1);
}

/* A child has none; the next program has them still. */
TEST(timers_of_children)
{
	int status = -1;
	pid_t pid;

	for (int which = 0; which < ITIMERS; which++)
		EXPECT_EQ(set(which, 1000L * SECOND_US, 0), 0);
	pid = fork();
	if (pid == 0)
		have_timers_and_execute();
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
}
