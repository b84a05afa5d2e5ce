/* SPDX-License-Identifier: MIT */
/* Prints what a command does, while it does it: ktrace -o. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ktrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/common.h"
#include "ktrace.h"
#include "lib/ktrace/print.h"

#define POLL_MICROSECONDS 50000
#define SIGNALLED         128
#define LINES_MODE        0666

/* That the command has ended wakes who sleeps until it looks again. */
static void show_wake(int signal)
{
	(void)signal;
}

static FILE *show_open_lines(const char *path)
{
	int descriptor;
	FILE *lines;

	if (strcmp(path, "-") == 0)
		return stdout;
	descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, LINES_MODE);
	lines = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
	if (lines == NULL)
		report_exit(1, "%s: cannot be written: %s", path, strerror(errno));
	return lines;
}

/* A trace that nobody named is gone when its lines are printed. */
static void show_make_temporary(struct tracing *tracing, char *name)
{
	int descriptor = mkstemp(name);

	if (descriptor < 0)
		report_exit(1, "%s: cannot be made: %s: name a file for the trace with -f", name,
			    strerror(errno));
	close(descriptor);
	tracing->path = name;
}

static pid_t show_start(const struct tracing *tracing)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		report_exit(1, "cannot fork: %s", strerror(errno));
	if (pid == 0)
		tracing_become(tracing);
	return pid;
}

/* Until the command has ended; its status. */
static int show_follow(struct ktrace_print *print, pid_t pid)
{
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		ktrace_print_all(print);
		fflush(print->out);
		usleep(POLL_MICROSECONDS);
	}
	return status;
}

static int show_run(const struct tracing *tracing, struct ktrace_print *print)
{
	pid_t pid;
	int status;

	signal(SIGCHLD, show_wake);
	pid = show_start(tracing);
	/* An interrupt from the keyboard is the command's; what it did is printed all the same. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	print->file->is_growing = true;
	status = show_follow(print, pid);
	/* Whoever inherited it and goes on is not waited for. */
	tracing_call(tracing, KTROP_CLEARFILE, 0);
	ktrace_stop_growing(print->file);
	ktrace_print_all(print);
	return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

int tracing_show(const struct tracing *given)
{
	struct ktrace_file file = {.program = program_name};
	char name[] = "/tmp/ktrace.XXXXXX";
	struct tracing tracing = *given;
	struct ktrace_print print;
	FILE *lines = show_open_lines(given->lines);
	int status;

	if (given->has_path)
		tracing_make_file(&tracing);
	else
		show_make_temporary(&tracing, name);
	if (!ktrace_open(&file, tracing.path))
		report_exit(1, "%s: cannot be read: %s", tracing.path, strerror(errno));
	ktrace_print_start(&print, &file, lines);
	status = show_run(&tracing, &print);
	if (!given->has_path)
		unlink(tracing.path);
	ktrace_close(&file);
	if (lines != stdout && fclose(lines) != 0) {
		report_errno(given->lines);
		status = status != 0 ? status : 1;
	}
	return status != 0 || !file.is_damaged ? status : 1;
}
