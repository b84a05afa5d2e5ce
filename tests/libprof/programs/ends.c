/* SPDX-License-Identifier: MIT */
/* Ends in the way that its argument names: with and without -pg that must look the same. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static KEPT void by_exit(void)
{
	exit(3);
}

static KEPT void by_return(void)
{
}

static void *wait_for_ever(void *argument)
{
	for (;;)
		pause();
	return argument;
}

/* Returning from main() ends the process whatever its threads do. */
static KEPT void with_threads(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wait_for_ever, NULL);
}

static void *work_on(void *argument)
{
	spin(4);
	return argument;
}

static KEPT void by_last_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work_on, NULL);
	pthread_exit(NULL);
}

static KEPT void at_once(void)
{
	_exit(5);
}

static KEPT void by_sigint(void)
{
	kill(getpid(), SIGINT);
}

static KEPT void by_sigterm(void)
{
	kill(getpid(), SIGTERM);
}

static void handle(int signal)
{
	_exit(signal == SIGTERM ? 6 : 99);
}

static KEPT void by_own_handler(void)
{
	signal(SIGTERM, handle);
	kill(getpid(), SIGTERM);
}

static KEPT void by_exec(void)
{
	execl("/bin/echo", "echo", "executed", (char *)NULL);
}

static KEPT void by_exec_that_fails(void)
{
	execl("/etc/passwd", "passwd", (char *)NULL);
	exit(7);
}

static KEPT void in_the_child(void)
{
	spin(6);
}

static KEPT void with_fork(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		in_the_child();
		exit(8);
	}
	waitpid(child, &status, 0);
	exit(WEXITSTATUS(status) + 1);
}

/* So long that it has more samples than main() by any chance. */
static void last(void)
{
	spin(20);
}

static KEPT void with_atexit(void)
{
	atexit(last);
}

static const struct {
	const char *name;
	void (*end)(void);
} ways[] = {
	{"exit", by_exit},         {"return", by_return},
	{"threads", with_threads}, {"last", by_last_thread},
	{"at-once", at_once},      {"sigint", by_sigint},
	{"sigterm", by_sigterm},   {"handler", by_own_handler},
	{"exec", by_exec},         {"no-exec", by_exec_that_fails},
	{"fork", with_fork},       {"atexit", with_atexit},
};

int main(int argc, char **argv)
{
	spin(8);
	for (unsigned n = 0; n < sizeof ways / sizeof ways[0]; n++) {
		if (argc > 1 && strcmp(argv[1], ways[n].name) == 0)
			ways[n].end();
	}
	return 4;
}
