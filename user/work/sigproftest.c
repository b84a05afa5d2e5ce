/* SPDX-License-Identifier: MIT */
/*
 * sigproftest [SIGNALS]: which thread gets the signal of the profiling timer?
 *
 * One thread computes, three others wait: the first for the end of that one, one for a condition,
 * one for data of a pipe.  The signal belongs to the thread whose use of the CPU has made the timer
 * expire, so all signals are the computing thread's.  Exit status 0 if they are, 1 if not.
 */
#include <cthreads.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "work.h"

#define SIGNALS   20
#define PERIOD_US 10000
#define STEP      100000u /* Instructions between two looks at the count, or so. */
#define TURNS     100
#define STEPS_MAX 40000u /* So many without enough signals mean that none come. */

enum role {
	WAITS_FOR_THREAD,
	WAITS_FOR_CONDITION,
	WAITS_FOR_PIPE,
	COMPUTES,
	ROLES
};

static const char *const names[ROLES] = {
	[WAITS_FOR_THREAD] = "waits for a thread",
	[WAITS_FOR_CONDITION] = "waits for a condition",
	[WAITS_FOR_PIPE] = "waits for a pipe",
	[COMPUTES] = "computes",
};

static volatile int ids[ROLES];
static volatile sig_atomic_t counts[ROLES + 1]; /* The last: of no thread that is known. */
static volatile sig_atomic_t total;
static volatile sig_atomic_t wanted = SIGNALS;

static mutex_t mutex;
static condition_t over;
static int is_over; /* Guarded by mutex. */
static int ends[2]; /* Of the pipe. */

static void count(int signal)
{
	int id = gettid(), role = 0;

	(void)signal;
	while (role < ROLES && ids[role] != id)
		role++;
	counts[role]++;
	total++;
}

/* ---------------- Threads ---------------- */

static void *wait_for_condition(void *unused)
{
	ids[WAITS_FOR_CONDITION] = gettid();
	mutex_lock(mutex);
	while (!is_over)
		condition_wait(over, mutex);
	mutex_unlock(mutex);
	return unused;
}

static void *wait_for_pipe(void *unused)
{
	char byte;

	ids[WAITS_FOR_PIPE] = gettid();
	if (read(ends[0], &byte, 1) != 1)
		perror("sigproftest: read");
	return unused;
}

static int set_timer(int period_us)
{
	const struct timeval period = {.tv_usec = period_us};
	const struct itimerval timer = {period, period};

	return setitimer(ITIMER_PROF, &timer, NULL);
}

/* The others have begun, and with some turns of the CPU more they wait. */
static void let_others_wait(void)
{
	for (unsigned turn = 0; turn < TURNS; turn++)
		cthread_yield();
}

/* The timer runs only while this thread is the only one that does. */
static void *compute(void *result)
{
	ids[COMPUTES] = gettid();
	let_others_wait();
	if (set_timer(PERIOD_US) != 0)
		return NULL;
	for (unsigned step = 0; step < STEPS_MAX && total < wanted; step++)
		work(STEP / WORK_TURN);
	return set_timer(0) == 0 ? result : NULL;
}

/* ---------------- The test ---------------- */

static int run(void)
{
	const struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
	cthread_t waiter, reader, worker;

	mutex = mutex_alloc();
	over = condition_alloc();
	ids[WAITS_FOR_THREAD] = gettid();
	if (pipe(ends) != 0 || sigaction(SIGPROF, &action, NULL) != 0)
		return -1;
	waiter = cthread_fork(wait_for_condition, NULL);
	reader = cthread_fork(wait_for_pipe, NULL);
	worker = cthread_fork(compute, &ends);
	if (cthread_join(worker) == NULL || write(ends[1], "", 1) != 1)
		return -1;
	mutex_lock(mutex);
	is_over = 1;
	condition_broadcast(over);
	mutex_unlock(mutex);
	cthread_join(reader);
	cthread_join(waiter);
	return 0;
}

static int tell(void)
{
	int astray = (int)(total - counts[COMPUTES]);

	for (int role = 0; role < ROLES; role++)
		printf("%-22s %d\n", names[role], (int)counts[role]);
	if (counts[ROLES] != 0)
		printf("%-22s %d\n", "others", (int)counts[ROLES]);
	if (total < wanted)
		printf("sigproftest: only %d of %d signals came\n", (int)total, (int)wanted);
	else if (astray == 0)
		printf("sigproftest: SIGPROF goes to the thread that runs\n");
	else
		printf("sigproftest: %d of %d SIGPROF went to threads that did not run\n", astray,
		       (int)total);
	return total >= wanted && astray == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		wanted = (sig_atomic_t)strtol(argv[1], NULL, 10);
	if (wanted <= 0) {
		fprintf(stderr, "usage: sigproftest [SIGNALS]\n");
		return 2;
	}
	if (run() != 0) {
		perror("sigproftest");
		return 2;
	}
	return tell();
}
