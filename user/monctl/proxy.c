/* SPDX-License-Identifier: MIT */
/* -proxy: profiling exported in the name of a program that was not linked for it. */
#include <limits.h>
#include <mach.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <prof/whose.h>

#include "children.h"
#include "common/common.h"
#include "control.h"
#include "keeper.h"
#include "output.h"
#include "programs.h"
#include "session.h"
#include "stream.h"

#define DEFAULT_FILE "gmon.out"

/* ---------------- Sampling ---------------- */

/* What is to be written at the end. */
static struct {
	const char *path;
	int pid;
	struct whose own;
	char *data;
	size_t size;
} profile;

/* Nobody has named the file: another program's profile, which perhaps nobody has read, stays. */
static void choose_path(void)
{
	static char chosen[PATH_MAX];
	struct whose other;

	if (!prof_whose_choose(DEFAULT_FILE, &profile.own, chosen, &other))
		report("%s is the profile of %s, process %u, and stays; "
		       "say -monfile FILE to choose",
		       DEFAULT_FILE, other.name, other.pid);
	profile.path = chosen;
}

static bool dump(struct prof_collector *collector, const struct arguments *arguments)
{
	gprof_options_t options = arguments_options(arguments);

	return prof_collector_options(collector, &options) == KERN_SUCCESS &&
	       prof_collector_dump(collector, &profile.data, &profile.size) == KERN_SUCCESS;
}

static bool write_late(void)
{
	char *kept = output_keep(profile.path, profile.pid, profile.data, profile.size);
	bool done = kept != NULL;

	free(kept);
	return done;
}

static bool has_samples(struct prof_collector *collector)
{
	gprof_status_t status = {0};

	prof_collector_status(collector, &status);
	return prof_u64((const uint32_t *)status.taken) != 0;
}

static bool write_profile(const struct stream *stream)
{
	const struct arguments *arguments = stream->arguments;
	char *kept = NULL;
	bool done;

	if (arguments->monfile == NULL)
		choose_path();
	if (dump(stream->collector, arguments))
		kept = output_keep(profile.path, profile.pid, profile.data, profile.size);
	else
		report("process %d: no memory left for its profile", stream->target->pid);
	if (kept == NULL && profile.data != NULL && has_samples(stream->collector))
		keeper_leave("the profile", profile.path, write_late);
	/* A command's own output is not to be mixed with ours. */
	session_summary(arguments->command != NULL ? stderr : stdout, stream,
			kept != NULL ? kept : NOT_WRITTEN);
	done = kept != NULL && strcmp(kept, profile.path) == 0;
	free(kept);
	return done;
}

/* One for each program; the first line says how many samples there are of all of them. */
static bool write_profiles(const struct stream *stream, struct children *children)
{
	const struct arguments *arguments = stream->arguments;
	FILE *to = arguments->command != NULL ? stderr : stdout;

	if (arguments->monfile == NULL)
		choose_path();
	session_summary(to, stream, "");
	return children_write(children, to, profile.path, arguments->format);
}

/* Whether the program was linked with libprof1, and so exports its profiling, or will. */
static bool has_own_profiling(const struct executable *executable)
{
	return elfsym_defines(&executable->elf, "monstartup_crt0");
}

/* A command that we started is sampled without a name, too. */
static bool export_command(struct stream *stream)
{
	const struct arguments *arguments = stream->arguments;
	const struct executable *executable = stream->executable;
	bool is_own = has_own_profiling(executable);

	if (is_own && arguments->monfile == NULL) {
		report("%s writes %s by itself; say -monfile FILE for what monctl samples",
		       executable->path, DEFAULT_FILE);
		return false;
	}
	return is_own || registration_begin_if_any(&stream->registration, stream->target->pid);
}

bool proxy_sample(const struct arguments *arguments, const struct target *target,
		  struct executable *executable, started_t started)
{
	struct children children = {0};
	struct stream stream = {.arguments = arguments,
				.target = target,
				.executable = executable,
				.is_owners = !arguments->open,
				.watch = arguments->children ? children_watch : NULL,
				.context = &children};

	profile.path = arguments->monfile != NULL ? arguments->monfile : DEFAULT_FILE;
	profile.pid = target->pid;
	profile.own = (struct whose){.task = target->task_id, .pid = (uint32_t)target->pid};
	strlcpy(profile.own.name, executable_name(executable), sizeof(profile.own.name));
	if (executable_is_running(profile.path, profile.pid))
		return false;
	if (!stream_prepare(&stream))
		return false;
	if (arguments->command != NULL ? !export_command(&stream)
				       : !registration_begin(&stream.registration, target->pid))
		return false;
	if (arguments->children)
		children_begin(&children, program_add(target, executable));
	if (!stream_begin(&stream, arguments->flavors)) {
		registration_end(&stream.registration);
		return false;
	}
	session_started(&stream, started);
	stream_serve(&stream);
	registration_end(&stream.registration);
	stream_end(&stream);
	return arguments->children ? write_profiles(&stream, &children) : write_profile(&stream);
}

int proxy_run(const struct arguments *arguments)
{
	struct arguments own = *arguments;

	own.flavors = session_flavors(arguments);
	return session_run(&own, proxy_sample);
}
