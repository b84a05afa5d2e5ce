/* SPDX-License-Identifier: MIT */
/* Whom to sample, and whether in the background. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/common.h"
#include "session.h"

sampled_pc_flavor_t session_flavors(const struct arguments *arguments)
{
	return arguments->flavors != 0 ? arguments->flavors : SAMPLED_PC_PERIODIC;
}

void session_summary(FILE *file, const struct stream *stream, const char *path)
{
	const struct target *target = stream->target;
	bool with_children = target != NULL && target->with_children;
	gprof_status_t status = {0};

	prof_collector_status(stream->collector, &status);
	if (target != NULL)
		fprintf(file, "process %d%s: ", target->pid,
			with_children ? " and its children" : "");
	fprintf(file, "%llu samples, %llu lost%s%s\n",
		(unsigned long long)prof_u64((const uint32_t *)status.taken),
		(unsigned long long)prof_u64((const uint32_t *)status.lost),
		path[0] != '\0' ? ", " : "", path);
	fflush(file);
	if (target != NULL)
		target_note_exec(target);
}

void session_started(struct stream *stream, started_t started)
{
	stream_watch_signals(stream);
	registration_ready(&stream->registration);
	started();
}

/* ---------------- Whom ---------------- */

typedef bool (*sample_t)(const struct arguments *, const struct target *, struct executable *,
			 started_t);

static bool open_executable(struct executable *executable, const struct arguments *arguments,
			    const struct target *target)
{
	char *path = arguments->execfile != NULL ? copy_text(arguments->execfile)
						 : executable_path(target->pid);
	bool done = path != NULL && executable_open(executable, path);

	free(path);
	if (done && !executable_is_of(executable, target)) {
		executable_close(executable);
		return false;
	}
	return done;
}

/* Without -pid it is whoever the work is done for, or nobody in particular. */
static bool sample_somebody(const struct arguments *arguments, sample_t sample, started_t started)
{
	struct executable executable;
	struct target target;
	int pid = arguments->pid;
	bool done;

	if (pid == NO_PID && arguments->beneficiary != FOR_ALL)
		pid = arguments->for_pid;
	if (pid == NO_PID)
		return sample(arguments, NULL, NULL, started);
	if (!target_find(&target, pid))
		return false;
	target.with_children = arguments->children;
	target.is_followed = arguments->children || arguments->pid == NO_PID;
	if (!open_executable(&executable, arguments, &target))
		return false;
	done = sample(arguments, &target, &executable, started);
	executable_close(&executable);
	return done;
}

/* ---------------- In the background ---------------- */

/* Where the one in the background tells that it has started; -1: nobody waits. */
static int ready_end = -1;

static void tell_started(void)
{
	if (ready_end < 0)
		return;
	write_all(ready_end, ".", 1);
	close(ready_end);
	ready_end = -1;
}

/*
 * The parent's part: the child has started when it says so, and has failed when it is gone before.
 */
static int await_start(int end, pid_t pid)
{
	char byte;
	ssize_t got;
	int status = 0;

	do {
		got = read(end, &byte, 1);
	} while (got < 0 && errno == EINTR);
	if (got == 1) {
		report("process %d samples in the background; kill %d ends it", pid, pid);
		return EXIT_DONE;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILED;
	return WIFEXITED(status) && WEXITSTATUS(status) != EXIT_DONE ? WEXITSTATUS(status)
								     : EXIT_FAILED;
}

static int run_in_background(const struct arguments *arguments, sample_t sample)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0)
		report_exit(EXIT_FAILED, "-bg: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		report_exit(EXIT_FAILED, "-bg: cannot fork: %s", strerror(errno));
	if (pid > 0) {
		close(ends[1]);
		return await_start(ends[0], pid);
	}
	close(ends[0]);
	ready_end = ends[1];
	/* An interrupt from the keyboard is for others. */
	setpgid(0, 0);
	return sample_somebody(arguments, sample, tell_started) ? EXIT_DONE : EXIT_FAILED;
}

int session_run(const struct arguments *arguments, sample_t sample)
{
	if (arguments->background)
		return run_in_background(arguments, sample);
	return program_end(sample_somebody(arguments, sample, tell_started) ? EXIT_DONE
									    : EXIT_FAILED);
}
