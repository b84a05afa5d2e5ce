/* SPDX-License-Identifier: MIT */
/*
 * profile.proto, which pprof reads, in gzip's form.
 *
 * A flavor is a type of sample; the clock's samples also have their time.  The label of a sample is
 * `process`, who ran `thread` and `task`; the counts of the recording are comments.  <kernel> is
 * called [kernel] there.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../util.h"
#include "buffer.h"
#include "view_lines.h"
#include "view.h"

#define TEXT_MAX 128

/* Fields of the messages: Profile, ValueType, Sample, Label, Mapping, Location, Line, Function. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,

	TYPE_NAME = 1,
	TYPE_UNIT = 2,

	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,

	LABEL_KEY = 1,
	LABEL_STRING = 2,

	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_OFFSET = 4,
	MAPPING_FILE = 5,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8,
	MAPPING_HAS_LINES = 9,

	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,

	LINE_FUNCTION = 1,
	LINE_NUMBER = 2,

	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
	FUNCTION_LINE = 5,
};

struct writer {
	const struct view *view;
	struct view_lines lines;
	struct buffer profile;
	struct buffer message;
	struct buffer inner;
	struct buffer packed;

	struct view_frame *locations; /* Sorted; a location's id is its index plus one. */
	size_t n_locations;
	const struct profile_flavor *clock; /* Whose samples have a time; NULL: none. */

	struct buffer strings; /* Their fields, which come last. */
	uint64_t n_strings;
};

/* ---------------- Strings ---------------- */

/* The string's number.  The same string may have several. */
static uint64_t pprof_string(struct writer *writer, const char *text)
{
	buffer_bytes(&writer->strings, PROFILE_STRING, text, strlen(text));
	return writer->n_strings++;
}

static void pprof_put_type(struct writer *writer, unsigned field, const char *name,
			   const char *unit)
{
	buffer_number(&writer->message, TYPE_NAME, pprof_string(writer, name));
	buffer_number(&writer->message, TYPE_UNIT, pprof_string(writer, unit));
	buffer_message(&writer->profile, field, &writer->message);
}

static void pprof_put_types(struct writer *writer)
{
	const struct profile *profile = writer->view->profile;

	for (size_t i = 0; i < profile->n_flavors; i++) {
		const struct profile_flavor *flavor = &profile->flavors[i];

		pprof_put_type(writer, PROFILE_SAMPLE_TYPE, flavor->name,
			       flavor->is_length ? "nanoseconds" : "count");
		if (writer->clock == NULL && view_interval(flavor) != 0 && !flavor->is_length)
			writer->clock = flavor;
	}
	if (writer->clock != NULL) {
		pprof_put_type(writer, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
		pprof_put_type(writer, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
		buffer_number(&writer->profile, PROFILE_PERIOD, view_interval(writer->clock));
	}
	if (profile->n_flavors > 0)
		buffer_number(&writer->profile, PROFILE_DEFAULT_TYPE,
			      pprof_string(writer,
					   profile->flavors[view_main_flavor(writer->view)].name));
}

/* ---------------- Places ---------------- */

static int pprof_compare_places(const void *first, const void *second)
{
	const struct view_frame *one = first, *other = second;

	if (one->function != other->function)
		return one->function < other->function ? -1 : 1;
	if (one->address != other->address)
		return one->address < other->address ? -1 : 1;
	return one->is_return - other->is_return;
}

static void pprof_find_locations(struct writer *writer)
{
	const struct view *view = writer->view;
	size_t n = 0;

	writer->locations = allocate(view->n_frames + 1, sizeof *writer->locations);
	memcpy(writer->locations, view->frames, view->n_frames * sizeof *view->frames);
	sort(writer->locations, view->n_frames, sizeof *writer->locations, pprof_compare_places);
	for (size_t i = 0; i < view->n_frames; i++)
		if (n == 0 ||
		    pprof_compare_places(&writer->locations[n - 1], &writer->locations[i]) != 0)
			writer->locations[n++] = writer->locations[i];
	writer->n_locations = n;
}

static uint64_t pprof_location_of(const struct writer *writer, const struct view_frame *frame)
{
	const struct view_frame *found = bsearch(frame, writer->locations, writer->n_locations,
						 sizeof *frame, pprof_compare_places);

	return (uint64_t)(found - writer->locations) + 1;
}

static void pprof_put_mapping(struct writer *writer, uint64_t id, uint64_t low, uint64_t high,
			      const char *path)
{
	buffer_number(&writer->message, MAPPING_ID, id);
	buffer_number(&writer->message, MAPPING_START, low);
	buffer_number(&writer->message, MAPPING_LIMIT, high);
	buffer_number(&writer->message, MAPPING_OFFSET, low);
	buffer_number(&writer->message, MAPPING_FILE, pprof_string(writer, path));
	buffer_number(&writer->message, MAPPING_HAS_FUNCTIONS, 1);
	buffer_number(&writer->message, MAPPING_HAS_FILES, 1);
	buffer_number(&writer->message, MAPPING_HAS_LINES, 1);
	buffer_message(&writer->profile, PROFILE_MAPPING, &writer->message);
}

/* The program's is the first, if it is at hand; those of the images come behind it. */
static void pprof_put_mappings(struct writer *writer)
{
	const struct profile *profile = writer->view->profile;
	const struct elfsym *program = writer->view->program;

	pprof_put_mapping(writer, 1, program != NULL ? program->text_start : 0,
			  program != NULL ? program->text_end : UINT32_MAX,
			  writer->view->program_path);
	for (size_t i = 0; i < profile->n_images; i++)
		pprof_put_mapping(writer, i + 2, profile->images[i].low, profile->images[i].high,
				  profile->images[i].path != NULL ? profile->images[i].path : "");
}

static uint64_t pprof_mapping_of(const struct writer *writer, uint32_t function)
{
	const struct profile_image *image = writer->view->functions[function].image;

	return image != NULL ? (uint64_t)(image - writer->view->profile->images) + 2 : 1;
}

/* pprof takes what is between < and > for a template's arguments, and leaves it out. */
static uint64_t pprof_function_name(struct writer *writer, uint32_t function)
{
	const char *name = view_name(writer->view, function);
	char text[TEXT_MAX];

	if (name[0] != '<')
		return pprof_string(writer, name);
	snprintf(text, sizeof text, "[%.*s]", (int)strcspn(name + 1, ">"), name + 1);
	return pprof_string(writer, text);
}

static void pprof_put_source(struct writer *writer, uint32_t function)
{
	const char *file = view_lines_file(&writer->lines, function);

	if (file == NULL)
		return;
	buffer_number(&writer->message, FUNCTION_FILE, pprof_string(writer, file));
	buffer_number(&writer->message, FUNCTION_LINE,
		      view_lines_of_function(&writer->lines, function));
}

static void pprof_put_functions(struct writer *writer)
{
	for (uint32_t i = 0; i < writer->view->n_functions; i++) {
		uint64_t name = pprof_function_name(writer, i);

		buffer_number(&writer->message, FUNCTION_ID, i + 1u);
		buffer_number(&writer->message, FUNCTION_NAME, name);
		buffer_number(&writer->message, FUNCTION_SYSTEM_NAME, name);
		pprof_put_source(writer, i);
		buffer_message(&writer->profile, PROFILE_FUNCTION, &writer->message);
	}
}

static void pprof_put_locations(struct writer *writer)
{
	for (size_t i = 0; i < writer->n_locations; i++) {
		const struct view_frame *place = &writer->locations[i];

		buffer_number(&writer->message, LOCATION_ID, i + 1);
		buffer_number(&writer->message, LOCATION_MAPPING,
			      pprof_mapping_of(writer, place->function));
		buffer_number(&writer->message, LOCATION_ADDRESS, place->address);
		buffer_number(&writer->inner, LINE_FUNCTION, place->function + 1u);
		buffer_number(&writer->inner, LINE_NUMBER,
			      view_lines_of_frame(&writer->lines, place));
		buffer_message(&writer->message, LOCATION_LINE, &writer->inner);
		buffer_message(&writer->profile, PROFILE_LOCATION, &writer->message);
	}
}

/* ---------------- Samples ---------------- */

/* All are strings, for pprof takes the number 0 for none. */
static void pprof_put_label(struct writer *writer, const char *key, const char *text)
{
	buffer_number(&writer->inner, LABEL_KEY, pprof_string(writer, key));
	buffer_number(&writer->inner, LABEL_STRING, pprof_string(writer, text));
	buffer_message(&writer->message, SAMPLE_LABEL, &writer->inner);
}

static void pprof_put_labels(struct writer *writer, const struct profile_sample *sample)
{
	char text[TEXT_MAX];

	pprof_put_label(writer, "process",
			view_task_name(writer->view, sample->label, text, sizeof text));
	pprof_put_label(writer, "task",
			view_task_name(writer->view, sample->task, text, sizeof text));
	snprintf(text, sizeof text, "%" PRIu32, sample->thread);
	pprof_put_label(writer, "thread", text);
	snprintf(text, sizeof text, "%u", sample->cpu);
	pprof_put_label(writer, "cpu", text);
}

static void pprof_put_sample(struct writer *writer, const struct view_stack *stack)
{
	const struct view *view = writer->view;
	const struct profile_flavor *flavor = &view->profile->flavors[stack->flavor];

	for (uint32_t i = 0; i < stack->depth; i++)
		buffer_packed(&writer->packed,
			      pprof_location_of(writer, &view->frames[stack->frames + i]));
	buffer_message(&writer->message, SAMPLE_LOCATION, &writer->packed);
	for (uint32_t i = 0; i < view->profile->n_flavors; i++)
		buffer_packed(&writer->packed, i == stack->flavor ? stack->count : 0);
	if (writer->clock != NULL)
		buffer_packed(&writer->packed,
			      flavor == writer->clock ? stack->count * view_interval(flavor) : 0);
	buffer_message(&writer->message, SAMPLE_VALUE, &writer->packed);
	if (stack->sample != NULL)
		pprof_put_labels(writer, stack->sample);
	buffer_message(&writer->profile, PROFILE_SAMPLE, &writer->message);
}

static void pprof_put_comments(struct writer *writer)
{
	char word[VIEW_WORD_ROOM];

	if (writer->view->is_guessed)
		buffer_number(&writer->profile, PROFILE_COMMENT,
			      pprof_string(writer, "callers are guessed from numbers of calls"));
	for (unsigned i = 0; i < VIEW_WORDS; i++)
		if (view_word(writer->view->profile, i, word, sizeof word) != NULL)
			buffer_number(&writer->profile, PROFILE_COMMENT,
				      pprof_string(writer, word));
}

void view_write_pprof(const struct view *view, FILE *out)
{
	struct writer writer = {.view = view};

	pprof_string(&writer, "");
	view_lines_find(&writer.lines, view);
	pprof_find_locations(&writer);
	pprof_put_types(&writer);
	pprof_put_mappings(&writer);
	pprof_put_functions(&writer);
	pprof_put_locations(&writer);
	for (size_t i = 0; i < view->n_stacks; i++)
		pprof_put_sample(&writer, &view->stacks[i]);
	pprof_put_comments(&writer);
	buffer_append(&writer.profile, writer.strings.bytes, writer.strings.used);
	buffer_write_gzip(&writer.profile, out);
	buffer_free(&writer.profile);
	buffer_free(&writer.message);
	buffer_free(&writer.inner);
	buffer_free(&writer.packed);
	buffer_free(&writer.strings);
	free(writer.locations);
	view_lines_free(&writer.lines);
}
