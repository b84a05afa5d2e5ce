/* SPDX-License-Identifier: MIT */
/* The command that is measured: from its first instruction to its last. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/common.h"
#include "pkgmon.h"

/* Exit statuses, as the shell has them. */
#define NOT_RUN   126
#define NOT_FOUND 127
#define SIGNALLED 128

static pid_t child;
static int end_status;
static bool goes_on;

static _Noreturn void execute(char **command)
{
	int error;

	if (ux_stop_at_exec() != 0)
		report_exit(NOT_RUN, "cannot stop a command at its beginning: %s", strerror(errno));
	execvp(command[0], command);
	error = errno;
	report("%s: %s", command[0],
	       error == ENOENT ? "there is no such command" : strerror(error));
	_exit(error == ENOENT ? NOT_FOUND : NOT_RUN);
}

static int status_of(int status)
{
	return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Whoever ends pkgmon means the command. */
static void pass_on(int signal)
{
	kill(child, signal);
}

/* A command that was to be measured, and cannot be, is not run. */
static void end_stopped(void)
{
	if (!goes_on)
		kill(child, SIGKILL);
}

pid_t command_start(char **command)
{
	int status = 0;

	child = fork();
	if (child < 0)
		report_exit(EXIT_FAILED, "cannot fork: %s", strerror(errno));
	if (child == 0)
		execute(command);
	while (waitpid(child, &status, WUNTRACED) < 0)
		if (errno != EINTR)
			report_exit(EXIT_FAILED, "cannot wait: %s", strerror(errno));
	if (!WIFSTOPPED(status))
		exit(status_of(status));
	atexit(end_stopped);
	return child;
}

/* The keyboard's signals come to the command by themselves. */
void command_continue(pid_t pid)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, pass_on);
	signal(SIGHUP, pass_on);
	goes_on = true;
	kill(pid, SIGCONT);
}

bool command_has_ended(pid_t pid)
{
	return waitpid(pid, &end_status, WNOHANG) == pid;
}

int command_status(void)
{
	return status_of(end_status);
}
