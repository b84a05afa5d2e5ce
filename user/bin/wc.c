/* SPDX-License-Identifier: MIT */
/* wc: counts lines, words and bytes. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "common/common.h"

struct counts {
	unsigned long lines;
	unsigned long words;
	unsigned long bytes;
};

static bool shows_lines, shows_words, shows_bytes;

static void count_block(const char *block, size_t length, struct counts *counts, bool *in_word)
{
	counts->bytes += length;
	for (size_t i = 0; i < length; i++) {
		bool is_blank = isspace((unsigned char)block[i]);

		counts->lines += block[i] == '\n';
		counts->words += !is_blank && !*in_word;
		*in_word = !is_blank;
	}
}

static bool count_file(const char *name, struct counts *counts)
{
	char block[COPY_BYTES];
	int descriptor = open_input(name);
	bool in_word = false;
	ssize_t got;

	if (descriptor < 0)
		return false;
	while ((got = read(descriptor, block, sizeof(block))) > 0 || (got < 0 && errno == EINTR))
		if (got > 0)
			count_block(block, (size_t)got, counts, &in_word);
	if (got < 0)
		report_errno(name);
	close_input(descriptor);
	return got == 0;
}

/* A single figure stands alone, so that $(wc -l <file) needs no trimming. */
static void print_counts(const struct counts *counts, const char *name)
{
	int width = shows_lines + shows_words + shows_bytes > 1 ? 7 : 1;
	const char *gap = "";

	if (shows_lines) {
		printf("%*lu", width, counts->lines);
		gap = " ";
	}
	if (shows_words) {
		printf("%s%*lu", gap, width, counts->words);
		gap = " ";
	}
	if (shows_bytes)
		printf("%s%*lu", gap, width, counts->bytes);
	if (name != NULL)
		printf(" %s", name);
	putchar('\n');
}

static void read_options(int count, char **arguments)
{
	int option;

	while ((option = getopt(count, arguments, "lwc")) != -1) {
		if (option == '?')
			usage("wc [-lwc] [FILE...]");
		shows_lines |= option == 'l';
		shows_words |= option == 'w';
		shows_bytes |= option == 'c';
	}
	if (!shows_lines && !shows_words && !shows_bytes)
		shows_lines = shows_words = shows_bytes = true;
}

int main(int count, char **arguments)
{
	struct counts total = {0};
	int status = 0;

	program_start(arguments);
	read_options(count, arguments);
	if (optind == count) {
		status = count_file("-", &total) ? 0 : 1;
		print_counts(&total, NULL);
		return program_end(status);
	}
	for (int i = optind; i < count; i++) {
		struct counts counts = {0};

		if (!count_file(arguments[i], &counts)) {
			status = 1;
			continue;
		}
		print_counts(&counts, arguments[i]);
		total.lines += counts.lines;
		total.words += counts.words;
		total.bytes += counts.bytes;
	}
	if (count - optind > 1)
		print_counts(&total, "total");
	return program_end(status);
}
