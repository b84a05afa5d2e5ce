/* SPDX-License-Identifier: MIT */
/* The builtin `wait`, which signals with traps interrupt. */
#include <stdlib.h>

#include "jobs.h"
#include "sh.h"
#include "signals.h"

/* Waits until the job, or every one if NULL, has ended; the signal if one came before. */
static int wait_until_ended(const struct job *job)
{
	int signal;

	traps_hold();
	for (;;) {
		jobs_collect(false);
		signal = traps_first_pending();
		if (signal != 0 || (job != NULL ? job->has_ended : job_first_running() == NULL))
			break;
		traps_wait_signal();
	}
	traps_let_go();
	return signal;
}

static int wait_for(const char *argument)
{
	char *end;
	long pid = strtol(argument, &end, 10);
	struct job *job;
	int signal, status;

	if (end == argument || *end != '\0') {
		complain("wait: %s: not a process", argument);
		return STATUS_SYNTAX;
	}
	job = job_find((pid_t)pid);
	if (job == NULL)
		return STATUS_NOT_FOUND;
	signal = wait_until_ended(job);
	if (signal != 0)
		return STATUS_SIGNAL + signal;
	job_tell_death(job->status);
	status = status_of(job->status);
	job_remove(job);
	return status;
}

static int wait_for_all(void)
{
	int signal = wait_until_ended(NULL);

	if (signal != 0)
		return STATUS_SIGNAL + signal;
	jobs_collect(shell.is_interactive && !shell.is_forked);
	jobs_forget();
	return 0;
}

int builtin_wait(int count, char **arguments)
{
	int status = 0;

	if (count == 1)
		return wait_for_all();
	for (int i = 1; i < count; i++)
		status = wait_for(arguments[i]);
	return status;
}
