/* SPDX-License-Identifier: MIT */
/* Reading the lines of /etc/passwd and /etc/group. */
#include "lines.h"

#include <string.h>

static int cut(char *line, char *fields[], int count)
{
	for (int i = 0; i < count; i++) {
		fields[i] = strsep(&line, ":");
		if (fields[i] == NULL)
			return 0;
	}
	return 1;
}

static void pass_over_rest(FILE *file)
{
	int character;

	while ((character = getc(file)) != EOF && character != '\n')
		;
}

int __next_fields(FILE *file, char line[LINE_MAX_SIZE], char *fields[], int count)
{
	while (fgets(line, LINE_MAX_SIZE, file) != NULL) {
		char *end = strchr(line, '\n');

		if (end == NULL && strlen(line) == LINE_MAX_SIZE - 1) {
			pass_over_rest(file);
			continue;
		}
		if (end != NULL)
			*end = '\0';
		if (cut(line, fields, count))
			return 1;
	}
	return 0;
}
