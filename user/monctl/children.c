/* SPDX-License-Identifier: MIT */
/*
 * Profiles of a job's programs: see children.h.
 *
 * A profile is of one program, whichever processes of the job ran it, since its addresses mean
 * something in that program alone; what two runs of a program did is added up, as gprof would.
 * Each has the counts of the whole stream, and says how many samples were of the others.
 */
#include <stdlib.h>
#include <string.h>

#include "libprof/core/gmon_file.h"

#include "children.h"
#include "common/common.h"
#include "output.h"
#include "programs.h"
#include "records.h"

#define NUMBER_ROOM 16 /* Two dots, a number and the end. */

struct child_profile {
	struct child_profile *next;
	const struct program *program; /* One of those that ran it. */
	struct collection collection;
	char *file; /* Its name; NULL: it was not written yet. */
	uint64_t samples;
	uint32_t *pids; /* Of the processes that ran it. */
	uint32_t processes;
};

static struct child_profile *profiles; /* In the order in which they came. */
static const struct program *first_program;
static struct prof_begin begin;
static uint64_t samples, unknown; /* All, and those of a task that nobody knows any more. */

/* ---------------- Counting ---------------- */

static struct child_profile *add(const struct program *program)
{
	struct child_profile **end = &profiles, *profile = allocate(sizeof(*profile));
	const struct executable *executable = &program->executable;

	while (*end != NULL)
		end = &(*end)->next;
	*profile = (struct child_profile){.program = program};
	profile->collection = (struct collection){
		.low = (uint32_t)executable->elf.text_start,
		.high = (uint32_t)executable->elf.text_end,
		.pid = program->pid,
		.task = program->task,
		.name = executable_name(executable),
	};
	profile->collection.program = executable->program;
	profile->collection.has_program = executable->program.high > 0;
	__collection_clear(&profile->collection, begin.flavors);
	__collection_add(&profile->collection, (const uint32_t *)&begin, begin.record.words);
	*end = profile;
	return profile;
}

/* The program's; NULL: which one it was is not known. */
static struct child_profile *profile_of(const struct program *program)
{
	struct child_profile *profile = profiles;

	if (program->executable.path == NULL)
		return NULL;
	while (profile != NULL &&
	       (profile->program->executable.inode != program->executable.inode ||
		strcmp(profile->program->executable.path, program->executable.path) != 0))
		profile = profile->next;
	return profile != NULL ? profile : add(program);
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

static void take_sample(const struct prof_sample *sample)
{
	const struct program *program = program_sampled(sample->task);
	struct child_profile *profile = profile_of(program);

	samples++;
	if (profile == NULL) {
		unknown++;
		return;
	}
	profile->samples++;
	note_process(profile, program->pid);
	__collection_add(&profile->collection, (const uint32_t *)sample, sample->record.words);
}

/* Whatever was collected before is of another stream. */
static void take_begin(const struct prof_begin *record)
{
	begin = *record;
	begin.record.words = sizeof(begin) / sizeof(uint32_t);
	samples = unknown = 0;
	for (struct child_profile *profile = profiles; profile; profile = profile->next) {
		profile->samples = 0;
		profile->processes = 0;
		__collection_clear(&profile->collection, begin.flavors);
	}
}

void children_begin(const struct program *first)
{
	first_program = first;
}

static void take_record(const struct prof_record *record)
{
	const struct prof_sample *sample = record_as_sample(record);

	if (sample != NULL) {
		take_sample(sample);
		return;
	}
	if (record_is(record, PROF_BEGIN, sizeof(begin)))
		take_begin((const struct prof_begin *)record);
	if (profiles == NULL)
		add(first_program);
	for (struct child_profile *profile = profiles; profile; profile = profile->next)
		__collection_add(&profile->collection, (const uint32_t *)record, record->words);
}

void children_watch(const uint32_t *words, size_t count)
{
	programs_new_message();
	records_take(words, count, take_record);
}

/* ---------------- Writing ---------------- */

/* Whether an earlier profile has that name already. */
static bool is_taken(const char *file, const struct child_profile *profile)
{
	for (const struct child_profile *other = profiles; other != profile; other = other->next)
		if (strcmp(other->file, file) == 0)
			return true;
	return false;
}

/*
 * The first program's has the name as it is, others that of their program too, and those of several
 * programs of one name a number.  A file that another replaced counts as a program of its own.
 */
static void name_file(struct child_profile *profile, const char *file)
{
	const char *own = executable_name(&profile->program->executable);
	size_t room = strlen(file) + strlen(own) + NUMBER_ROOM;

	free(profile->file);
	profile->file = allocate(room);
	if (profile == profiles) {
		snprintf(profile->file, room, "%s", file);
		return;
	}
	snprintf(profile->file, room, "%s.%s", file, own);
	for (unsigned number = 1; is_taken(profile->file, profile); number++)
		snprintf(profile->file, room, "%s.%s.%u", file, own, number);
}

static bool write_one(FILE *to, const struct child_profile *profile, enum gprof_format format)
{
	size_t room = __gmon_room(&profile->collection, false, format), size;
	char *data = allocate(room), *kept;
	bool done;

	memset(data, 0, room);
	size = __gmon_write(&profile->collection, false, format, data, room);
	kept = output_keep(profile->file, (int)profile->program->pid, data, size);
	free(data);
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

bool children_write(FILE *to, const char *file, enum gprof_format format)
{
	bool done = true;

	for (struct child_profile *profile = profiles; profile; profile = profile->next) {
		profile->collection.others = samples - profile->samples;
		name_file(profile, file);
		done &= write_one(to, profile, format);
	}
	if (unknown > 0)
		fprintf(to, "%llu samples are of programs that ended before they were asked for\n",
			(unsigned long long)unknown);
	fflush(to);
	return done;
}
