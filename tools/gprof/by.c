/* SPDX-License-Identifier: MIT */
/* --by: a recording's samples by process, command, job or user, for whom and by whom. */
#include <string.h>

#include "print.h"
#include "util.h"

static struct rollup_task *name_process(struct rollup *rollup, struct profile *profile,
					struct rollup_task *row, int32_t pid, const char *name)
{
	const struct profile_kin *kin = profile_kin(profile, pid);

	snprintf(row->name, sizeof(row->name), "%s", name);
	row->pid = pid;
	row->ppid = kin->parent;
	row->uid = kin->user;
	return rollup_task(rollup, row->task);
}

/* With what is known of it. */
static struct rollup_task *row_of(struct rollup *rollup, struct profile *profile, uint32_t id)
{
	struct rollup_task *row = rollup_task(rollup, id);
	const struct profile_task *task;

	if (row->name[0] != '\0' || id == 0)
		return row;
	task = profile_task(profile, id);
	if (task->pid >= 0)
		return name_process(rollup, profile, row, task->pid, task->name);
	snprintf(row->name, sizeof(row->name), "%s", task->name);
	return row;
}

static bool is_wanted(const struct profile *profile, const struct profile_sample *sample,
		      const char *flavor)
{
	return flavor == NULL || strcmp(profile->flavors[sample->flavor].name, flavor) == 0;
}

void print_by(struct profile *profile, const struct options *options)
{
	struct rollup rollup = {0};

	if (profile->n_samples == 0 && profile->n_labels == 0)
		fail("--by: the profile does not say of which task its samples are; what "
		     "monctl -record writes does");
	/* All that are named, as those without samples may be parents of those with some. */
	for (size_t i = 0; i < profile->n_tasks; i++)
		row_of(&rollup, profile, profile->tasks[i].id);
	for (size_t i = 0; i < profile->n_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		if (!is_wanted(profile, sample, options->flavor))
			continue;
		row_of(&rollup, profile, sample->task)->ran++;
		row_of(&rollup, profile, sample->label)->served++;
	}
	for (size_t i = 0; i < profile->n_labels; i++)
		row_of(&rollup, profile, profile->labels[i].task)->served +=
			profile->labels[i].samples;
	rollup_print(&rollup, options->by, 0, stdout);
	rollup_free(&rollup);
}
