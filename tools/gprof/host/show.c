/* SPDX-License-Identifier: MIT */
/* Writes views to a file or to standard output.  See show.h. */
#include "../show.h"

#include <errno.h>
#include <string.h>

#include "../util.h"
#include "../views/views.h"

void show_view(const struct options *options, const struct profile *profile,
	       const struct elfsym *program)
{
	const struct view_source source = {profile, program, options->program, options->flavor};
	FILE *out = options->output == NULL ? stdout : fopen(options->output, "w");
	bool has_failed;

	if (out == NULL)
		fail("%s: cannot be written: %s", options->output, strerror(errno));
	if (!view_write(options->view, &source, out))
		fail("--view=%s: there is no such view; there are: " VIEW_NAMES, options->view);
	has_failed = fflush(out) != 0 || ferror(out);
	if (options->output != NULL && fclose(out) != 0)
		has_failed = true;
	if (has_failed)
		fail("%s: cannot be written: %s",
		     options->output == NULL ? "standard output" : options->output,
		     strerror(errno));
}
