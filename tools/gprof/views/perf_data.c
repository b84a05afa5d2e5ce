/* SPDX-License-Identifier: MIT */
/*
 * perf.data in pipe form: what perf_read.c reads, and perf.  A flavor is an event, a label a
 * cgroup; so many samples at one place are one sample with a longer period.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <gmon.h>

#include "../perf_format.h"
#include "../util.h"
#include "view.h"

#define PROGRAM_PID    1u
#define NO_PID         1000000u /* And the task's id: what is no process. */
#define OTHER_ID       0x10000u /* Of events that are no flavor of ours: and their index. */
#define PROT_READ_EXEC 5u
#define MAP_PRIVATE    2u
#define ALIGNMENT      8u
#define STRING_ALIGN   64u /* Of strings in features. */
#define SAMPLE_TYPE                                                                      \
	(PERF_HAS_IP | PERF_HAS_TID | PERF_HAS_TIME | PERF_HAS_CALLCHAIN | PERF_HAS_ID | \
	 PERF_HAS_CPU | PERF_HAS_PERIOD | PERF_HAS_CGROUP)

/* What perf calls an event if nobody says its name. */
enum software_event {
	CPU_CLOCK = 0,
	DUMMY = 9,
	LENGTH = PERF_CONFIG_LENGTH,
};

static enum software_event perf_data_config_of(const struct profile_flavor *flavor)
{
	if (flavor->is_length)
		return LENGTH;
	return view_interval(flavor) != 0 ? CPU_CLOCK : DUMMY;
}

/* A record that is being made up. */
struct record {
	FILE *out;
	struct map processes; /* By pid, the place of the last task that was it. */
	size_t used;
	unsigned char bytes[PERF_RECORD_MAX];
};

/* ---------------- Records ---------------- */

/* What does not fit is left out: names are cut, stacks are not that deep. */
static void perf_data_put(struct record *record, const void *bytes, size_t size)
{
	if (size > sizeof record->bytes - record->used)
		size = sizeof record->bytes - record->used;
	memcpy(record->bytes + record->used, bytes, size);
	record->used += size;
}

static void perf_data_put32(struct record *record, uint32_t number)
{
	perf_data_put(record, &number, sizeof number);
}

static void perf_data_put64(struct record *record, uint64_t number)
{
	perf_data_put(record, &number, sizeof number);
}

static void perf_data_align(struct record *record, size_t alignment, size_t from)
{
	while ((record->used - from) % alignment != 0)
		perf_data_put(record, "", 1);
}

/* A text that ends the record. */
static void perf_data_put_text(struct record *record, const char *text)
{
	size_t length = strlen(text), room = sizeof record->bytes - record->used - ALIGNMENT;

	perf_data_put(record, text, length < room ? length : room);
	perf_data_put(record, "", 1);
	perf_data_align(record, ALIGNMENT, 0);
}

static void perf_data_begin(struct record *record, enum perf_type type, uint16_t misc)
{
	struct perf_header header = {.type = type, .misc = misc};

	record->used = 0;
	perf_data_put(record, &header, sizeof header);
}

static void perf_data_end(struct record *record)
{
	uint16_t size = (uint16_t)record->used;

	memcpy(record->bytes + offsetof(struct perf_header, size), &size, sizeof size);
	fwrite(record->bytes, record->used, 1, record->out);
}

/* ---------------- What is described ---------------- */

static uint64_t perf_data_id_of(const struct view *view, uint32_t flavor)
{
	unsigned bit = view->profile->flavors[flavor].bit;

	return bit != 0 ? bit : OTHER_ID + flavor;
}

static void perf_data_put_event(struct record *record, const struct view *view, uint32_t flavor)
{
	static const unsigned char rest[PERF_ATTR_SIZE - PERF_ATTR_USED];
	const struct profile_flavor *of = &view->profile->flavors[flavor];
	uint64_t interval = view_interval(of);
	const struct perf_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE,
		.config = perf_data_config_of(of),
		.period = interval != 0 ? interval : 1,
		.sample_type = SAMPLE_TYPE,
	};

	perf_data_begin(record, PERF_ATTR, 0);
	perf_data_put(record, &attr, sizeof attr);
	perf_data_put(record, rest, sizeof rest);
	perf_data_put64(record, perf_data_id_of(view, flavor));
	perf_data_end(record);
	perf_data_begin(record, PERF_EVENT_UPDATE, 0);
	perf_data_put64(record, PERF_UPDATE_NAME);
	perf_data_put64(record, perf_data_id_of(view, flavor));
	perf_data_put_text(record, of->name);
	perf_data_end(record);
}

/* A process that executed another program was another task before, and is another process here. */
static uint32_t perf_data_pid_of(const struct record *record, const struct view *view,
				 uint32_t task)
{
	const struct profile_task *of = view_task(view, task);

	if (of == NULL || of->pid < 0 ||
	    map_get(&record->processes, (uint32_t)of->pid) != of - view->profile->tasks)
		return NO_PID + task;
	return (uint32_t)of->pid;
}

static uint32_t perf_data_tid_of(const struct profile_sample *sample)
{
	return sample->thread < PERF_THREADS ? PERF_THREADS + sample->thread : sample->thread;
}

static void perf_data_find_processes(struct record *record, const struct profile *profile)
{
	for (size_t i = 0; i < profile->n_tasks; i++)
		if (profile->tasks[i].pid >= 0)
			map_set(&record->processes, (uint32_t)profile->tasks[i].pid, (uint32_t)i);
}

static void perf_data_put_comm(struct record *record, uint32_t pid, uint32_t thread,
			       const char *name)
{
	perf_data_begin(record, PERF_COMM, 0);
	perf_data_put32(record, pid);
	perf_data_put32(record, thread);
	perf_data_put_text(record, name);
	perf_data_end(record);
}

static void perf_data_put_task(struct record *record, const struct view *view,
			       const struct profile_task *task)
{
	char name[PROFILE_NAME * 8], path[sizeof name + 1];

	snprintf(path, sizeof path, "/%s", view_task_name(view, task->id, name, sizeof name));
	perf_data_begin(record, PERF_CGROUP, 0);
	perf_data_put64(record, task->id);
	perf_data_put_text(record, path);
	perf_data_end(record);
	perf_data_put_comm(record, perf_data_pid_of(record, view, task->id),
			   perf_data_pid_of(record, view, task->id),
			   task->name != NULL ? task->name : "task");
}

static int perf_data_compare_threads(const void *first, const void *second)
{
	const struct profile_sample *one = *(const struct profile_sample *const *)first;
	const struct profile_sample *other = *(const struct profile_sample *const *)second;

	if (one->task != other->task)
		return one->task < other->task ? -1 : 1;
	return (one->thread > other->thread) - (one->thread < other->thread);
}

/* Each thread is called as its task: else perf shows a number. */
static void perf_data_put_threads(struct record *record, const struct view *view)
{
	const struct profile *profile = view->profile;
	const struct profile_sample **samples = allocate(profile->n_samples + 1, sizeof *samples);

	for (size_t i = 0; i < profile->n_samples; i++)
		samples[i] = &profile->samples[i];
	sort(samples, profile->n_samples, sizeof *samples, perf_data_compare_threads);
	for (size_t i = 0; i < profile->n_samples; i++) {
		const struct profile_task *task = view_task(view, samples[i]->task);

		if (i == 0 || perf_data_compare_threads(&samples[i - 1], &samples[i]) != 0)
			perf_data_put_comm(record, perf_data_pid_of(record, view, samples[i]->task),
					   perf_data_tid_of(samples[i]),
					   task != NULL && task->name != NULL ? task->name
									      : "task");
	}
	free(samples);
}

/* Where in its file is what lies at the image's beginning?  The file at hand knows better. */
static uint64_t perf_data_offset_of(const struct profile_image *image)
{
	const unsigned char *bytes =
		image->symbols != NULL ? elfsym_bytes(image->symbols, image->low, 1) : NULL;

	if (image->is_kernel)
		return image->low;
	return bytes != NULL ? (uint64_t)(bytes - image->symbols->image) : image->offset;
}

/* `base` is 0 but for a client's image, in the memory of its server. */
static void perf_data_put_map(struct record *record, uint32_t pid, uint64_t base,
			      const struct profile_image *image)
{
	perf_data_begin(record, PERF_MMAP2, image->is_kernel ? PERF_MISC_KERNEL : PERF_MISC_USER);
	perf_data_put32(record, pid);
	perf_data_put32(record, image->is_kernel ? 0 : pid);
	perf_data_put64(record, base | image->low);
	perf_data_put64(record, image->high - image->low);
	perf_data_put64(record, perf_data_offset_of(image));
	for (unsigned i = 0; i < 3; i++) /* Device, inode, generation: unknown. */
		perf_data_put64(record, 0);
	perf_data_put32(record, PROT_READ_EXEC);
	perf_data_put32(record, MAP_PRIVATE);
	perf_data_put_text(record, image->path != NULL ? image->path : "program");
	perf_data_end(record);
}

static void perf_data_put_program(struct record *record, const struct view *view)
{
	const struct elfsym *program = view->program;
	struct profile_image image = {.path = view->program_path, .symbols = program};

	perf_data_put_comm(record, PROGRAM_PID, PROGRAM_PID, "program");
	if (program == NULL)
		return;
	image.low = program->text_start;
	image.high = program->text_end;
	perf_data_put_map(record, PROGRAM_PID, 0, &image);
}

/* The program's own file is where this host has it, not where it was in the guest. */
static struct profile_image perf_data_image_here(const struct view *view,
						 const struct profile_image *image)
{
	struct profile_image here = *image;

	here.symbols = view_symbols(view, image);
	if (!here.is_kernel && here.symbols == view->program && here.symbols != NULL)
		here.path = view->program_path;
	return here;
}

/* Where a client's frames are, for perf, which looks in the memory of the sample's process. */
static uint64_t perf_data_base_of(uint32_t client)
{
	return (uint64_t)client << 32;
}

/* A server's task and a client's, each pair once. */
struct pair {
	uint32_t server;
	uint32_t client;
};

static int perf_data_compare_pairs(const void *first, const void *second)
{
	const struct pair *one = first, *other = second;

	if (one->server != other->server)
		return one->server < other->server ? -1 : 1;
	return (one->client > other->client) - (one->client < other->client);
}

static struct pair *perf_data_find_pairs(const struct view *view, size_t *n)
{
	struct pair *pairs = allocate(view->n_frames + 1, sizeof *pairs);
	size_t found = 0;

	*n = 0;
	for (size_t i = 0; i < view->n_stacks; i++) {
		const struct view_stack *stack = &view->stacks[i];

		for (uint32_t j = 0; j < stack->depth; j++)
			if (view->frames[stack->frames + j].client != 0)
				pairs[found++] =
					(struct pair){stack->sample->task,
						      view->frames[stack->frames + j].client};
	}
	sort(pairs, found, sizeof *pairs, perf_data_compare_pairs);
	for (size_t i = 0; i < found; i++)
		if (*n == 0 || perf_data_compare_pairs(&pairs[*n - 1], &pairs[i]) != 0)
			pairs[(*n)++] = pairs[i];
	return pairs;
}

static void perf_data_put_clients(struct record *record, const struct view *view)
{
	const struct profile *profile = view->profile;
	size_t n;
	struct pair *pairs = perf_data_find_pairs(view, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t pid = perf_data_pid_of(record, view, pairs[i].server);
		uint32_t at = map_get(&profile->image_places, pairs[i].client);

		for (; at != MAP_NONE; at = profile->images[at].before) {
			struct profile_image image =
				perf_data_image_here(view, &profile->images[at]);

			perf_data_put_map(record, pid, perf_data_base_of(pairs[i].client), &image);
		}
	}
	free(pairs);
}

static void perf_data_put_origins(struct record *record, const struct view *view)
{
	const struct profile *profile = view->profile;

	for (size_t i = 0; i < profile->n_tasks; i++)
		perf_data_put_task(record, view, &profile->tasks[i]);
	perf_data_put_threads(record, view);
	for (size_t i = 0; i < profile->n_images; i++) {
		struct profile_image image = perf_data_image_here(view, &profile->images[i]);

		perf_data_put_map(record,
				  image.is_kernel ? UINT32_MAX
						  : perf_data_pid_of(record, view, image.task),
				  0, &image);
	}
	perf_data_put_clients(record, view);
	if (profile->n_samples == 0)
		perf_data_put_program(record, view);
}

/* ---------------- Samples ---------------- */

static bool perf_data_is_kernel(const struct view *view, const struct view_frame *frame)
{
	return view->functions[frame->function].is_kernel;
}

/* An address for the kernel that has none. */
static uint64_t perf_data_address_of(const struct view_stack *stack, const struct view_frame *frame)
{
	if (frame->address == 0 && frame->client == 0 && stack->sample != NULL)
		return stack->sample->kernel_pc;
	return perf_data_base_of(frame->client) | frame->address;
}

static void perf_data_put_chain(struct record *record, const struct view *view,
				const struct view_stack *stack)
{
	const struct view_frame *frames = view->frames + stack->frames;
	bool is_mixed = perf_data_is_kernel(view, frames) &&
			!perf_data_is_kernel(view, &frames[stack->depth - 1]);

	perf_data_put64(record, stack->depth + 1u + is_mixed);
	for (uint32_t i = 0; i < stack->depth; i++) {
		bool in_kernel = perf_data_is_kernel(view, &frames[i]);

		if (i == 0 || in_kernel != perf_data_is_kernel(view, &frames[i - 1]))
			perf_data_put64(record,
					in_kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER);
		perf_data_put64(record, perf_data_address_of(stack, &frames[i]));
	}
}

static void perf_data_put_sample(struct record *record, const struct view *view,
				 const struct view_stack *stack, uint64_t time)
{
	const struct view_frame *leaf = &view->frames[stack->frames];
	const struct profile_sample *sample = stack->sample;
	uint64_t interval = view_interval(&view->profile->flavors[stack->flavor]);

	perf_data_begin(record, PERF_SAMPLE,
			perf_data_is_kernel(view, leaf) ? PERF_MISC_KERNEL : PERF_MISC_USER);
	perf_data_put64(record, perf_data_address_of(stack, leaf));
	perf_data_put32(record, sample != NULL ? perf_data_pid_of(record, view, sample->task)
					       : PROGRAM_PID);
	perf_data_put32(record, sample != NULL ? perf_data_tid_of(sample) : PROGRAM_PID);
	perf_data_put64(record, sample != NULL ? sample->time : time);
	perf_data_put64(record, perf_data_id_of(view, stack->flavor));
	perf_data_put64(record, sample != NULL ? sample->cpu : 0);
	perf_data_put64(record, stack->count * (interval != 0 ? interval : 1));
	perf_data_put_chain(record, view, stack);
	perf_data_put64(record, sample != NULL ? sample->label : 0);
	perf_data_end(record);
}

/* ---------------- Counts ---------------- */

static void perf_data_put_word(struct record *record, const char *word)
{
	size_t length = strlen(word) + 1;
	uint32_t padded = (uint32_t)((length + STRING_ALIGN - 1) / STRING_ALIGN * STRING_ALIGN);
	size_t from;

	perf_data_put32(record, padded);
	from = record->used;
	perf_data_put(record, word, length);
	perf_data_align(record, STRING_ALIGN, from);
}

static void perf_data_put_values(struct record *record, const struct view *view)
{
	const struct profile *profile = view->profile;
	uint64_t lost = view_lost(profile);
	uint32_t n = 1;
	char word[VIEW_WORD_ROOM];

	for (unsigned i = 0; i < VIEW_WORDS; i++)
		n += view_word(profile, i, word, sizeof word) != NULL;
	perf_data_begin(record, PERF_FEATURE, 0);
	perf_data_put64(record, PERF_FEATURE_CMDLINE);
	perf_data_put32(record, n);
	perf_data_put_word(record, "gprof");
	for (unsigned i = 0; i < VIEW_WORDS; i++)
		if (view_word(profile, i, word, sizeof word) != NULL)
			perf_data_put_word(record, word);
	perf_data_align(record, ALIGNMENT, 0);
	perf_data_end(record);
	perf_data_begin(record, PERF_LOST_SAMPLES, 0);
	perf_data_put64(record, lost);
	perf_data_end(record);
}

void view_write_perf_data(const struct view *view, FILE *out)
{
	const uint64_t header[] = {PERF_MAGIC, PERF_PIPE_HEADER};
	struct record *record = allocate(1, sizeof *record);
	uint64_t time = 0;

	record->out = out;
	fwrite(header, sizeof header, 1, out);
	perf_data_find_processes(record, view->profile);
	for (uint32_t i = 0; i < view->profile->n_flavors; i++)
		perf_data_put_event(record, view, i);
	perf_data_put_origins(record, view);
	for (size_t i = 0; i < view->n_stacks; i++) {
		time += view->stacks[i].count * 1000;
		perf_data_put_sample(record, view, &view->stacks[i], time);
	}
	perf_data_put_values(record, view);
	perf_data_begin(record, PERF_FINISHED_ROUND, 0);
	perf_data_end(record);
	map_free(&record->processes);
	free(record);
}
