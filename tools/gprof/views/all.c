/* SPDX-License-Identifier: MIT */
/* The views by their names.  See views.h. */
#include <stdlib.h>
#include <string.h>

#include "../util.h"
#include "view.h"

static const struct {
	const char *name;
	view_writer *write;
} views[] = {
	{"callgrind", view_write_callgrind},
	{"folded", view_write_folded},
	{"json", view_write_json},
	{"perf-data", view_write_perf_data},
	{"perf-script", view_write_perf_script},
	{"pprof", view_write_pprof},
	{"speedscope", view_write_speedscope},
};

/* A copy that shares all but the flavors. */
static struct profile *view_keep_flavor(const struct profile *profile, const char *name)
{
	struct profile *copy = allocate(1, sizeof *copy);

	*copy = *profile;
	for (size_t i = 0; name != NULL && i < profile->n_flavors; i++) {
		if (strcmp(profile->flavors[i].name, name) == 0) {
			copy->flavors[0] = profile->flavors[i];
			copy->n_flavors = 1;
		}
	}
	return copy;
}

bool view_write(const char *name, const struct view_source *source, FILE *out)
{
	for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
		struct profile *profile;
		struct view view;

		if (strcmp(views[i].name, name) != 0)
			continue;
		profile = view_keep_flavor(source->profile, source->flavor);
		view_begin(&view, profile, source);
		views[i].write(&view, out);
		view_end(&view);
		free(profile);
		return true;
	}
	return false;
}
