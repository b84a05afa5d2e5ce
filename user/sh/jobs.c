/* SPDX-License-Identifier: MIT */
/*
 * Children: waiting for one in the foreground, and the table of those in the background.
 *
 * The table keeps statuses of children that have ended until `wait` asks for them, up to a number.
 */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jobs.h"
#include "sh.h"

/* Children that have ended and were never asked for are forgotten beyond this many. */
#define ENDED_MAX 256

static struct job *jobs; /* The newest first. */

int status_of(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return STATUS_SIGNAL + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

/* Whoever sits before a pipe or the keyboard knows these two. */
static bool is_worth_telling(int signal)
{
	return signal != SIGINT && signal != SIGPIPE;
}

void job_tell_death(int wait_status)
{
	int signal = WTERMSIG(wait_status);

	if (!WIFSIGNALED(wait_status))
		return;
	if (is_worth_telling(signal))
		fprintf(stderr, "%s\n", strsignal(signal));
}

int job_wait_foreground(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return STATUS_NOT_FOUND;
	job_tell_death(status);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
		traps_note_interrupt();
	return status_of(status);
}

static int next_number(void)
{
	int number = 0;

	for (const struct job *job = jobs; job != NULL; job = job->next)
		if (!job->has_ended && job->number > number)
			number = job->number;
	return number + 1;
}

static void forget_oldest_ended(void)
{
	struct job **oldest = NULL;
	unsigned ended = 0;

	for (struct job **slot = &jobs; *slot != NULL; slot = &(*slot)->next)
		if ((*slot)->has_ended) {
			ended++;
			oldest = slot;
		}
	if (ended > ENDED_MAX) {
		struct job *job = *oldest;

		*oldest = job->next;
		free(job);
	}
}

void job_add(pid_t pid, bool is_announced)
{
	struct job *job = heap_allocate(sizeof(*job));

	job->pid = pid;
	job->number = next_number();
	job->next = jobs;
	job->is_announced = is_announced;
	jobs = job;
	shell.background = pid;
	/* Not before: this child may have ended already. */
	jobs_collect(false);
	forget_oldest_ended();
	if (is_announced)
		fprintf(stderr, "[%d] %ld\n", job->number, (long)pid);
}

void jobs_forget(void)
{
	while (jobs != NULL) {
		struct job *job = jobs;

		jobs = job->next;
		free(job);
	}
}

struct job *job_find(pid_t pid)
{
	for (struct job *job = jobs; job != NULL; job = job->next)
		if (job->pid == pid)
			return job;
	return NULL;
}

struct job *job_first_running(void)
{
	for (struct job *job = jobs; job != NULL; job = job->next)
		if (!job->has_ended)
			return job;
	return NULL;
}

void job_remove(struct job *job)
{
	struct job **slot = &jobs;

	while (*slot != job)
		slot = &(*slot)->next;
	*slot = job->next;
	free(job);
}

static void tell_end(const struct job *job)
{
	if (WIFSIGNALED(job->status))
		fprintf(stderr, "[%d] %ld %s\n", job->number, (long)job->pid,
			strsignal(WTERMSIG(job->status)));
	else if (WEXITSTATUS(job->status) != 0)
		fprintf(stderr, "[%d] %ld exit %d\n", job->number, (long)job->pid,
			WEXITSTATUS(job->status));
	else
		fprintf(stderr, "[%d] %ld done\n", job->number, (long)job->pid);
}

/* Others than background jobs that end, writers of here-documents, are nobody's business. */
void jobs_collect(bool tell)
{
	struct job *job;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		job = job_find(pid);
		if (job != NULL) {
			job->has_ended = true;
			job->status = status;
		}
	}
	for (job = jobs; tell && job != NULL; job = job->next)
		if (job->has_ended && job->is_announced) {
			tell_end(job);
			job->is_announced = false;
		}
}
