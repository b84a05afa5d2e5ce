/* SPDX-License-Identifier: MIT */
/* -run: a command that is sampled from its first instruction on. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/common.h"
#include "session.h"
#include "stream.h"

/* Exit statuses, as the shell has them. */
#define NOT_RUN   126
#define NOT_FOUND 127
#define SIGNALLED 128

static pid_t child;
static bool has_begun;
static bool with_children;

/* What the child ended with, if that was noted while it was sampled. */
static volatile sig_atomic_t has_ended;
static int end_status;

static _Noreturn void execute(char **command)
{
	int error;

	if (ux_stop_at_exec() != 0)
		report_exit(NOT_RUN, "cannot stop a command at its beginning: %s", strerror(errno));
	execvp(command[0], command);
	error = errno;
	if (error == ENOENT)
		report("%s: there is no such command", command[0]);
	else
		report_errno(command[0]);
	_exit(error == ENOENT ? NOT_FOUND : NOT_RUN);
}

static void wait_for_child(int *status, int options)
{
	while (waitpid(child, status, options) < 0)
		if (errno != EINTR)
			report_exit(EXIT_FAILED, "cannot wait: %s", strerror(errno));
}

/* Whoever ends monctl means the command, whose end is monctl's. */
static void pass_on(int signal)
{
	kill(child, signal);
}

/* The keyboard's signals come to the command by themselves. */
static void set_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, pass_on);
	signal(SIGHUP, pass_on);
}

/* With its children it is over when it has ended itself, whoever else is still there. */
static void note_end(int signal)
{
	(void)signal;
	if (!has_ended && waitpid(child, &end_status, WNOHANG) == child) {
		has_ended = 1;
		stream_wake();
	}
}

static void let_go(void)
{
	has_begun = true;
	if (with_children)
		signal(SIGCHLD, note_end);
	kill(child, SIGCONT);
}

static bool sample(const struct arguments *arguments, const struct target *target,
		   struct executable *executable)
{
	if (arguments->record != NULL)
		return record_sample(arguments, target, executable, let_go);
	if (arguments->live)
		return live_sample(arguments, target, executable, let_go);
	return proxy_sample(arguments, target, executable, let_go);
}

/* What the command had others do is in no profile of it alone, and that may have been all. */
static void note_others(const struct target *target)
{
	struct ux_task_life life;

	if (!target->with_children && ux_task_life(target->task_id, &life) == 0 &&
	    life.children > 0)
		report("process %d started %lu others, which were not sampled; -children "
		       "follows them",
		       target->pid, (unsigned long)life.children);
}

/* What the command is has just been found by its name, so there is nothing to be compared. */
static bool sample_child(const struct arguments *arguments)
{
	struct executable executable;
	struct target target;
	char *path = executable_path(child);
	bool done;

	if (path == NULL || !target_find(&target, child) || !executable_open(&executable, path))
		return false;
	target.with_children = target.is_followed = arguments->children;
	done = sample(arguments, &target, &executable);
	note_others(&target);
	executable_close(&executable);
	free(path);
	return done;
}

static int status_of(int status)
{
	return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The status of monctl: the command's, unless that was good and the profile is not. */
static int finish(bool is_sampled)
{
	int status = 0;

	/* A command that was to be sampled, and cannot be, is not run. */
	if (!has_begun)
		kill(child, SIGKILL);
	signal(SIGCHLD, SIG_DFL);
	if (has_ended)
		status = end_status;
	else
		wait_for_child(&status, 0);
	if (!has_begun || (!is_sampled && status_of(status) == 0))
		return EXIT_FAILED;
	return status_of(status);
}

int run_run(const struct arguments *arguments)
{
	struct arguments own = *arguments;
	int status = 0;

	own.flavors = session_flavors(arguments);
	with_children = arguments->children;
	child = fork();
	if (child < 0)
		report_exit(EXIT_FAILED, "cannot fork: %s", strerror(errno));
	if (child == 0)
		execute(arguments->command);
	wait_for_child(&status, WUNTRACED);
	if (!WIFSTOPPED(status))
		return status_of(status);
	set_signals();
	report("process %d", child);
	return finish(sample_child(&own));
}
