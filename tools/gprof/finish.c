/* SPDX-License-Identifier: MIT */
/* A profile: sorting and summing when all files have been read.  See model.h. */
#include <stdlib.h>
#include <string.h>

#include "mach/pc_sample.h"
#include "model.h"
#include "util.h"

static int finish_compare_counts(const void *first, const void *second)
{
	const struct profile_count *one = first;
	const struct profile_count *other = second;

	return (one->pc > other->pc) - (one->pc < other->pc);
}

static void finish_sum_counts(struct profile_counts *counts)
{
	size_t n = 0;

	sort(counts->items, counts->n, sizeof(*counts->items), finish_compare_counts);
	counts->total = 0;
	for (size_t i = 0; i < counts->n; i++) {
		const struct profile_count *item = &counts->items[i];

		counts->total += item->count;
		if (n > 0 && counts->items[n - 1].pc == item->pc)
			counts->items[n - 1].count += item->count;
		else if (item->count > 0)
			counts->items[n++] = *item;
	}
	counts->n = n;
}

static int finish_compare_arcs(const void *first, const void *second)
{
	const struct profile_arc *one = first;
	const struct profile_arc *other = second;

	if (one->from != other->from)
		return one->from < other->from ? -1 : 1;
	return (one->self > other->self) - (one->self < other->self);
}

static void finish_sum_arcs(struct profile *profile)
{
	struct profile_arc *arcs = profile->arcs;
	size_t n = 0;

	sort(arcs, profile->n_arcs, sizeof(*arcs), finish_compare_arcs);
	for (size_t i = 0; i < profile->n_arcs; i++) {
		if (n > 0 && finish_compare_arcs(&arcs[n - 1], &arcs[i]) == 0)
			arcs[n - 1].count += arcs[i].count;
		else
			arcs[n++] = arcs[i];
	}
	profile->n_arcs = n;
}

/* Whom --for names: a process, or all that have a name. */
struct served {
	bool is_number;
	bool is_pid; /* Of some process: a task's number is taken for what has none. */
	uint32_t number;
	const char *name;
};

static bool finish_is_pid(const struct profile *profile, uint32_t number)
{
	for (size_t i = 0; i < profile->n_tasks; i++)
		if (profile->tasks[i].pid >= 0 && (uint32_t)profile->tasks[i].pid == number)
			return true;
	return false;
}

/* A name does not begin with a digit. */
static struct served finish_read_served(const struct profile *profile, const char *text)
{
	struct served served = {.is_number = text[0] >= '0' && text[0] <= '9', .name = text};

	if (served.is_number)
		served.number = (uint32_t)strtoul(text, NULL, 10);
	served.is_pid = served.is_number && finish_is_pid(profile, served.number);
	return served;
}

static bool finish_is_for(const struct profile *profile, uint32_t label,
			  const struct served *served)
{
	uint32_t place = map_get(&profile->task_places, label);
	const struct profile_task *task = place != MAP_NONE ? &profile->tasks[place] : NULL;

	if (!served->is_number)
		return task != NULL && task->name != NULL && strcmp(task->name, served->name) == 0;
	if (!served->is_pid)
		return label == served->number;
	return task != NULL && task->pid >= 0 && (uint32_t)task->pid == served->number;
}

static void finish_keep_label(struct profile *profile, const char *text)
{
	const struct served served = finish_read_served(profile, text);
	size_t n = 0;

	for (size_t i = 0; i < profile->n_samples; i++)
		if (finish_is_for(profile, profile->samples[i].label, &served))
			profile->samples[n++] = profile->samples[i];
	profile->n_samples = n;
}

/* ---------------- Whose samples are counted ---------------- */

bool profile_is_of_one(const struct profile *profile)
{
	const char *path = NULL;

	for (size_t i = 0; i < profile->n_images; i++) {
		const struct profile_image *image = &profile->images[i];

		if (image->is_kernel)
			continue;
		if (path != NULL && strcmp(path, image->path) != 0)
			return false;
		path = image->path;
	}
	return true;
}

static bool finish_runs(const struct profile *profile, uint32_t task, const char *program)
{
	uint32_t i = map_get(&profile->image_places, task);

	for (; i != MAP_NONE; i = profile->images[i].before)
		if (!profile->images[i].is_kernel &&
		    strcmp(file_part(profile->images[i].path), program) == 0)
			return true;
	return false;
}

/* An address in no image is the program's if its task runs it. */
static bool finish_is_of(const struct profile *profile, const struct profile_sample *sample,
			 const char *program)
{
	const struct profile_image *image = profile_image(profile, sample, sample->pc);

	if (image != NULL)
		return strcmp(file_part(image->path), program) == 0;
	return finish_runs(profile, sample->task, program);
}

static void finish_count_samples(struct profile *profile, const char *program)
{
	bool is_all = program == NULL || profile_is_of_one(profile);

	for (size_t i = 0; i < profile->n_samples; i++) {
		struct profile_sample *sample = &profile->samples[i];

		sample->is_strange = !is_all && !finish_is_of(profile, sample, file_part(program));
		if (!sample->is_strange)
			profile_add_count(&profile->flavors[sample->flavor],
					  sample->is_kernel ? PROFILE_KERNEL : PROFILE_USER,
					  sample->pc, sample->weight);
		else
			profile->strangers++;
	}
}

bool profile_finish(struct profile *profile, const char *program, const char *served)
{
	/* A file of calls alone was sampled all the same, only not long enough. */
	if (profile->n_flavors == 0)
		profile_flavor(profile, SAMPLED_PC_PERIODIC, NULL);
	if (served != NULL)
		finish_keep_label(profile, served);
	finish_count_samples(profile, program);
	for (size_t i = 0; i < profile->n_flavors; i++)
		for (unsigned mode = 0; mode < PROFILE_MODES; mode++)
			finish_sum_counts(&profile->flavors[i].counts[mode]);
	finish_sum_arcs(profile);
	return served == NULL || profile->n_samples > 0;
}
