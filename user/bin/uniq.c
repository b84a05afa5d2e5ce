/* SPDX-License-Identifier: MIT */
/* uniq: leaves out lines that are the same as the one before. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE "uniq [-cdu] [FILE]"

static bool counts, only_repeated, only_single;

static void print_line(const char *line, size_t length, unsigned long times)
{
	if ((only_repeated && times == 1) || (only_single && times > 1))
		return;
	if (counts)
		printf("%7lu ", times);
	fwrite(line, 1, length, stdout);
	putchar('\n');
}

static bool uniq(const char *name)
{
	struct line_reader reader;
	char *last = NULL;
	size_t last_length = 0;
	unsigned long times = 0;
	bool done;

	if (!lines_open(&reader, name))
		return false;
	while (lines_next(&reader)) {
		if (times > 0 && reader.length == last_length &&
		    memcmp(reader.line, last, last_length) == 0) {
			times++;
			continue;
		}
		if (times > 0)
			print_line(last, last_length, times);
		last = reallocate(last, reader.length);
		memcpy(last, reader.line, reader.length);
		last_length = reader.length;
		times = 1;
	}
	if (times > 0)
		print_line(last, last_length, times);
	done = !reader.failed;
	lines_close(&reader);
	return done;
}

int main(int count, char **arguments)
{
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "cdu")) != -1) {
		if (option == '?')
			usage(USAGE);
		counts |= option == 'c';
		only_repeated |= option == 'd';
		only_single |= option == 'u';
	}
	if (count - optind > 1)
		usage(USAGE);
	return program_end(uniq(optind < count ? arguments[optind] : "-") ? 0 : 1);
}
