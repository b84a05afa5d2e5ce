/* SPDX-License-Identifier: MIT */
/* The shell's options, by letter (set -e) and by name (set -o errexit). */
#include <stdio.h>
#include <string.h>

#include "sh.h"

static struct option_entry {
	char letter;
	bool is_on;
	const char *name;
} options[] = {
	{'a', false, "allexport"}, {'c', false, NULL},     {'C', false, "noclobber"},
	{'e', false, "errexit"},   {'f', false, "noglob"}, {'i', false, NULL},
	{'n', false, "noexec"},    {'s', false, NULL},     {'u', false, "nounset"},
	{'v', false, "verbose"},   {'x', false, "xtrace"},
};

#define OPTIONS (sizeof(options) / sizeof(options[0]))

static struct option_entry *find_letter(char letter)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (options[i].letter == letter)
			return &options[i];
	return NULL;
}

static struct option_entry *find_name(const char *name)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (options[i].name != NULL && strcmp(options[i].name, name) == 0)
			return &options[i];
	return NULL;
}

bool option(char letter)
{
	const struct option_entry *entry = find_letter(letter);

	return entry != NULL && entry->is_on;
}

bool option_is_known(char letter)
{
	return find_letter(letter) != NULL;
}

void option_set(char letter, bool on)
{
	struct option_entry *entry = find_letter(letter);

	if (entry != NULL)
		entry->is_on = on;
}

const char *options_letters(void)
{
	static char letters[OPTIONS + 1];
	size_t used = 0;

	for (size_t i = 0; i < OPTIONS; i++)
		if (options[i].is_on)
			letters[used++] = options[i].letter;
	letters[used] = '\0';
	return letters;
}

/* `set -o` as a list to read, `set +o` as commands. */
static void options_print(bool on)
{
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option_entry *entry = &options[i];

		if (entry->name == NULL)
			continue;
		if (on)
			printf("%-15s %s\n", entry->name, entry->is_on ? "on" : "off");
		else
			printf("set %co %s\n", entry->is_on ? '-' : '+', entry->name);
	}
}

static void set_by_name(const char *name, bool on)
{
	struct option_entry *entry = find_name(name);

	if (entry == NULL)
		fail(STATUS_SYNTAX, "%s: no such option", name);
	entry->is_on = on;
}

/* One argument such as -eu; returns how many arguments it took, two with -o NAME. */
static int read_letters(char **arguments, bool on)
{
	int taken = 1;

	for (const char *letter = arguments[0] + 1; *letter != '\0'; letter++) {
		if (*letter != 'o' && !option_is_known(*letter))
			fail(STATUS_SYNTAX, "%c%c: no such option", on ? '-' : '+', *letter);
		if (*letter != 'o')
			option_set(*letter, on);
		else if (arguments[taken] == NULL)
			options_print(on);
		else
			set_by_name(arguments[taken++], on);
	}
	return taken;
}

int options_read(char **arguments, bool *saw_end)
{
	int i = 0;

	*saw_end = false;
	while (arguments[i] != NULL && (arguments[i][0] == '-' || arguments[i][0] == '+')) {
		const char *argument = arguments[i];

		if (strcmp(argument, "--") == 0 || strcmp(argument, "-") == 0) {
			*saw_end = true;
			return i + 1;
		}
		if (argument[1] == '\0')
			break;
		i += read_letters(arguments + i, argument[0] == '-');
	}
	return i;
}
