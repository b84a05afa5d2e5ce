/* SPDX-License-Identifier: MIT */
/*
 * loads threads N: eight threads, of which the n-th computes n times N units.
 * loads calls N: four threads with calls of four kinds, and computing in between.
 * loads programs N: four processes, the first of which calls the Unix server N times, the second
 * twice as often, and so on.
 * loads signals N: four processes that compute until each had N signals of the profiling timer; of
 * each a line says how many there were in less() and how many in more().
 *
 * How much each of them executes is not said here: whoever runs it counts that.
 */
#include <cthreads.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define THREADS   8
#define UNIT      200u
#define PROGRAMS  4
#define PERIOD_US 10000
#define STEP      7400u /* Not in step with the kernel's ticks. */

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static unsigned amount;

/* ---------------- Threads ---------------- */

SHOWN static void compute(unsigned times)
{
	for (unsigned n = 0; n < times; n++)
		work(UNIT);
}

static void *be_thread(void *number)
{
	compute(amount * (unsigned)(uintptr_t)number);
	return number;
}

static void run_threads(unsigned count, void *(*run)(void *))
{
	cthread_t threads[THREADS];

	for (uintptr_t n = 0; n < count; n++)
		threads[n] = cthread_fork(run, (void *)(n + 1));
	for (unsigned n = 0; n < count; n++)
		cthread_join(threads[n]);
}

/* ---------------- Calls ---------------- */

SHOWN static void call_ids(void)
{
	for (unsigned n = 0; n < 8; n++)
		getppid();
}

SHOWN static void call_files(void)
{
	int fd = open("/bin/sh", O_RDONLY);
	char bytes[512];

	if (fd < 0 || read(fd, bytes, sizeof bytes) != sizeof bytes || close(fd) != 0)
		fail("a file");
}

SHOWN static void call_pipes(void)
{
	int ends[2];
	char bytes[64] = "";

	if (pipe(ends) != 0 || write(ends[1], bytes, sizeof bytes) != sizeof bytes ||
	    read(ends[0], bytes, sizeof bytes) != sizeof bytes)
		fail("a pipe");
	close(ends[0]);
	close(ends[1]);
}

SHOWN static void call_names(void)
{
	struct stat status;

	for (unsigned n = 0; n < 4; n++)
		if (stat("/bin/sh", &status) != 0)
			fail("a name");
}

static void (*const kinds[])(void) = {call_ids, call_files, call_pipes, call_names};

static void *be_caller(void *number)
{
	for (unsigned n = 0; n < amount; n++) {
		kinds[(uintptr_t)number - 1]();
		compute(1 + n % 7);
	}
	return number;
}

/* ---------------- Processes ---------------- */

static void run_processes(void (*run)(unsigned))
{
	int status;

	for (unsigned n = 1; n <= PROGRAMS; n++) {
		pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (pid == 0) {
			run(n);
			_exit(0);
		}
	}
	for (unsigned n = 1; n <= PROGRAMS; n++)
		if (wait(&status) < 0 || status != 0)
			fail("wait");
}

static void be_client(unsigned number)
{
	for (unsigned n = 0; n < amount * number; n++)
		call_names();
}

static volatile sig_atomic_t in_more;
static volatile sig_atomic_t signals[2];

static void count(int signal)
{
	(void)signal;
	signals[in_more]++;
}

void less(void);
void more(void);

SHOWN void less(void)
{
	in_more = 0;
	work(STEP);
}

SHOWN void more(void)
{
	in_more = 1;
	work(4 * STEP);
}

static void be_signalled(unsigned number)
{
	const struct timeval period = {.tv_usec = PERIOD_US};
	const struct itimerval timer = {period, period}, none = {0};
	const struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};

	(void)number;
	if (sigaction(SIGPROF, &action, NULL) != 0 || setitimer(ITIMER_PROF, &timer, NULL) != 0)
		fail("setitimer");
	while ((unsigned)(signals[0] + signals[1]) < amount) {
		less();
		more();
	}
	setitimer(ITIMER_PROF, &none, NULL);
	printf("%d %d\n", (int)signals[0], (int)signals[1]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *load = argc == 3 ? argv[1] : "";

	amount = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	if (strcmp(load, "threads") == 0)
		run_threads(THREADS, be_thread);
	else if (strcmp(load, "calls") == 0)
		run_threads(sizeof kinds / sizeof kinds[0], be_caller);
	else if (strcmp(load, "programs") == 0)
		run_processes(be_client);
	else if (strcmp(load, "signals") == 0)
		run_processes(be_signalled);
	else
		return 2;
	return 0;
}
