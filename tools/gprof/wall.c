/* SPDX-License-Identifier: MIT */
/*
 * Time as it passed: what ran and what waited, as one flavor in nanoseconds (--flavor=wall).
 *
 * A sample of the clock stands for the time between two of them, and a wait for its length: of one
 * thread together that is the time that passed.  But where a thread waits for a server, the
 * recording may say what the server did meanwhile, with the thread's stack behind its own
 * (SAMPLE_CLIENTS).  That is a part of the wait, whose rest is what nobody knows more of.  The
 * server may wait itself: so a time is taken from its nearest client's wait alone, which counts in
 * full towards the next one's.
 *
 * Which wait that is, time and stack say: the client stands still meanwhile.  Samples are an
 * estimate, and several in a short wait can come to more than it: what is too much is taken from
 * the thread's next ones.
 */
#include "wall.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"

#define NANOSECONDS 1e9

/* Waits, sorted by task, thread and time. */
struct waits {
	const struct profile *profile;
	uint32_t *samples; /* Indices. */
	uint64_t *inside;  /* Of each sample, what lies in it: nanoseconds. */
	size_t n;
};

/* For qsort(), which hands nothing on. */
static const struct profile_sample *sorted_samples;

static int wall_compare(const void *first, const void *second)
{
	const struct profile_sample *one = &sorted_samples[*(const uint32_t *)first];
	const struct profile_sample *other = &sorted_samples[*(const uint32_t *)second];

	if (one->task != other->task)
		return one->task < other->task ? -1 : 1;
	if (one->thread != other->thread)
		return one->thread < other->thread ? -1 : 1;
	return (one->time > other->time) - (one->time < other->time);
}

static bool wall_is_wait(const struct profile *profile, const struct profile_sample *sample)
{
	return profile->flavors[sample->flavor].is_length;
}

static void wall_sort_waits(struct waits *waits, const struct profile *profile)
{
	*waits = (struct waits){
		.profile = profile,
		.samples = allocate(profile->n_samples + 1, sizeof *waits->samples),
		.inside = allocate(profile->n_samples + 1, sizeof *waits->inside),
	};
	for (uint32_t i = 0; i < profile->n_samples; i++)
		if (wall_is_wait(profile, &profile->samples[i]))
			waits->samples[waits->n++] = i;
	sorted_samples = profile->samples;
	sort(waits->samples, waits->n, sizeof *waits->samples, wall_compare);
}

/* ---------------- Whose part something is ---------------- */

/* A time that somebody waited for: its nearest client, with the stack from there on. */
struct served {
	uint32_t client;
	uint64_t time;
	const uint64_t *frames;
	unsigned n;
};

/* False if it has no client. */
static bool wall_find_client(const struct profile *profile, const struct profile_sample *sample,
			     struct served *served)
{
	const uint64_t *frames = &profile->frames[sample->frames] + sample->kernel_frames;
	unsigned first = 0;

	while (first < sample->user_frames && profile_client(profile, frames[first]) == 0)
		first++;
	*served = (struct served){.frames = frames + first, .n = sample->user_frames - first};
	if (served->n == 0)
		return false;
	served->client = profile_client(profile, served->frames[0]);
	served->time = sample->time;
	if (wall_is_wait(profile, sample))
		served->time -= sample->weight;
	return true;
}

/* Whether a wait's user stack is what stands behind the server's. */
static bool wall_is_same_stack(const struct profile *profile, const struct profile_sample *wait,
			       const struct served *served)
{
	const uint64_t *frames = &profile->frames[wait->frames] + wait->kernel_frames;

	if (served->n != wait->user_frames + 1u ||
	    profile_own_address(profile, served->frames[0]) != wait->pc)
		return false;
	for (unsigned i = 1; i < served->n; i++)
		if (profile_own_address(profile, served->frames[i]) !=
		    profile_own_address(profile, frames[i - 1]))
			return false;
	return true;
}

static bool wall_is_within(const struct profile_sample *wait, uint64_t time)
{
	return wait->time - wait->weight <= time && time < wait->time;
}

/* The first of the waits that is not before this task, thread and time. */
static size_t wall_first(const struct waits *waits, uint32_t task, uint32_t thread, uint64_t time)
{
	size_t low = 0, high = waits->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct profile_sample *wait =
			&waits->profile->samples[waits->samples[middle]];
		bool is_before = wait->task != task       ? wait->task < task
				 : wait->thread != thread ? wait->thread < thread
							  : wait->time <= time;

		if (is_before)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Adds a time to the wait of the client that it is a part of, if the recording has that. */
static void wall_give(struct waits *waits, const struct served *served, uint64_t weight)
{
	const struct profile_sample *samples = waits->profile->samples;
	uint32_t thread = 0;

	for (;;) {
		size_t at = wall_first(waits, served->client, thread, served->time);
		const struct profile_sample *wait;

		if (at == waits->n || samples[waits->samples[at]].task != served->client)
			return;
		wait = &samples[waits->samples[at]];
		if (wait->thread > thread) {
			/* That thread's may begin before `at`: once more, with its number. */
			thread = wait->thread;
			continue;
		}
		if (wall_is_within(wait, served->time) &&
		    wall_is_same_stack(waits->profile, wait, served)) {
			waits->inside[waits->samples[at]] += weight;
			return;
		}
		thread++;
	}
}

/* ---------------- The flavor ---------------- */

/* What a sample stands for in nanoseconds; 0 for an event. */
static uint64_t wall_weight(const struct profile *profile, const struct profile_sample *sample)
{
	const struct profile_flavor *flavor = &profile->flavors[sample->flavor];

	if (flavor->is_length)
		return sample->weight;
	return flavor->is_event || flavor->rate <= 0 ? 0 : (uint64_t)(NANOSECONDS / flavor->rate);
}

/* Waits lose what lies in them; in the order of each thread's time. */
static void wall_take_from_waits(struct profile *profile, const struct waits *waits)
{
	uint64_t debt = 0;

	for (size_t i = 0; i < waits->n; i++) {
		struct profile_sample *wait = &profile->samples[waits->samples[i]];
		uint64_t inside = waits->inside[waits->samples[i]];

		if (i == 0 || profile->samples[waits->samples[i - 1]].thread != wait->thread)
			debt = 0;
		inside += debt;
		debt = inside > wait->weight ? inside - wait->weight : 0;
		wait->weight -= inside - debt;
	}
}

static bool wall_has_lengths(const struct profile *profile)
{
	for (size_t i = 0; i < profile->n_flavors; i++)
		if (profile->flavors[i].is_length)
			return true;
	return false;
}

bool profile_add_wall(struct profile *profile)
{
	struct profile_flavor *wall =
		wall_has_lengths(profile) ? profile_flavor(profile, 0, WALL) : NULL;
	struct waits waits;

	if (wall == NULL)
		return false;
	wall->rate = NANOSECONDS;
	wall_sort_waits(&waits, profile);
	for (size_t i = 0; i < profile->n_samples; i++) {
		struct profile_sample *sample = &profile->samples[i];
		uint64_t weight = wall_weight(profile, sample);
		struct served served;

		if (weight > 0 && wall_find_client(profile, sample, &served))
			wall_give(&waits, &served, weight);
	}
	wall_take_from_waits(profile, &waits);
	for (size_t i = 0; i < profile->n_samples; i++) {
		struct profile_sample *sample = &profile->samples[i];
		bool is_wait = wall_is_wait(profile, sample);

		if (!is_wait && wall_weight(profile, sample) == 0)
			continue;
		sample->weight = wall_weight(profile, sample);
		sample->waits_for = is_wait ? profile->flavors[sample->flavor].name : NULL;
		sample->flavor = (uint8_t)(wall - profile->flavors);
	}
	wall->is_length = true;
	free(waits.samples);
	free(waits.inside);
	return true;
}
