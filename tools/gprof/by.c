/* SPDX-License-Identifier: MIT */
/* --by: a recording's samples by process, command, job or user, for whom and by whom. */
#include <inttypes.h>
#include <string.h>

#include "print.h"
#include "util.h"

static struct rollup_task *by_name_process(struct rollup *rollup, struct profile *profile,
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
static struct rollup_task *by_row_of(struct rollup *rollup, struct profile *profile, uint32_t id)
{
	struct rollup_task *row = rollup_task(rollup, id);
	const struct profile_task *task;

	if (row->name[0] != '\0' || id == 0)
		return row;
	task = profile_task(profile, id);
	if (task->pid >= 0)
		return by_name_process(rollup, profile, row, task->pid, task->name);
	snprintf(row->name, sizeof(row->name), "%s", task->name);
	return row;
}

static uint64_t by_count_samples(const struct profile *profile, size_t flavor)
{
	uint64_t count = 0;

	for (size_t i = 0; i < profile->n_samples; i++)
		count += profile->samples[i].flavor == flavor;
	return count;
}

static bool by_has_table(const struct profile *profile, size_t flavor, const char *wanted)
{
	return (wanted == NULL || strcmp(profile->flavors[flavor].name, wanted) == 0) &&
	       by_count_samples(profile, flavor) > 0;
}

static void by_add_samples(struct rollup *rollup, struct profile *profile, size_t flavor)
{
	for (size_t i = 0; i < profile->n_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		if (sample->flavor != flavor)
			continue;
		by_row_of(rollup, profile, sample->task)->ran++;
		by_row_of(rollup, profile, sample->label)->served++;
	}
}

/* A kernel's profile has sums alone, of whatever it was sampled by. */
static void by_add_labels(struct rollup *rollup, struct profile *profile)
{
	for (size_t i = 0; i < profile->n_labels; i++)
		by_row_of(rollup, profile, profile->labels[i].task)->served +=
			profile->labels[i].samples;
}

/* Of a flavor, or behind the last one of what has none. */
static void by_print_table(struct profile *profile, size_t flavor, enum rollup_by by)
{
	struct rollup rollup = {0};

	/* All that are named, as those without samples may be parents of those with some. */
	for (size_t i = 0; i < profile->n_tasks; i++)
		by_row_of(&rollup, profile, profile->tasks[i].id);
	for (size_t i = 0; i < profile->n_users; i++)
		rollup_name_user(&rollup, profile->users[i].uid, profile->users[i].name);
	if (flavor < profile->n_flavors)
		by_add_samples(&rollup, profile, flavor);
	else
		by_add_labels(&rollup, profile);
	rollup_print(&rollup, by, 0, stdout);
	rollup_free(&rollup);
}

static void by_print_title(const struct profile *profile, size_t flavor, bool is_first)
{
	printf("%s", is_first ? "" : "\n");
	if (flavor < profile->n_flavors)
		printf("%s: %" PRIu64 " samples\n", profile->flavors[flavor].name,
		       by_count_samples(profile, flavor));
	else
		printf("of profiles of the kernel:\n");
}

/* Time and events are not to be added up, so each flavor has a table of its own. */
void print_by(struct profile *profile, const struct options *options)
{
	size_t tables = profile->n_labels > 0, printed = 0;

	if (profile->n_samples == 0 && profile->n_labels == 0)
		fail("--by: the profile does not say of which task its samples are; what "
		     "monctl -record writes does");
	for (size_t i = 0; i < profile->n_flavors; i++)
		tables += by_has_table(profile, i, options->flavor);
	if (tables == 0)
		fail("--flavor=%s: there were no such samples; without --flavor there is a table "
		     "of each that there were",
		     options->flavor);
	for (size_t i = 0; i <= profile->n_flavors; i++) {
		if (i < profile->n_flavors ? !by_has_table(profile, i, options->flavor)
					   : profile->n_labels == 0)
			continue;
		if (tables > 1)
			by_print_title(profile, i, printed == 0);
		by_print_table(profile, i, options->by);
		printed++;
	}
}
