/* SPDX-License-Identifier: MIT */
/* A profile as stacks of functions: see view.h. */
#include "view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <gmon.h>

#include "../map.h"
#include "../util.h"
#include "callers.h"

#define NANOSECONDS UINT64_C(1000000000)

/* ---------------- Functions ---------------- */

/* In the table a place is an index plus one; 0 is a free one. */
static uint32_t *view_find_slot(const struct view *view, const struct view_function *wanted)
{
	uint64_t hash = (wanted->start * 2 + wanted->is_kernel) * 0x9e3779b97f4a7c15ull;
	size_t slot = (size_t)(hash >> 32) & (view->table_size - 1);

	for (;; slot = (slot + 1) & (view->table_size - 1)) {
		const struct view_function *function;

		if (view->table[slot] == 0)
			return &view->table[slot];
		function = &view->functions[view->table[slot] - 1];
		if (function->start == wanted->start && function->image == wanted->image &&
		    function->is_kernel == wanted->is_kernel &&
		    strcmp(function->name, wanted->name) == 0)
			return &view->table[slot];
	}
}

/* Keeps the table half empty at least. */
static void view_make_room(struct view *view)
{
	if (view->n_functions * 2 < view->table_size)
		return;
	free(view->table);
	view->table_size = view->table_size != 0 ? view->table_size * 2 : 1024;
	view->table = allocate(view->table_size, sizeof *view->table);
	for (size_t i = 0; i < view->n_functions; i++)
		*view_find_slot(view, &view->functions[i]) = (uint32_t)i + 1;
}

static uint32_t view_function_of(struct view *view, struct view_function wanted)
{
	uint32_t *slot;

	view_make_room(view);
	slot = view_find_slot(view, &wanted);
	if (*slot == 0) {
		view->functions = grow(view->functions, view->n_functions, &view->functions_room,
				       sizeof *view->functions);
		view->functions[view->n_functions++] = wanted;
		*slot = (uint32_t)view->n_functions;
	}
	return *slot - 1;
}

static const char *view_last_part(const char *path)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	return slash != NULL ? slash + 1 : path != NULL ? path : "";
}

/* A recording of the whole machine has many programs, of which one may be at hand. */
static bool view_is_program(const struct view *view, const struct profile_image *image)
{
	const char *name = view_last_part(image->path);

	if (image->is_kernel || strcmp(name, view_last_part(view->program_path)) == 0)
		return true;
	if (view->program == NULL || image->low >= view->program->text_end ||
	    image->high <= view->program->text_start)
		return false;
	for (size_t i = 0; i < view->profile->n_images; i++) {
		const struct profile_image *other = &view->profile->images[i];

		if (!other->is_kernel && strcmp(view_last_part(other->path), name) != 0)
			return false;
	}
	return true;
}

const struct elfsym *view_symbols(const struct view *view, const struct profile_image *image)
{
	if (image != NULL && image->symbols != NULL)
		return image->symbols;
	return image == NULL || view_is_program(view, image) ? view->program : NULL;
}

/*
 * Where an address is: in an image, or in none of the program that the task runs.  NULL if nothing
 * is known of the task.
 */
static const struct profile_image *
view_image_of(const struct view *view, const struct profile_sample *sample, uint64_t address)
{
	const struct profile_image *image = NULL;

	if (sample != NULL)
		image = profile_image(view->profile, sample, address);
	if (sample != NULL && image == NULL)
		image = profile_last_image(view->profile, sample);
	return image;
}

static bool view_is_same_program(const struct profile_image *one, const struct profile_image *other)
{
	return one->is_kernel == other->is_kernel && one->sum == other->sum &&
	       one->symbols == other->symbols && strcmp(one->path, other->path) == 0;
}

/* What several processes ran is one program to look at, whose functions are there once. */
static void view_find_firsts(struct view *view)
{
	const struct profile *profile = view->profile;

	view->firsts = allocate(profile->n_images + 1, sizeof *view->firsts);
	for (uint32_t i = 0; i < profile->n_images; i++) {
		uint32_t first = 0;

		while (!view_is_same_program(&profile->images[first], &profile->images[i]))
			first++;
		view->firsts[i] = first;
	}
}

static const struct profile_image *view_first_of(const struct view *view,
						 const struct profile_image *image)
{
	const struct profile_image *images = view->profile->images;

	return image == NULL ? NULL : &images[view->firsts[image - images]];
}

static bool view_has_programs(const struct view *view)
{
	for (size_t i = 0; i < view->profile->n_images; i++)
		if (!view->profile->images[i].is_kernel)
			return true;
	return false;
}

/*
 * For what is in no function, or in a program that is not at hand.  A task that ended before its
 * program was known has only a name.
 */
static struct view_function view_unknown(const struct view *view, const struct profile_image *image,
					 const struct profile_sample *sample)
{
	const struct profile_task *task = sample != NULL ? view_task(view, sample->task) : NULL;

	if (image != NULL && view_symbols(view, image) == NULL && image->path != NULL)
		return (struct view_function){.name = view_last_part(image->path), .image = image};
	if (image == NULL && view_has_programs(view) && task != NULL && task->name != NULL)
		return (struct view_function){.name = task->name};
	return (struct view_function){.name = VIEW_UNKNOWN};
}

static struct view_frame view_kernel_place(struct view *view, uint64_t address, uint64_t inside)
{
	const struct profile_image *image =
		view_first_of(view, profile_kernel_image(view->profile, inside));
	const struct elfsym *symbols = view_symbols(view, image);
	const struct elfsym_function *function =
		symbols != NULL ? elfsym_find(symbols, inside, NULL) : NULL;

	if (function == NULL)
		return view_kernel(view);
	return (struct view_frame){
		.function = view_function_of(
			view, (struct view_function){function->name, image, function->start, true}),
		.is_return = inside != address,
		.address = address,
	};
}

/* A place in the program that the sample's task, or a client, had then. */
static struct view_frame view_user_place(struct view *view, const struct profile_sample *sample,
					 uint64_t address, uint64_t inside)
{
	const struct profile_image *image =
		view_first_of(view, view_image_of(view, sample, inside));
	const struct elfsym *symbols =
		image != NULL || !view_has_programs(view) ? view_symbols(view, image) : NULL;
	const struct elfsym_function *function =
		symbols != NULL ? elfsym_find(symbols, inside, NULL) : NULL;
	struct view_function wanted;

	if (function == NULL)
		wanted = view_unknown(view, image, sample);
	else
		wanted = (struct view_function){function->name, image, function->start, false};
	return (struct view_frame){
		.function = view_function_of(view, wanted),
		.is_return = inside != address,
		.address = address,
	};
}

struct view_frame view_place(struct view *view, const struct profile_sample *sample, bool is_kernel,
			     uint64_t address, bool is_return)
{
	uint32_t client = is_kernel ? 0 : profile_client(view->profile, address);
	uint64_t own = is_kernel ? address : profile_own_address(view->profile, address);
	uint64_t inside = is_return && own > 0 ? own - 1 : own;
	struct profile_sample of_client;
	struct view_frame frame;

	if (is_kernel)
		return view_kernel_place(view, own, inside);
	if (client == 0)
		return view_user_place(view, sample, own, inside);
	of_client = *sample;
	of_client.task = client;
	frame = view_user_place(view, &of_client, own, inside);
	frame.client = client;
	return frame;
}

struct view_frame view_kernel(struct view *view)
{
	const struct view_function kernel = {VIEW_KERNEL, NULL, 0, true};

	return (struct view_frame){.function = view_function_of(view, kernel)};
}

/* What a wait in time as it passed was for, as if the thread had called it. */
static struct view_frame view_reason(struct view *view, const char *name)
{
	return (struct view_frame){
		.function = view_function_of(view, (struct view_function){.name = name})};
}

/* ---------------- Stacks ---------------- */

void view_add_frame(struct view *view, struct view_frame frame)
{
	view->frames = grow(view->frames, view->n_frames, &view->frames_room, sizeof *view->frames);
	view->frames[view->n_frames++] = frame;
}

void view_add_stack(struct view *view, size_t first, uint32_t flavor, uint64_t count,
		    const struct profile_sample *sample)
{
	view->stacks = grow(view->stacks, view->n_stacks, &view->stacks_room, sizeof *view->stacks);
	view->stacks[view->n_stacks++] = (struct view_stack){
		.frames = first,
		.depth = (uint32_t)(view->n_frames - first),
		.flavor = flavor,
		.count = count,
		.sample = sample,
	};
}

/* A kernel without symbols is one frame, whatever was found in it. */
static void view_add_kernel_frame(struct view *view, size_t first, uint64_t address, bool is_return)
{
	struct view_frame frame = view_place(view, NULL, true, address, is_return);

	if (view->n_frames > first && frame.address == 0 &&
	    view->frames[view->n_frames - 1].function == frame.function)
		return;
	view_add_frame(view, frame);
}

/* A client's innermost address is where it waits, and no return address. */
static void view_add_users_frames(struct view *view, const struct profile_sample *sample,
				  const uint64_t *frames)
{
	uint32_t last = 0;

	for (unsigned i = 0; i < sample->user_frames; i++) {
		uint32_t client = profile_client(view->profile, frames[i]);

		view_add_frame(view, view_place(view, sample, false, frames[i], client == last));
		last = client;
	}
}

static void view_add_sample(struct view *view, const struct profile_sample *sample, uint32_t flavor)
{
	const uint64_t *frames = view->profile->frames + sample->frames;
	size_t first = view->n_frames;

	if (sample->weight == 0)
		return;
	if (sample->waits_for != NULL)
		view_add_frame(view, view_reason(view, sample->waits_for));
	if (sample->is_kernel) {
		view_add_kernel_frame(view, first, sample->kernel_pc, false);
		for (unsigned i = 0; i < sample->kernel_frames; i++)
			view_add_kernel_frame(view, first, frames[i], true);
	}
	if (!sample->is_kernel || sample->pc != 0)
		view_add_frame(view, view_place(view, sample, false, sample->pc, false));
	view_add_users_frames(view, sample, frames + sample->kernel_frames);
	view_add_stack(view, first, flavor, sample->weight, sample);
}

/* The number that the flavor of a sample has in the view; false if it is not shown. */
static bool view_find_flavor(const struct view *view, const struct view_source *source,
			     const struct profile_sample *sample, uint32_t *flavor)
{
	*flavor = sample->flavor;
	if (source->flavor == NULL)
		return true;
	*flavor = 0;
	return strcmp(source->profile->flavors[sample->flavor].name,
		      view->profile->flavors[0].name) == 0;
}

/* A sample in the program. */
static const struct profile_sample *view_find_own(const struct view *view)
{
	const struct profile *profile = view->profile;

	for (size_t i = 0; i < profile->n_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		if (!sample->is_strange &&
		    view_symbols(view, view_image_of(view, sample, sample->pc)) != NULL)
			return sample;
	}
	return NULL;
}

/* Counts of calls beside samples: a gmon.out of the same run had them. */
static void view_add_calls(struct view *view)
{
	const struct profile_sample *sample = view_find_own(view);
	struct callers callers;

	if (sample == NULL)
		return;
	callers_read(&callers, view, sample);
	free(callers.items);
}

void view_begin(struct view *view, const struct profile *profile, const struct view_source *source)
{
	*view = (struct view){
		.profile = profile,
		.program = source->program,
		.program_path = source->path,
		.kernel_path = source->kernel,
	};
	view_find_firsts(view);
	for (size_t i = 0; i < profile->n_samples; i++) {
		uint32_t flavor;

		if (view_find_flavor(view, source, &profile->samples[i], &flavor))
			view_add_sample(view, &profile->samples[i], flavor);
	}
	if (profile->n_samples == 0)
		view_guess(view);
	else if (profile->n_arcs > 0)
		view_add_calls(view);
}

void view_end(struct view *view)
{
	free(view->functions);
	free(view->frames);
	free(view->stacks);
	free(view->calls);
	free(view->sites);
	free(view->firsts);
	free(view->table);
}

/* ---------------- For writers ---------------- */

const char *view_file(const struct view *view, uint32_t function)
{
	const struct view_function *of = &view->functions[function];
	const struct elfsym *symbols = view_symbols(view, of->image);

	if (of->start == 0 || symbols == NULL)
		return NULL;
	if (of->image != NULL && of->image->file != NULL)
		return of->image->file;
	return symbols == view->program ? view->program_path : view->kernel_path;
}

const char *view_object(const struct view *view, uint32_t function)
{
	const struct profile_image *image = view->functions[function].image;

	return image != NULL && image->path != NULL ? image->path : "";
}

uint64_t view_total(const struct view *view, size_t flavor)
{
	uint64_t total = 0;

	for (size_t i = 0; i < view->n_stacks; i++)
		if (view->stacks[i].flavor == flavor)
			total += view->stacks[i].count;
	return total;
}

size_t view_main_flavor(const struct view *view)
{
	const struct profile_flavor *flavors = view->profile->flavors;

	for (size_t i = 0; i < view->profile->n_flavors; i++)
		if (view_interval(&flavors[i]) != 0 && !flavors[i].is_length)
			return i;
	return 0;
}

uint64_t view_interval(const struct profile_flavor *flavor)
{
	return flavor->is_event || flavor->rate <= 0 ? 0 : (uint64_t)(NANOSECONDS / flavor->rate);
}

const struct profile_task *view_task(const struct view *view, uint32_t id)
{
	uint32_t index = map_get(&view->profile->task_places, id);

	return index != MAP_NONE ? &view->profile->tasks[index] : NULL;
}

const char *view_task_name(const struct view *view, uint32_t id, char *text, size_t size)
{
	const struct profile_task *task = view_task(view, id);

	if (task == NULL || (task->pid < 0 && task->name == NULL))
		snprintf(text, size, "%s%" PRIu32, id == 0 ? "system:" : "task:", id);
	else if (task->pid < 0)
		snprintf(text, size, "%s", task->name);
	else
		snprintf(text, size, "%" PRId32 ":%s", task->pid,
			 task->name != NULL ? task->name : "");
	return text;
}

const char *view_value_name(unsigned which)
{
	static const char *const words[PROFILE_VALUES] = {
		[GMON_RATE] = "rate",           [GMON_INTERVAL] = "interval",
		[GMON_OPTIONS] = "options",     [GMON_DUE] = "due",
		[GMON_FIRED] = "fired",         [GMON_MISSED] = "missed",
		[GMON_IDLE] = "idle",           [GMON_ELSEWHERE] = "elsewhere",
		[GMON_TAKEN] = "taken",         [GMON_ALL_TAKEN] = "all-taken",
		[GMON_DELIVERED] = "delivered", [GMON_LOST] = "lost",
		[GMON_BUFFERED] = "buffered",   [GMON_PROFILER] = "profiler",
		[GMON_OUTSIDE] = "outside",     [GMON_ARCS_LOST] = "arcs-lost",
		[GMON_KERNEL] = "kernel",       [GMON_OTHERS] = "others",
		[GMON_PARKED] = "parked",       [GMON_WALL] = "wall",
	};

	return words[which];
}

const char *view_value(const struct profile *profile, unsigned which, char *text, size_t size)
{
	const char *name = view_value_name(which);

	if (name == NULL || !profile_knows(profile, which))
		return NULL;
	snprintf(text, size, "%s=%" PRIu64, name, profile->values[which]);
	return text;
}

const unsigned view_cpu_values[VIEW_CPU_VALUES] = {
	GMON_DUE, GMON_FIRED, GMON_MISSED, GMON_PARKED, GMON_IDLE, GMON_ELSEWHERE, GMON_TAKEN,
};

const char *view_word(const struct profile *profile, unsigned which, char *text, size_t size)
{
	unsigned cpu = which - PROFILE_VALUES;
	size_t length;

	if (which < PROFILE_VALUES)
		return view_value(profile, which, text, size);
	if (cpu >= profile_cpus(profile))
		return NULL;
	length = (size_t)snprintf(text, size, "cpu%u", cpu);
	for (unsigned i = 0; i < VIEW_CPU_VALUES && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%c%s:%" PRIu64,
					   i == 0 ? '=' : ',', view_value_name(view_cpu_values[i]),
					   profile->cpus[cpu][view_cpu_values[i]]);
	return text;
}

uint64_t view_lost(const struct profile *profile)
{
	return profile_knows(profile, GMON_LOST) ? profile->values[GMON_LOST] : 0;
}

void view_quote(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < ' ' || c >= 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			putc(c, out);
	}
	putc('"', out);
}
