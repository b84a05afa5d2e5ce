/* SPDX-License-Identifier: MIT */
/* head: the beginning of files. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE         "head [-n LINES | -c BYTES | -LINES] [FILE...]"
#define LINES_DEFAULT 10

static unsigned long long wanted = LINES_DEFAULT;
static bool counts_bytes;

static bool copy_lines(const char *name)
{
	struct line_reader reader;
	bool done;

	if (!lines_open(&reader, name))
		return false;
	for (unsigned long long i = 0; i < wanted && lines_next(&reader); i++) {
		fwrite(reader.line, 1, reader.length, stdout);
		if (reader.has_newline)
			putchar('\n');
	}
	done = !reader.failed;
	lines_close(&reader);
	return done;
}

static bool copy_bytes(const char *name)
{
	char block[COPY_BYTES];
	unsigned long long left = wanted;
	int descriptor = open_input(name);
	ssize_t got = 0;

	if (descriptor < 0)
		return false;
	while (left > 0) {
		got = read(descriptor, block, left < sizeof(block) ? (size_t)left : sizeof(block));
		if (got <= 0)
			break;
		fwrite(block, 1, (size_t)got, stdout);
		left -= (unsigned long long)got;
	}
	if (got < 0)
		report_errno(name);
	close_input(descriptor);
	return got >= 0;
}

static bool show(const char *name, bool with_title, bool is_first)
{
	if (with_title)
		printf("%s==> %s <==\n", is_first ? "" : "\n", name);
	return counts_bytes ? copy_bytes(name) : copy_lines(name);
}

static void set_wanted(const char *text)
{
	long long number;

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
