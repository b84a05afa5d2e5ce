/* SPDX-License-Identifier: MIT */
/* Chooses the view.  See view.h. */
#include "../view.h"

#include <string.h>

#include "../views/spans.h"

static const struct view {
	const char *name;
	void (*write)(const struct spans *spans, FILE *out);
} views[] = {
	{"chrome", view_write_chrome},
	{"perf", view_write_perf},
	{"speedscope", view_write_speedscope},
};

bool view_write(const char *name, struct ktrace_print *print)
{
	struct spans spans;

	for (size_t i = 0; i < sizeof views / sizeof views[0]; i++)
		if (strcmp(views[i].name, name) == 0) {
			spans_read(&spans, print);
			views[i].write(&spans, print->out);
			spans_free(&spans);
			return true;
		}
	fprintf(stderr,
		"kdump: --view=%s: there is no such view; there are: chrome perf speedscope\n",
		name);
	return false;
}
