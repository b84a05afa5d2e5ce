/* SPDX-License-Identifier: MIT */
/* Which functions an option means.  See marks.h. */
#include "marks.h"

#include <stdlib.h>
#include <string.h>

#include "debug.h"
#include "util.h"

/* Where functions begin, found when the first name asks for it. */
struct places {
	struct debug_line *lines; /* NULL: not found yet. */
};

/* A name that is no function's own, in its parts. */
struct spec {
	const char *file;
	size_t file_length;
	const char *function; /* NULL: all of the file's; */
	unsigned line;        /* 0: on all of its lines. */
};

static bool mark_named(const struct graph *graph, const char *name, bool *marks)
{
	bool is_any = false;

	for (uint32_t i = 0; i < graph->n_nodes; i++)
		if (strcmp(graph->nodes[i].name, name) == 0)
			is_any = marks[i] = true;
	return is_any;
}

/* ---------------- By source ---------------- */

static bool marks_read_spec(const char *name, struct spec *spec)
{
	const char *colon = strrchr(name, ':');
	const char *rest = colon != NULL ? colon + 1 : "";
	bool is_line = *rest != '\0' && rest[strspn(rest, "0123456789")] == '\0';

	if (colon == NULL && strchr(name, '.') == NULL)
		return false;
	*spec = (struct spec){.file = name};
	spec->file_length = colon != NULL ? (size_t)(colon - name) : strlen(name);
	if (is_line)
		spec->line = (unsigned)strtoul(rest, NULL, 10);
	else if (*rest != '\0')
		spec->function = rest;
	return true;
}

static bool marks_is_file(const struct spec *spec, const char *file)
{
	return file != NULL && ((strlen(file) == spec->file_length &&
				 strncmp(file, spec->file, spec->file_length) == 0) ||
				(strlen(file_part(file)) == spec->file_length &&
				 strncmp(file_part(file), spec->file, spec->file_length) == 0));
}

static void marks_find_places(struct places *places, const struct graph *graph,
			      const struct options *options)
{
	uint64_t *addresses;

	if (places->lines != NULL)
		return;
	addresses = allocate(graph->n_functions, sizeof(*addresses));
	for (uint32_t i = 0; i < graph->n_functions; i++)
		addresses[i] = graph->nodes[i].function->start;
	places->lines = debug_lines(options->program, addresses, graph->n_functions);
	free(addresses);
}

static bool mark_spec(const struct places *places, const struct graph *graph,
		      const struct spec *spec, bool *marks)
{
	bool is_any = false;

	for (uint32_t i = 0; i < graph->n_functions; i++) {
		const struct elfsym_function *function = graph->nodes[i].function;
		const struct debug_line *line = &places->lines[i];

		if (!marks_is_file(spec, line->file) && !marks_is_file(spec, function->file))
			continue;
		if (spec->function != NULL && strcmp(spec->function, function->name) != 0)
			continue;
		if (spec->line == 0 || spec->line == line->line)
			is_any = marks[i] = true;
	}
	return is_any;
}

/* ---------------- All names ---------------- */

bool *marks_of_names(const struct graph *graph, const struct options *options, const char *option,
		     const struct names *names)
{
	bool *marks = names->n > 0 ? allocate(graph->n_nodes, sizeof(*marks)) : NULL;
	struct places places = {0};

	for (size_t i = 0; i < names->n; i++) {
		const char *name = names->items[i];
		bool is_any = mark_named(graph, name, marks);
		struct spec spec;

		if (!is_any && marks_read_spec(name, &spec)) {
			marks_find_places(&places, graph, options);
			is_any = mark_spec(&places, graph, &spec, marks);
		}
		if (!is_any)
			fail("%s %s: %s has no function of that name", option, name,
			     options->program);
	}
	if (places.lines != NULL)
		debug_lines_free(places.lines, graph->n_functions);
	return marks;
}

bool *marks_of_selection(const struct graph *graph, const struct options *options,
			 const char *option, const struct selection *selection)
{
	bool *with = marks_of_names(graph, options, option, &selection->with);
	bool *without = marks_of_names(graph, options, option, &selection->without);

	if (without == NULL || with != NULL) {
		free(without);
		return with;
	}
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		without[i] = !without[i];
	return without;
}
