/* SPDX-License-Identifier: MIT */
/*
 * --for=each: the samples on behalf of each task as a flavor of their own, so that they become
 * columns.
 *
 * The tasks with the most samples have columns; the rest is one more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "util.h"

#define COLUMNS_MAX 6u

struct share {
	uint32_t label;
	uint64_t samples;
	struct profile_flavor *flavor;
};

static int split_compare_samples(const void *first, const void *second)
{
	const struct share *one = first;
	const struct share *other = second;

	if (one->samples != other->samples)
		return one->samples > other->samples ? -1 : 1;
	return (one->label > other->label) - (one->label < other->label);
}

static struct share *split_find(struct share *shares, size_t n, uint32_t label)
{
	size_t i = 0;

	while (i < n && shares[i].label != label)
		i++;
	return &shares[i];
}

/* Labels by how many samples they have. */
static struct share *split_count(const struct profile *profile, size_t *n)
{
	struct share *shares = allocate(profile->n_samples + 1, sizeof(*shares));

	*n = 0;
	for (size_t i = 0; i < profile->n_samples; i++) {
		struct share *share = split_find(shares, *n, profile->samples[i].label);

		if (share == &shares[*n])
			shares[(*n)++] = (struct share){.label = profile->samples[i].label};
		share->samples++;
	}
	sort(shares, *n, sizeof(*shares), split_compare_samples);
	return shares;
}

void profile_label_name(const struct profile *profile, uint32_t label, char *name, size_t size)
{
	uint32_t place = map_get(&profile->task_places, label);

	snprintf(name, size, label == 0 ? "system" : "task %u", label);
	if (label != 0 && place != MAP_NONE && profile->tasks[place].pid >= 0)
		snprintf(name, size, "%d:%s", (int)profile->tasks[place].pid,
			 profile->tasks[place].name);
}

static void split_keep_flavor(struct profile *profile, size_t flavor)
{
	size_t n = 0;

	for (size_t i = 0; i < profile->n_samples; i++)
		if (profile->samples[i].flavor == flavor)
			profile->samples[n++] = profile->samples[i];
	profile->n_samples = n;
}

static size_t split_choose(const struct profile *profile, const char *name)
{
	for (size_t i = 0; name != NULL && i < profile->n_flavors; i++)
		if (strcmp(profile->flavors[i].name, name) == 0)
			return i;
	return 0;
}

void profile_split(struct profile *profile, const char *flavor)
{
	size_t from = split_choose(profile, flavor);
	struct share *shares;
	size_t n;

	split_keep_flavor(profile, from);
	shares = split_count(profile, &n);
	for (size_t i = 0; i < n; i++) {
		char name[PROFILE_NAME] = "others";

		if (i < COLUMNS_MAX)
			profile_label_name(profile, shares[i].label, name, sizeof(name));
		shares[i].flavor = profile_flavor(profile, 0, name);
		if (shares[i].flavor == NULL)
			fail("--for=each: the profile has too many flavors for more columns");
		shares[i].flavor->is_event = profile->flavors[from].is_event;
		shares[i].flavor->rate = profile->flavors[from].rate;
	}
	for (size_t i = 0; i < profile->n_samples; i++) {
		const struct share *share = split_find(shares, n, profile->samples[i].label);

		profile->samples[i].flavor = (uint8_t)(share->flavor - profile->flavors);
	}
	free(shares);
}
