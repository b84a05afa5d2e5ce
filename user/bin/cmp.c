/* SPDX-License-Identifier: MIT */
/* cmp: tells whether two files are the same, and where they differ first. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE "cmp [-l | -s] FILE1 FILE2"

enum {
	SAME = 0,
	DIFFERENT = 1,
	TROUBLE = 2,
};

enum mode {
	MODE_FIRST,
	MODE_LIST,
	MODE_SILENT,
};

struct input {
	const char *name;
	FILE *file;
};

static void open_or_exit(struct input *input, const char *name, enum mode mode)
{
	input->name = name;
	input->file = strcmp(name, "-") == 0 ? stdin : fopen(name, "r");
	if (input->file != NULL)
		return;
	if (mode != MODE_SILENT)
		report_errno(name);
	_exit(TROUBLE);
}

static int get(struct input *input)
{
	int character = getc(input->file);

	if (character != EOF || !ferror(input->file))
		return character;
	report_errno(input->name);
	_exit(TROUBLE);
}

static int end_of(const struct input *input, enum mode mode)
{
	if (mode != MODE_SILENT)
		report("EOF on %s", input->name);
	return DIFFERENT;
}

static int compare(struct input inputs[2], enum mode mode)
{
	unsigned long byte = 1, line = 1;
	int status = SAME;

	for (;; byte++) {
		int first = get(&inputs[0]);
		int second = get(&inputs[1]);

		if (first == EOF && second == EOF)
			return status;
		if (first == EOF || second == EOF)
			return end_of(&inputs[first != EOF], mode);
		if (first != second) {
			status = DIFFERENT;
			if (mode == MODE_LIST)
				printf("%lu %o %o\n", byte, first, second);
			if (mode == MODE_FIRST)
				printf("%s %s differ: char %lu, line %lu\n", inputs[0].name,
				       inputs[1].name, byte, line);
			if (mode != MODE_LIST)
				return status;
		}
		line += first == '\n';
	}
}

int main(int count, char **arguments)
{
	enum mode mode = MODE_FIRST;
	struct input inputs[2];
	int option, status;

	program_start(arguments);
	while ((option = getopt(count, arguments, "ls")) != -1) {
		if (option == '?')
			usage(USAGE);
		mode = option == 'l' ? MODE_LIST : MODE_SILENT;
	}
	if (count - optind != 2)
		usage(USAGE);
	open_or_exit(&inputs[0], arguments[optind], mode);
	open_or_exit(&inputs[1], arguments[optind + 1], mode);
	status = compare(inputs, mode);
	return program_end(status) == status ? status : TROUBLE;
}
