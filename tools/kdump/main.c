/* SPDX-License-Identifier: MIT */
/*
 * kdump: shows what ktrace recorded.
 *
 * A program of the guest and of the host, so that a trace can be read where it was made or taken
 * out.  Records are read and printed by lib/ktrace.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

#define POLL_MICROSECONDS 100000

/* Until something ends it, or nobody reads what it prints. */
static void follow(struct ktrace_print *print)
{
	print->file->is_growing = true;
	for (;;) {
		ktrace_print_all(print);
		if (fflush(print->out) != 0)
			return;
		usleep(POLL_MICROSECONDS);
	}
}

static int show(struct options *options, struct ktrace_file *file)
{
	struct ktrace_print *print = &options->print;
	bool is_done = true;

	print->file = file;
	if (options->view.name != NULL)
		is_done = timeline_write(&options->view, print);
	else if (options->follows)
		follow(print);
	else
		ktrace_print_all(print);
	if (fflush(print->out) != 0 || ferror(print->out)) {
		fprintf(stderr, "kdump: standard output cannot be written: %s\n", strerror(errno));
		is_done = false;
	}
	return is_done && !file->is_damaged ? 0 : 1;
}

int main(int count, char **words)
{
	struct ktrace_file file = {.program = "kdump"};
	struct options options;
	int status;

	options_read(&options, count, words);
	if (!ktrace_open(&file, options.path)) {
		fprintf(stderr, "kdump: %s: %s%s\n", options.path, strerror(errno),
			errno == ENOENT ? ": `ktrace COMMAND` makes a ktrace.out, and -f names "
					  "another file"
					: "");
		return 1;
	}
	status = show(&options, &file);
	ktrace_close(&file);
	return status;
}
