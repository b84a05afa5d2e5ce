/* SPDX-License-Identifier: MIT */
/*
 * The keeper: a process that has what could not be written, until it can be.
 *
 * monctl ends, so that whoever waits for it learns that something is wrong.  A child has its
 * memory, but none of its ports: it can write and do nothing else.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "common/common.h"
#include "keeper.h"
#include "monctl.h"

static volatile sig_atomic_t is_ended;

static void end(int signal)
{
	(void)signal;
	is_ended = 1;
}

/* The terminal's signals are for others, and whoever reads our output need not wait for its end. */
static void go_to_background(void)
{
	int null = open("/dev/null", O_RDWR);

	setpgid(0, 0);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, end);
	for (int descriptor = 0; null >= 0 && descriptor <= STDERR_FILENO; descriptor++)
		dup2(null, descriptor);
}

/* A last time when it is asked to end, as the whole machine is when it halts. */
static void keep(bool (*write)(void))
{
	const struct timespec second = {.tv_sec = 1};
	bool is_last;

	go_to_background();
	do {
		is_last = is_ended != 0;
		if (write())
			return;
		if (!is_last)
			nanosleep(&second, NULL);
	} while (!is_last);
}

/* If there can be no other process it is this one, which so ends later. */
void keeper_leave(const char *what, const char *path, bool (*write)(void))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid != 0)
		report("%s is in no file yet; process %d keeps it, and writes it to %s when there "
		       "is room; kill %d gives it up",
		       what, pid > 0 ? pid : getpid(), path, pid > 0 ? pid : getpid());
	if (pid > 0)
		return;
	keep(write);
	_exit(EXIT_FAILED);
}
