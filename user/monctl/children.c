/* SPDX-License-Identifier: MIT */
/*
 * Profiles of a job's programs: see children.h.
 *
 * A profile is of one program, whichever processes of the job ran it, since its addresses mean
 * something in that program alone; what two runs of a program did is added up, as gprof would.
 * Each has the counts of the whole stream, and says how many samples were of the others.
 */
#include <mach.h>
#include <prof/collector.h>
#include <stdlib.h>
#include <string.h>

#include "children.h"
#include "common/common.h"
#include "output.h"
#include "programs.h"
#include "records.h"

#define NUMBER_ROOM 16 /* Two dots, a number and the end. */

struct child_profile {
	struct child_profile *next;
	const struct program *program;    /* One of those that ran it. */
	struct prof_collector *collector; /* Without a stream of its own. */
	char *file;                       /* Its name; NULL: it was not written yet. */
	uint64_t samples;
	uint32_t *pids; /* Of the processes that ran it. */
	uint32_t processes;
};

/* ---------------- Counting ---------------- */

static struct prof_collector *make_collector(const struct program *program)
{
	const struct executable *executable = &program->executable;
	const struct prof_collector_target target = {
		.task_id = program->task,
		.low = (uint32_t)executable->elf.text_start,
		.high = (uint32_t)executable->elf.text_end,
		.pid = program->pid,
		.name = executable_name(executable),
		.program = &executable->program,
	};
	struct prof_collector *collector;

	if (prof_collector_make(&target, &collector) != KERN_SUCCESS)
		report_exit(EXIT_FAILED, "no memory left for the profile of %s", target.name);
	return collector;
}

static struct child_profile *add(struct children *children, const struct program *program)
{
	struct child_profile **end = &children->profiles, *profile = allocate(sizeof(*profile));
	const struct prof_begin *begin = &children->begin;

	while (*end != NULL)
		end = &(*end)->next;
	*profile = (struct child_profile){.program = program, .collector = make_collector(program)};
	prof_collector_clear(profile->collector, begin->flavors);
	prof_collector_add(profile->collector, (const uint32_t *)begin, begin->record.words);
	*end = profile;
	return profile;
}

/* The program's; NULL: which one it was is not known. */
static struct child_profile *profile_of(struct children *children, const struct program *program)
{
	struct child_profile *profile = children->profiles;

	if (program->executable.path == NULL)
		return NULL;
	while (profile != NULL &&
	       (profile->program->executable.inode != program->executable.inode ||
		strcmp(profile->program->executable.path, program->executable.path) != 0))
		profile = profile->next;
	return profile != NULL ? profile : add(children, program);
}

/* The last ones are the likeliest. */
static void note_process(struct child_profile *profile, uint32_t pid)
{
	for (uint32_t n = profile->processes; n > 0; n--)
		if (profile->pids[n - 1] == pid)
			return;
	profile->pids =
		reallocate(profile->pids, (profile->processes + 1) * sizeof(*profile->pids));
	profile->pids[profile->processes++] = pid;
}

static void take_sample(struct children *children, const struct prof_sample *sample)
{
	const struct program *program = program_sampled(sample->task);
	struct child_profile *profile = profile_of(children, program);

	children->samples++;
	if (profile == NULL) {
		children->unknown++;
		return;
	}
	profile->samples++;
	note_process(profile, program->pid);
	prof_collector_add(profile->collector, (const uint32_t *)sample, sample->record.words);
}

/* Whatever was collected before is of another stream. */
static void take_begin(struct children *children, const struct prof_begin *record)
{
	struct child_profile *profile = children->profiles;

	children->begin = *record;
	children->begin.record.words = sizeof(*record) / sizeof(uint32_t);
	children->samples = children->unknown = 0;
	for (; profile != NULL; profile = profile->next) {
		profile->samples = 0;
		profile->processes = 0;
		prof_collector_clear(profile->collector, record->flavors);
	}
}

void children_begin(struct children *children, const struct program *first)
{
	children->first_program = first;
}

static void take_record(void *context, const struct prof_record *record)
{
	const struct prof_sample *sample = record_as_sample(record);
	struct children *children = context;
	struct child_profile *profile;

	if (sample != NULL) {
		take_sample(children, sample);
		return;
	}
	if (record_is(record, PROF_BEGIN, sizeof(struct prof_begin)))
		take_begin(children, (const struct prof_begin *)record);
	if (children->profiles == NULL)
		add(children, children->first_program);
	for (profile = children->profiles; profile != NULL; profile = profile->next)
		prof_collector_add(profile->collector, (const uint32_t *)record, record->words);
}

void children_watch(void *children, const uint32_t *words, size_t count)
{
	programs_new_message();
	records_take(words, count, take_record, children);
}

/* ---------------- Writing ---------------- */

/* Whether an earlier profile has that name already. */
static bool is_taken(const struct children *children, const char *file,
		     const struct child_profile *profile)
{
	const struct child_profile *other = children->profiles;

	for (; other != profile; other = other->next)
		if (strcmp(other->file, file) == 0)
			return true;
	return false;
}

/*
 * The first program's has the name as it is, others that of their program too, and those of several
 * programs of one name a number.  A file that another replaced counts as a program of its own.
 */
static void name_file(const struct children *children, struct child_profile *profile,
		      const char *file)
{
	const char *own = executable_name(&profile->program->executable);
	size_t room = strlen(file) + strlen(own) + NUMBER_ROOM;

	free(profile->file);
	profile->file = allocate(room);
	if (profile == children->profiles) {
		snprintf(profile->file, room, "%s", file);
		return;
	}
	snprintf(profile->file, room, "%s.%s", file, own);
	for (unsigned number = 1; is_taken(children, profile->file, profile); number++)
		snprintf(profile->file, room, "%s.%s.%u", file, own, number);
}

/* NULL, with a report, if it is in no file. */
static char *keep(const struct child_profile *profile, enum gprof_format format)
{
	const gprof_options_t options = {.format = format};
	char *data = NULL, *kept;
	size_t size = 0;

	if (prof_collector_options(profile->collector, &options) != KERN_SUCCESS ||
	    prof_collector_dump(profile->collector, &data, &size) != KERN_SUCCESS) {
		report("%s: no memory left for this profile", profile->file);
		return NULL;
	}
	kept = output_keep(profile->file, (int)profile->program->pid, data, size);
	vm_deallocate(mach_task_self_cached(), (vm_address_t)data, size);
	return kept;
}

static bool write_one(FILE *to, const struct child_profile *profile, enum gprof_format format)
{
	char *kept = keep(profile, format);
	bool done;

	fprintf(to, "%s: %llu samples of %s", kept != NULL ? kept : "not written",
		(unsigned long long)profile->samples,
		executable_name(&profile->program->executable));
	if (profile->processes > 1)
		fprintf(to, " in %lu processes", (unsigned long)profile->processes);
	fputc('\n', to);
	done = kept != NULL && strcmp(kept, profile->file) == 0;
	free(kept);
	return done;
}

bool children_write(struct children *children, FILE *to, const char *file, enum gprof_format format)
{
	struct child_profile *profile = children->profiles;
	bool done = true;

	for (; profile != NULL; profile = profile->next) {
		prof_collector_add_others(profile->collector, children->samples - profile->samples);
		name_file(children, profile, file);
		done &= write_one(to, profile, format);
	}
	if (children->unknown > 0)
		fprintf(to, "%llu samples are of programs that ended before they were asked for\n",
			(unsigned long long)children->unknown);
	fflush(to);
	return done;
}
