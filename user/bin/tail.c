/* SPDX-License-Identifier: MIT */
/* tail: the end of files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE         "tail [-n [+]LINES | -c [+]BYTES | -LINES] [FILE...]"
#define LINES_DEFAULT 10

static unsigned long long wanted = LINES_DEFAULT;
static bool counts_bytes;
static bool from_start; /* Numbers with a plus count from the beginning, from 1. */

struct contents {
	char *bytes;
	size_t length;
	size_t room;
};

static bool read_all(const char *name, struct contents *contents)
{
	int descriptor = open_input(name);
	ssize_t got;

	if (descriptor < 0)
		return false;
	for (;;) {
		if (contents->room - contents->length < COPY_BYTES) {
			contents->room = 2 * contents->room + COPY_BYTES;
			contents->bytes = reallocate(contents->bytes, contents->room);
		}
		got = read(descriptor, contents->bytes + contents->length, COPY_BYTES);
		if (got == 0 || (got < 0 && errno != EINTR))
			break;
		contents->length += got > 0 ? (size_t)got : 0;
	}
	if (got < 0)
		report_errno(name);
	close_input(descriptor);
	return got == 0;
}

/* A newline at the very end ends the last line and begins none. */
static size_t start_of_lines(const struct contents *contents)
{
	size_t start = contents->length;
	unsigned long long lines = 0;

	if (wanted == 0)
		return start;
	if (start > 0 && contents->bytes[start - 1] == '\n')
		start--;
	while (start > 0 && !(contents->bytes[start - 1] == '\n' && ++lines == wanted))
		start--;
	return start;
}

static size_t behind_lines(const struct contents *contents)
{
	size_t start = 0;

	for (unsigned long long line = 1; line < wanted && start < contents->length; start++)
		line += contents->bytes[start] == '\n';
	return start;
}

static size_t start_of_output(const struct contents *contents)
{
	unsigned long long skipped = wanted > 0 ? wanted - 1 : 0;

	if (!counts_bytes)
		return from_start ? behind_lines(contents) : start_of_lines(contents);
	if (from_start)
		return skipped < contents->length ? (size_t)skipped : contents->length;
	return wanted < contents->length ? contents->length - (size_t)wanted : 0;
}

static bool show(const char *name, bool with_title, bool is_first)
{
	struct contents contents = {0};
	bool done;

	if (with_title)
		printf("%s==> %s <==\n", is_first ? "" : "\n", name);
	done = read_all(name, &contents);
	if (done) {
		size_t start = start_of_output(&contents);

		fwrite(contents.bytes + start, 1, contents.length - start, stdout);
	}
	free(contents.bytes);
	return done;
}

static void set_wanted(const char *text)
{
	long long number;

	from_start = *text == '+';
	if (*text == '-')
		text++;
	if (!parse_number(text, &number) || number < 0) {
		report("%s: not a number", text);
		usage(USAGE);
	}
	wanted = (unsigned long long)number;
}

/* -5 is -n 5. */
static void read_options(int count, char **arguments)
{
	int option;

	if (count > 1 && arguments[1][0] == '-' && strspn(arguments[1] + 1, "0123456789") > 0) {
		set_wanted(arguments[1] + 1);
		optind = 2;
	}
	while ((option = getopt(count, arguments, "n:c:")) != -1) {
		if (option == '?')
			usage(USAGE);
		set_wanted(optarg);
		counts_bytes = option == 'c';
	}
}

int main(int count, char **arguments)
{
	int status = 0;

	program_start(arguments);
	read_options(count, arguments);
	if (optind == count)
		status = show("-", false, true) ? 0 : 1;
	for (int i = optind; i < count; i++)
		if (!show(arguments[i], count - optind > 1, i == optind))
			status = 1;
	return program_end(status);
}
