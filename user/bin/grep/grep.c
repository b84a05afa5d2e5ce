/* SPDX-License-Identifier: MIT */
/* grep: prints the lines that match a pattern. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/common.h"
#include "grep/regex.h"

#define USAGE "grep [-EFchilnqv] [-e PATTERN]... [PATTERN] [FILE...]"

enum {
	FOUND = 0,
	NOT_FOUND = 1,
	TROUBLE = 2,
};

static enum syntax syntax = SYNTAX_BASIC;
static bool inverts, ignores_case, counts, lists, numbers, is_quiet, hides_names;
static struct regex **patterns;
static size_t n_patterns;
static bool has_trouble;

static void add_pattern(const char *text, size_t length)
{
	const char *error;
	struct regex *regex = regex_compile(text, length, syntax, ignores_case, &error);

	if (regex == NULL)
		report_exit(TROUBLE, "%.*s: %s", (int)length, text, error);
	patterns = reallocate(patterns, (n_patterns + 1) * sizeof(struct regex *));
	patterns[n_patterns++] = regex;
}

/* Several patterns may be given, one in a line. */
static void add_patterns(const char *text)
{
	for (;;) {
		size_t length = strcspn(text, "\n");

		add_pattern(text, length);
		if (text[length] == '\0')
			return;
		text += length + 1;
	}
}

static bool is_selected(const char *line, size_t length)
{
	for (size_t i = 0; i < n_patterns; i++)
		if (regex_matches(patterns[i], line, length))
			return !inverts;
	return inverts;
}

static void show_line(const struct line_reader *reader, unsigned long number, const char *name)
{
	if (name != NULL)
		printf("%s:", name);
	if (numbers)
		printf("%lu:", number);
	fwrite(reader->line, 1, reader->length, stdout);
	putchar('\n');
}

static unsigned long search_lines(struct line_reader *reader, const char *name)
{
	unsigned long found = 0;

	for (unsigned long number = 1; lines_next(reader); number++) {
		if (!is_selected(reader->line, reader->length))
			continue;
		found++;
		if (is_quiet || lists)
			return found;
		if (!counts)
			show_line(reader, number, name);
	}
	return found;
}

/* `name` is shown before lines if it is not NULL. */
static bool search(const char *path, const char *name)
{
	struct line_reader reader;
	unsigned long found;

	if (!lines_open(&reader, path)) {
		has_trouble = true;
		return false;
	}
	found = search_lines(&reader, name);
	has_trouble |= reader.failed;
	lines_close(&reader);
	if (is_quiet)
		return found > 0;
	if (lists && found > 0)
		puts(strcmp(path, "-") == 0 ? "(standard input)" : path);
	if (counts && !lists) {
		if (name != NULL)
			printf("%s:", name);
		printf("%lu\n", found);
	}
	return found > 0;
}

static void set_option(int option)
{
	switch (option) {
	case 'E':
		syntax = SYNTAX_EXTENDED;
		break;
	case 'F':
		syntax = SYNTAX_FIXED;
		break;
	case 'c':
		counts = true;
		break;
	case 'h':
		hides_names = true;
		break;
	case 'i':
		ignores_case = true;
		break;
	case 'l':
		lists = true;
		break;
	case 'n':
		numbers = true;
		break;
	case 'q':
		is_quiet = true;
		break;
	case 'v':
		inverts = true;
		break;
	default:
		usage(USAGE);
	}
}

/* Patterns are compiled when all options are known; returns the index of the first file. */
static int read_options(int count, char **arguments)
{
	const char **texts = allocate((size_t)count * sizeof(char *));
	size_t n_texts = 0;
	int option;

	while ((option = getopt(count, arguments, "EFce:hilnqv")) != -1) {
		if (option == 'e')
			texts[n_texts++] = optarg;
		else
			set_option(option);
	}
	if (n_texts == 0) {
		if (optind == count)
			usage(USAGE);
		texts[n_texts++] = arguments[optind++];
	}
	for (size_t i = 0; i < n_texts; i++)
		add_patterns(texts[i]);
	return optind;
}

int main(int count, char **arguments)
{
	bool found = false;
	int first;

	program_start(arguments);
	first = read_options(count, arguments);
	if (first == count)
		found = search("-", NULL);
	for (int i = first; i < count && !(is_quiet && found); i++) {
		bool shows_name = count - first > 1 && !hides_names;

		found |= search(arguments[i], shows_name ? arguments[i] : NULL);
	}
	if (has_trouble && !(is_quiet && found))
		return program_end(TROUBLE);
	return program_end(found ? FOUND : NOT_FOUND);
}
