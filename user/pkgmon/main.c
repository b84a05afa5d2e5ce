/* SPDX-License-Identifier: MIT */
/* pkgmon: what is asked for, and the story of one run. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>
#include <time.h>
#include <unistd.h>

#include "common/common.h"
#include "pkgmon.h"

#define USAGE "pkgmon [-a] [-c | -s] [-f] [-r HZ] [-t SECONDS] [-p PID]... [COMMAND [ARGUMENT]...]"

#define PID_HOST     (-1) /* What task_by_pid() answers with the host's control port. */
#define USUAL_RATE   1000
#define RATE_MAX     10000
#define LOOK_MS      50 /* How soon it is seen that a process has ended. */
#define SECONDS_MAX  1000000
#define MS_IN_SECOND 1000

static volatile sig_atomic_t is_asked_to_end;

/* ---------------- The command line ---------------- */

static unsigned read_number(int option, const char *text, long long most)
{
	long long number;

	if (!parse_number(text, &number) || number < 1 || number > most)
		report_exit(EXIT_USAGE, "-%c %s: say a whole number from 1 to %lld", option, text,
			    most);
	return (unsigned)number;
}

static void read_option(struct wanted *wanted, int option, const char *text)
{
	switch (option) {
	case 'a':
		wanted->requests = true;
		break;
	case 'c':
		wanted->samples = false;
		break;
	case 'f':
		wanted->children = true;
		break;
	case 's':
		wanted->calls = false;
		break;
	case 'r':
		wanted->rate = read_number(option, text, RATE_MAX);
		break;
	case 't':
		wanted->seconds = read_number(option, text, SECONDS_MAX);
		break;
	case 'p':
		/* The command is one, too. */
		if (wanted->n_pids == SUBJECTS_MAX - 1)
			report_exit(EXIT_USAGE, "-p %s: %u processes can be measured at once", text,
				    SUBJECTS_MAX - 1);
		wanted->pids[wanted->n_pids++] = (pid_t)read_number(option, text, INT32_MAX);
		break;
	default:
		usage(USAGE);
	}
}

static void read_arguments(struct wanted *wanted, int count, char **arguments)
{
	int option;

	while ((option = getopt(count, arguments, "+acfsr:t:p:")) != -1)
		read_option(wanted, option, optarg);
	if (!wanted->calls && !wanted->samples)
		report_exit(EXIT_USAGE, "-c and -s: that leaves nothing to be measured");
	if (wanted->requests && !wanted->calls)
		report_exit(EXIT_USAGE, "-a and -s: who asks is counted where calls are");
	if (optind < count)
		wanted->command = arguments + optind;
	if (wanted->command == NULL && wanted->n_pids == 0)
		report_exit(EXIT_USAGE, "say a command, or a process by -p PID\nusage: %s", USAGE);
}

/* ---------------- Whom ---------------- */

static void add_subject(struct collection *collection, pid_t pid)
{
	struct subject *subject = &collection->subjects[collection->n_subjects];

	for (unsigned n = 0; n < collection->n_subjects; n++)
		if (collection->subjects[n].pid == pid)
			return;
	if (!subject_find(subject, pid))
		exit(EXIT_FAILED);
	collection->n_subjects++;
}

static void find_host(struct collection *collection)
{
	collection->host = task_by_pid(PID_HOST);
	if (collection->host == MACH_PORT_NULL)
		report_exit(EXIT_FAILED, "%s",
			    errno == EPERM ? "only root may do that: it is about the whole machine"
					   : strerror(errno));
}

/* ---------------- How long ---------------- */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * MS_IN_SECOND + (uint64_t)now.tv_nsec / 1000000;
}

static void note_signal(int signal)
{
	(void)signal;
	is_asked_to_end = 1;
}

/* Who ends it early gets what there is, and nothing goes on being counted. */
static void set_signals(void)
{
	signal(SIGINT, note_signal);
	signal(SIGQUIT, note_signal);
	signal(SIGTERM, note_signal);
	signal(SIGHUP, note_signal);
}

/* A command ends it; without one, all whom it is about. */
static bool is_over(const struct collection *collection, pid_t command)
{
	if (is_asked_to_end)
		return true;
	if (command != 0)
		return command_has_ended(command);
	for (unsigned n = 0; n < collection->n_named; n++)
		if (!subject_has_ended(&collection->subjects[n]))
			return false;
	return true;
}

/* False if it was cut off by -t, or by a signal, and the command goes on. */
static bool serve(struct collection *collection, pid_t command)
{
	uint64_t end = now_ms() + (uint64_t)collection->wanted->seconds * MS_IN_SECOND;

	while (!is_over(collection, command)) {
		if (collection->wanted->seconds != 0 && now_ms() >= end)
			return false;
		if (!collect_serve(collection, LOOK_MS))
			return false;
	}
	return true;
}

/* What a process had others do, or did as another program, is no work of this task's. */
static void tell_rest(const struct subject *subject)
{
	struct ux_task_life life;

	if (ux_task_life(subject->label, &life) != 0)
		return;
	if (life.state == UX_LIFE_EXECUTED)
		report("process %d executes another program now, which was not measured",
		       subject->pid);
	if (life.children > 0)
		report("process %d started %u others, which were not measured", subject->pid,
		       (unsigned)life.children);
}

static void tell_subjects(const struct collection *collection)
{
	for (unsigned n = 0; n < collection->n_subjects; n++) {
		const struct subject *subject = &collection->subjects[n];
		char process[NAME_ROOM];

		name_process(process, subject);
		report("process %s (%s)", process, subject->name);
		if (!collection->wanted->children)
			tell_rest(subject);
	}
	if (collection->missed > 0)
		report("%u children were not measured: there was no room for them",
		       collection->missed);
}

static int measure(struct collection *collection, pid_t command)
{
	bool has_ended, done;

	set_signals();
	collection->n_named = collection->n_subjects;
	if (!collect_begin(collection))
		return EXIT_FAILED;
	if (command != 0)
		command_continue(command);
	has_ended = serve(collection, command);
	collect_end(collection);
	done = files_write(collection);
	tell_subjects(collection);
	if (!done || collection->failed)
		return EXIT_FAILED;
	return command != 0 && has_ended ? command_status() : 0;
}

int main(int count, char **arguments)
{
	static struct wanted wanted = {.calls = true, .samples = true, .rate = USUAL_RATE};
	static struct collection collection = {
		.wanted = &wanted,
		.rest = {.name = "other"},
		.own = {.name = "server"},
	};
	pid_t command = 0;

	program_start(arguments);
	read_arguments(&wanted, count, arguments);
	find_host(&collection);
	for (unsigned n = 0; n < wanted.n_pids; n++)
		add_subject(&collection, wanted.pids[n]);
	if (wanted.command != NULL) {
		command = command_start(wanted.command);
		add_subject(&collection, command);
	}
	return program_end(measure(&collection, command));
}
