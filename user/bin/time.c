/* SPDX-License-Identifier: MIT */
/* time: runs a command and tells how long it took. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/common.h"

#define NOT_RUN   126
#define NOT_FOUND 127
#define SIGNALLED 128

static pid_t start(char **arguments)
{
	pid_t pid = fork();

	if (pid < 0)
		report_exit(1, "cannot fork: %s", strerror(errno));
	if (pid > 0)
		return pid;
	execvp(arguments[0], arguments);
	report_errno(arguments[0]);
	_exit(errno == ENOENT ? NOT_FOUND : NOT_RUN);
}

static void print_time(const char *what, const struct timeval *time)
{
	fprintf(stderr, "%-4s %ld.%03ld\n", what, (long)time->tv_sec, (long)time->tv_usec / 1000);
}

static struct timeval since(const struct timeval *start_time)
{
	struct timeval now, difference;

	gettimeofday(&now, NULL);
	difference.tv_sec = now.tv_sec - start_time->tv_sec;
	difference.tv_usec = now.tv_usec - start_time->tv_usec;
	if (difference.tv_usec < 0) {
		difference.tv_usec += 1000000;
		difference.tv_sec--;
	}
	return difference;
}

int main(int count, char **arguments)
{
	struct timeval start_time, real;
	struct rusage used;
	int status;
	pid_t pid;

	program_start(arguments);
	if (count > 1 && strcmp(arguments[1], "-p") == 0) {
		arguments++;
		count--;
	}
	if (count < 2)
		usage("time [-p] COMMAND [ARGUMENT...]");
	gettimeofday(&start_time, NULL);
	pid = start(arguments + 1);
	/* An interrupt from the keyboard is the command's; the times are printed all the same. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	while (wait4(pid, &status, 0, &used) < 0)
		if (errno != EINTR)
			report_exit(1, "cannot wait: %s", strerror(errno));
	real = since(&start_time);
	print_time("real", &real);
	print_time("user", &used.ru_utime);
	print_time("sys", &used.ru_stime);
	return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}
