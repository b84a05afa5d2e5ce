/* SPDX-License-Identifier: MIT */
/* For who wrote an option that does not exist: what may have been meant.  See words.h. */
#include <stdio.h>
#include <string.h>

#include "util.h"
#include "words.h"

#define NAME_MOST 40u /* Characters of a name that is compared. */
#define NEAR      2u  /* So many may be wrong, missing or too many, */
#define NEAR_PART 3u  /* of a name that is as many times as long. */

/* GNU's that there are not, and what to do instead. */
static const struct {
	const char *word;
	const char *hint;
} gnus[] = {
	{"-B", "the call graph alone is -q"},
	{"-Z", "GNU's is --no-exec-counts here"},
	{"-I", "GNU's; run gprof where the sources are"},
	{"--directory-path", "GNU's; run gprof where the sources are"},
	{"-d", "GNU's own debugging is not here"},
	{"--debug", "GNU's own debugging is not here"},
	{"-O", "GNU's; the format of a profile is found out"},
	{"--file-format", "GNU's; the format of a profile is found out"},
	{"-R", "GNU's; what to link in which order is not said here"},
	{"--file-ordering", "GNU's; what to link in which order is not said here"},
	{"--function-ordering", "GNU's; what to link in which order is not said here"},
	{"-S", "GNU's; symbols are PROGRAM's, and with --kernel=FILE the kernel's"},
	{"--external-symbol-table",
	 "GNU's; symbols are PROGRAM's, and with --kernel=FILE the kernel's"},
	{"--all-lines", "GNU's; -A counts samples of all lines"},
	{"--inline-file-names", "GNU's; -l shows the files"},
	{"--demangle", "GNU's; names are as in PROGRAM"},
	{"--no-demangle", "GNU's; names are as in PROGRAM"},
};

static size_t hints_least(size_t one, size_t other)
{
	return one < other ? one : other;
}

/* How many characters must be changed, added or left out to make one of the other. */
static size_t hints_distance(const char *one, size_t length, const char *other)
{
	size_t row[NAME_MOST + 1];
	size_t width = strlen(other);

	for (size_t i = 0; i <= width; i++)
		row[i] = i;
	for (size_t i = 0; i < length; i++) {
		size_t before = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < width; j++) {
			size_t changed = before + (one[i] != other[j]);

			before = row[j + 1];
			row[j + 1] = hints_least(changed, hints_least(before, row[j]) + 1);
		}
	}
	return row[width];
}

static const struct option *hints_nearest(const char *name, size_t length)
{
	const struct option *found = NULL;
	size_t nearest = NEAR + 1;

	for (const struct option *option = option_table;
	     option->letter != 0 || option->name != NULL; option++) {
		size_t far;

		if (option->name == NULL || strlen(option->name) > NAME_MOST || length > NAME_MOST)
			continue;
		far = hints_distance(name, length, option->name);
		if (far < nearest && far * NEAR_PART <= length) {
			nearest = far;
			found = option;
		}
	}
	return found;
}

void option_hint(const char *word, char *text, size_t size)
{
	size_t length = strcspn(word, "=");
	const struct option *near = NULL;

	*text = '\0';
	for (size_t i = 0; i < sizeof(gnus) / sizeof(*gnus); i++)
		if (strlen(gnus[i].word) == length && strncmp(word, gnus[i].word, length) == 0)
			snprintf(text, size, "%s", gnus[i].hint);
	if (*text == '\0' && length > 2)
		near = hints_nearest(word + 2, length - 2);
	if (near != NULL)
		snprintf(text, size, "is it --%s?", near->name);
}
