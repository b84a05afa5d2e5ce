/* SPDX-License-Identifier: MIT */
/* Chooses the view.  See view.h. */
#include "../view.h"

#include <string.h>

#include "../views/timeline.h"

static const struct {
	const char *name;
	timeline_writer *write;
} timelines[] = {
	{"chrome", timeline_write_chrome},
	{"perf", timeline_write_perf},
	{"speedscope", timeline_write_speedscope},
};

static timeline_writer *timeline_find(const char *name)
{
	for (size_t i = 0; i < sizeof timelines / sizeof timelines[0]; i++)
		if (strcmp(timelines[i].name, name) == 0)
			return timelines[i].write;
	return NULL;
}

bool timeline_write(const struct timeline_choice *choice, struct ktrace_print *print)
{
	timeline_writer *write = timeline_find(choice->name);
	struct timeline timeline = {0};

	if (write == NULL) {
		fprintf(stderr,
			"kdump: --view=%s: there is no such view; there are: chrome perf "
			"speedscope\n",
			choice->name);
		return false;
	}
	spans_read(&timeline.spans, print);
	if (choice->samples != NULL)
		samples_read(&timeline.samples, &timeline.spans, choice->samples, choice->programs);
	write(&timeline, print->out);
	samples_free(&timeline.samples);
	spans_free(&timeline.spans);
	return true;
}
