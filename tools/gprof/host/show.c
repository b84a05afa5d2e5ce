/* SPDX-License-Identifier: MIT */
/* Writes views to a file or to standard output.  See show.h. */
#include "../show.h"

#include <errno.h>
#include <string.h>

#include "../util.h"
#include "../views/programs.h"
#include "../views/views.h"

static bool show_is_view(const char *name)
{
	size_t length = strlen(name);

	for (const char *at = VIEW_NAMES; *at != '\0'; at += strspn(at, " ")) {
		size_t word = strcspn(at, " ");

		if (word == length && memcmp(at, name, length) == 0)
			return true;
		at += word;
	}
	return false;
}

/* Recordings and counts of other runs: their sum has no common form. */
static void show_check_kinds(const struct options *options, const struct profile *profile)
{
	uint64_t counted = 0, sampled = 0;

	for (size_t i = 0; i < profile->n_flavors; i++)
		counted += profile_total(&profile->flavors[i]);
	for (size_t i = 0; i < profile->n_samples; i++)
		if (!profile->samples[i].is_strange)
			sampled += profile->samples[i].weight;
	if (profile->n_samples > 0 && counted > sampled)
		fail("--view=%s: single samples and the counts of another run have no common form: "
		     "give it the recordings or the gmon.out files alone",
		     options->view);
}

void show_view(const struct options *options, struct profile *profile, const struct elfsym *program)
{
	const struct view_source source = {
		.profile = profile,
		.program = program,
		.path = options->program,
		.kernel = options->kernel,
		.flavor = options->flavor,
	};
	struct programs programs = {0};
	bool has_failed;
	FILE *out;

	if (!show_is_view(options->view))
		fail("--view=%s: there is no such view; there are: " VIEW_NAMES, options->view);
	show_check_kinds(options, profile);
	out = options->output == NULL ? stdout : fopen(options->output, "w");
	if (out == NULL)
		fail("%s: cannot be written: %s", options->output, strerror(errno));
	if (options->programs != NULL)
		programs_open(&programs, profile, options->programs);
	has_failed = !view_write(options->view, &source, out);
	has_failed |= fflush(out) != 0 || ferror(out);
	if (options->output != NULL && fclose(out) != 0)
		has_failed = true;
	if (has_failed)
		fail("%s: cannot be written: %s",
		     options->output == NULL ? "standard output" : options->output,
		     strerror(errno));
	programs_close(&programs);
}
