/* SPDX-License-Identifier: MIT */
/* Opens the programs of a recording, each once.  See programs.h. */
#include "programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gmon_program.h"

#include "../util.h"

/* One that was looked for; `symbols` is NULL if there is none such. */
struct opened {
	const char *path; /* The image's. */
	uint32_t sum;
	char *name; /* Here. */
	struct file file;
	struct elfsym *symbols;
};

static bool programs_is_program(const struct opened *program)
{
	struct gmon_program own;

	gmon_program_read(&own, program->file.bytes, program->file.size);
	return program->sum == 0 || own.sum == 0 || own.sum == program->sum;
}

static void programs_read_symbols(struct opened *program)
{
	struct elfsym *symbols = allocate(1, sizeof(*symbols));
	const char *error;

	program->file = file_read(program->name);
	error = elfsym_open(symbols, program->file.bytes, program->file.size);
	if (error == NULL)
		error = elfsym_read_functions(symbols);
	if (error == NULL && !programs_is_program(program)) {
		elfsym_close(symbols);
		error = "is another program than what ran";
	}
	if (error == NULL) {
		program->symbols = symbols;
		return;
	}
	warn("%s: %s: its functions have no names", program->name, error);
	free(symbols);
}

static struct opened programs_open_program(const struct profile_image *image, const char *folder)
{
	size_t room = strlen(folder) + strlen(image->path) + 2;
	struct opened program = {
		.path = image->path,
		.sum = image->sum,
		.name = allocate(room, 1),
	};

	snprintf(program.name, room, "%s/%s", folder, image->path);
	if (access(program.name, R_OK) == 0)
		programs_read_symbols(&program);
	return program;
}

static struct opened *programs_find(const struct programs *programs,
				    const struct profile_image *image)
{
	for (size_t i = 0; i < programs->n; i++)
		if (programs->items[i].sum == image->sum &&
		    strcmp(programs->items[i].path, image->path) == 0)
			return &programs->items[i];
	return NULL;
}

void programs_open(struct programs *programs, struct profile *profile, const char *folder)
{
	*programs = (struct programs){0};
	for (size_t i = 0; i < profile->n_images; i++) {
		struct profile_image *image = &profile->images[i];
		struct opened *program = programs_find(programs, image);

		if (program == NULL) {
			programs->items = grow(programs->items, programs->n, &programs->room,
					       sizeof(*programs->items));
			program = &programs->items[programs->n++];
			*program = programs_open_program(image, folder);
		}
		if (image->symbols == NULL && program->symbols != NULL) {
			image->symbols = program->symbols;
			image->file = program->name;
		}
	}
}

void programs_close(struct programs *programs)
{
	for (size_t i = 0; i < programs->n; i++) {
		struct opened *program = &programs->items[i];

		if (program->symbols != NULL)
			elfsym_close(program->symbols);
		free(program->symbols);
		free(program->name);
		file_close(&program->file);
	}
	free(programs->items);
}
