/* SPDX-License-Identifier: MIT */
/* A profile: what readers add, and what is made of it at the end.  See model.h. */
#include "model.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gmon.h"
#include "mach/pc_sample.h"
#include "util.h"

static const struct {
	unsigned bit;
	const char *name;
} flavor_names[] = {
	{SAMPLED_PC_PERIODIC, "periodic"},
	{SAMPLED_PC_VM_ZFILL_FAULTS, "zfill"},
	{SAMPLED_PC_VM_REACTIVATION_FAULTS, "reactivation"},
	{SAMPLED_PC_VM_PAGEIN_FAULTS, "pagein"},
	{SAMPLED_PC_VM_COW_FAULTS, "cow"},
	{SAMPLED_PC_VM_FAULTS_ANY, "faults-any"},
};

/* Values that one file has, and another one another; what is in no list is a count. */
static const unsigned char single_values[] = {
	GMON_FORMAT, GMON_FLAVOR, GMON_FLAVORS,  GMON_RATE,      GMON_INTERVAL, GMON_OPTIONS,
	GMON_PID,    GMON_TASK,   GMON_TEXT_LOW, GMON_TEXT_HIGH, GMON_WALL,
};

_Static_assert(GMON_WALL < PROFILE_VALUES, "each value has a place and a bit");

void profile_begin(struct profile *profile)
{
	*profile = (struct profile){0};
}

void profile_bins_free(struct profile_bins *bins)
{
	free(bins->counts);
	free(bins->upper);
}

static void model_flavor_end(struct profile_flavor *flavor)
{
	for (unsigned mode = 0; mode < PROFILE_MODES; mode++)
		free(flavor->counts[mode].items);
	for (size_t i = 0; i < flavor->n_bins; i++)
		profile_bins_free(&flavor->bins[i]);
	free(flavor->bins);
}

void profile_end(struct profile *profile)
{
	for (size_t i = 0; i < profile->n_flavors; i++)
		model_flavor_end(&profile->flavors[i]);
	for (size_t i = 0; i < profile->n_tasks; i++)
		free((char *)profile->tasks[i].name);
	for (size_t i = 0; i < profile->n_images; i++)
		free((char *)profile->images[i].path);
	free(profile->arcs);
	free(profile->labels);
	free(profile->codes);
	free(profile->samples);
	free(profile->frames);
	free(profile->tasks);
	free(profile->images);
	map_free(&profile->label_places);
	map_free(&profile->task_places);
	map_free(&profile->image_places);
	free(profile->kin);
	map_free(&profile->kin_places);
	free(profile->users);
	*profile = (struct profile){0};
}

/* ---------------- Flavors ---------------- */

const char *profile_flavor_name(unsigned bit)
{
	for (size_t i = 0; i < sizeof(flavor_names) / sizeof(*flavor_names); i++)
		if (flavor_names[i].bit == bit)
			return flavor_names[i].name;
	return NULL;
}

static unsigned model_flavor_bit(const char *name)
{
	for (size_t i = 0; i < sizeof(flavor_names) / sizeof(*flavor_names); i++)
		if (strcmp(flavor_names[i].name, name) == 0)
			return flavor_names[i].bit;
	return 0;
}

struct profile_flavor *profile_flavor(struct profile *profile, unsigned bit, const char *name)
{
	struct profile_flavor *flavor;

	if (bit != 0)
		name = profile_flavor_name(bit);
	else
		bit = model_flavor_bit(name);
	if (name == NULL)
		return NULL;
	for (size_t i = 0; i < profile->n_flavors; i++)
		if (strncmp(profile->flavors[i].name, name, PROFILE_NAME - 1) == 0)
			return &profile->flavors[i];
	if (profile->n_flavors == PROFILE_FLAVORS)
		return NULL;
	flavor = &profile->flavors[profile->n_flavors++];
	strncpy(flavor->name, name, PROFILE_NAME - 1);
	flavor->bit = bit;
	flavor->is_event = bit != 0 && bit != SAMPLED_PC_PERIODIC;
	return flavor;
}

void profile_add_count(struct profile_flavor *flavor, enum profile_mode mode, uint64_t pc,
		       uint64_t count)
{
	struct profile_counts *counts = &flavor->counts[mode];

	counts->items = grow(counts->items, counts->n, &counts->room, sizeof(*counts->items));
	counts->items[counts->n++] = (struct profile_count){pc, count};
}

uint64_t profile_total(const struct profile_flavor *flavor)
{
	uint64_t total = flavor->counts[PROFILE_USER].total + flavor->counts[PROFILE_KERNEL].total;

	for (size_t i = 0; i < flavor->n_bins; i++)
		for (uint32_t bin = 0; bin < flavor->bins[i].n; bin++)
			total += profile_bins_get(&flavor->bins[i], bin);
	return total;
}

/* ---------------- Histograms ---------------- */

struct profile_bins *profile_bins(struct profile_flavor *flavor, uint64_t low, uint64_t high,
				  uint32_t n)
{
	struct profile_bins *bins;

	for (size_t i = 0; i < flavor->n_bins; i++) {
		bins = &flavor->bins[i];
		if (bins->low == low && bins->high == high && bins->n == n)
			return bins;
		if (low < bins->high && bins->low < high)
			return NULL;
	}
	if (flavor->n_bins == PROFILE_RANGES)
		return NULL;
	flavor->bins = reallocate(flavor->bins, flavor->n_bins + 1, sizeof(*flavor->bins));
	bins = &flavor->bins[flavor->n_bins++];
	*bins = (struct profile_bins){.low = low, .high = high, .n = n};
	bins->counts = allocate(n, sizeof(*bins->counts));
	return bins;
}

void profile_bins_add(struct profile_bins *bins, uint32_t bin, uint64_t count)
{
	uint64_t sum = profile_bins_get(bins, bin) + count;

	assert(bin < bins->n);
	bins->counts[bin] = (uint32_t)sum;
	if (sum >> 32 != 0 && bins->upper == NULL)
		bins->upper = allocate(bins->n, sizeof(*bins->upper));
	if (bins->upper != NULL)
		bins->upper[bin] = (uint32_t)(sum >> 32);
}

uint64_t profile_bins_start(const struct profile_bins *bins, uint32_t bin)
{
	uint64_t span = bins->high - bins->low;

	return bins->low + span / bins->n * bin + span % bins->n * bin / bins->n;
}

uint32_t profile_bins_before(const struct profile_bins *bins, uint32_t from, uint64_t address)
{
	uint32_t low = from, high = bins->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (profile_bins_start(bins, middle + 1) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---------------- Arcs, samples, names ---------------- */

void profile_add_arc(struct profile *profile, uint64_t from, uint64_t self, uint64_t count)
{
	profile->arcs =
		grow(profile->arcs, profile->n_arcs, &profile->arcs_room, sizeof(*profile->arcs));
	profile->arcs[profile->n_arcs++] = (struct profile_arc){from, self, count};
}

void profile_add_label(struct profile *profile, uint32_t task, uint64_t samples)
{
	uint32_t place = map_get(&profile->label_places, task);

	if (place != MAP_NONE) {
		profile->labels[place].samples += samples;
		return;
	}
	profile->labels = grow(profile->labels, profile->n_labels, &profile->labels_room,
			       sizeof(*profile->labels));
	map_set(&profile->label_places, task, (uint32_t)profile->n_labels);
	profile->labels[profile->n_labels++] = (struct profile_label){task, samples};
}

void profile_add_code(struct profile *profile, const struct profile_code *code)
{
	profile->codes = grow(profile->codes, profile->n_codes, &profile->codes_room,
			      sizeof(*profile->codes));
	profile->codes[profile->n_codes++] = *code;
}

void profile_add_sample(struct profile *profile, struct profile_sample sample,
			const uint64_t *frames)
{
	sample.frames = (uint32_t)profile->n_frames;
	sample.images = (uint32_t)profile->n_images;
	for (unsigned i = 0; i < (unsigned)sample.kernel_frames + sample.user_frames; i++) {
		profile->frames = grow(profile->frames, profile->n_frames, &profile->frames_room,
				       sizeof(*profile->frames));
		profile->frames[profile->n_frames++] = frames[i];
	}
	profile->samples = grow(profile->samples, profile->n_samples, &profile->samples_room,
				sizeof(*profile->samples));
	profile->samples[profile->n_samples++] = sample;
}

void profile_name_user(struct profile *profile, int32_t uid, const char *name)
{
	struct profile_user *user;

	profile->users = grow(profile->users, profile->n_users, &profile->users_room,
			      sizeof(*profile->users));
	user = &profile->users[profile->n_users++];
	user->uid = uid;
	snprintf(user->name, sizeof(user->name), "%s", name);
}

struct profile_kin *profile_kin(struct profile *profile, int32_t pid)
{
	uint32_t place = map_get(&profile->kin_places, (uint32_t)pid);

	if (place != MAP_NONE)
		return &profile->kin[place];
	profile->kin =
		grow(profile->kin, profile->n_kin, &profile->kin_room, sizeof(*profile->kin));
	profile->kin[profile->n_kin] = (struct profile_kin){.pid = pid, .parent = -1, .user = -1};
	map_set(&profile->kin_places, (uint32_t)pid, (uint32_t)profile->n_kin);
	return &profile->kin[profile->n_kin++];
}

struct profile_task *profile_task(struct profile *profile, uint32_t id)
{
	uint32_t place = map_get(&profile->task_places, id);

	if (place != MAP_NONE)
		return &profile->tasks[place];
	profile->tasks = grow(profile->tasks, profile->n_tasks, &profile->tasks_room,
			      sizeof(*profile->tasks));
	profile->tasks[profile->n_tasks] = (struct profile_task){
		.id = id,
		.pid = -1,
		.name = copy_text(""),
	};
	map_set(&profile->task_places, id, (uint32_t)profile->n_tasks);
	return &profile->tasks[profile->n_tasks++];
}

void profile_name_task(struct profile *profile, uint32_t id, int32_t pid, const char *name)
{
	struct profile_task *task = profile_task(profile, id);

	free((char *)task->name);
	task->pid = pid;
	task->name = copy_printable(name);
}

/* The kernel's images are a task's of their own, which no other has the number of. */
static uint32_t model_owner_of(uint32_t task, bool is_kernel)
{
	return is_kernel ? UINT32_MAX : task;
}

bool profile_add_image(struct profile *profile, const struct profile_image *image)
{
	uint32_t owner = model_owner_of(image->task, image->is_kernel);
	struct profile_image copy = *image;
	unsigned n = 0;

	copy.before = map_get(&profile->image_places, owner);
	for (uint32_t i = copy.before; i != MAP_NONE; i = profile->images[i].before)
		if (++n == PROFILE_IMAGES)
			return false;
	copy.path = copy_printable(image->path);
	profile->images = grow(profile->images, profile->n_images, &profile->images_room,
			       sizeof(*profile->images));
	map_set(&profile->image_places, owner, (uint32_t)profile->n_images);
	profile->images[profile->n_images++] = copy;
	return true;
}

/* Of a file that does not say when, what stands before the sample was. */
static bool model_was_mapped(const struct profile *profile, const struct profile_image *image,
			     const struct profile_sample *sample)
{
	if (sample == NULL)
		return true;
	if (image->time == PROFILE_NO_TIME)
		return (size_t)(image - profile->images) < sample->images;
	return image->time <= sample->time;
}

/* From the last image of the task, or of the kernel, to the first. */
static const struct profile_image *model_choose_image(const struct profile *profile, uint32_t owner,
						      const struct profile_sample *sample,
						      uint64_t low, uint64_t high)
{
	const struct profile_image *found = NULL;
	uint32_t i = map_get(&profile->image_places, owner);

	for (; i != MAP_NONE; i = profile->images[i].before) {
		const struct profile_image *image = &profile->images[i];

		if (high < image->low || low >= image->high)
			continue;
		found = image;
		if (model_was_mapped(profile, image, sample))
			break;
	}
	return found;
}

const struct profile_image *profile_image(const struct profile *profile,
					  const struct profile_sample *sample, uint64_t address)
{
	return model_choose_image(profile, model_owner_of(sample->task, false), sample, address,
				  address);
}

const struct profile_image *profile_last_image(const struct profile *profile,
					       const struct profile_sample *sample)
{
	return model_choose_image(profile, model_owner_of(sample->task, false), sample, 0,
				  UINT64_MAX);
}

const struct profile_image *profile_kernel_image(const struct profile *profile, uint64_t address)
{
	return model_choose_image(profile, model_owner_of(0, true), NULL, address, address);
}

bool profile_set_kernel(struct profile *profile, const struct elfsym *kernel)
{
	for (size_t i = 0; i < profile->n_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		if (sample->is_kernel && (sample->kernel_pc < kernel->text_start ||
					  sample->kernel_pc >= kernel->text_end))
			return false;
	}
	for (size_t i = 0; i < profile->n_images; i++)
		if (profile->images[i].is_kernel)
			profile->images[i].symbols = kernel;
	profile->kernel = kernel;
	return true;
}

/* ---------------- Values ---------------- */

static bool model_is_single(unsigned which)
{
	return memchr(single_values, (int)which, sizeof(single_values)) != NULL;
}

void profile_add_value(struct profile *profile, unsigned which, uint64_t value)
{
	if (which >= PROFILE_VALUES)
		return;
	/* A file of events alone has no rate. */
	if (model_is_single(which) && value != 0)
		profile->values[which] = value;
	else if (!model_is_single(which))
		profile->values[which] += value;
	profile->known |= 1u << which;
}

bool profile_knows(const struct profile *profile, unsigned which)
{
	return (profile->known >> which & 1) != 0;
}

unsigned profile_cpus(const struct profile *profile)
{
	unsigned n = PROFILE_CPUS;

	while (n > 0 && profile->cpus[n - 1][GMON_DUE] == 0)
		n--;
	return n;
}
