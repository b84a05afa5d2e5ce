/* SPDX-License-Identifier: MIT */
/* The command line as words.  See words.h. */
#include "words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

#define HINT_BYTES  160u
#define SPELL_BYTES 32u
#define HELP_COLUMN 28

static const char usage_text[] =
	"usage: gprof [OPTION...] [PROGRAM [PROFILE...]]\n"
	"       gprof --diff [OPTION...] PROGRAM OLD NEW\n"
	"       gprof --diff [OPTION...] OLDPROGRAM OLD... NEWPROGRAM NEW...\n"
	"gprof --help says which options there are.\n";

void usage(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	fputs("gprof: ", stderr);
	vfprintf(stderr, format, values);
	fputc('\n', stderr);
	fputs(usage_text, stderr);
	exit(1);
}

/* ---------------- Help ---------------- */

static const char *words_value_text(const struct option *option, bool is_long, char *text,
				    size_t size)
{
	const char *const forms[][2] = {
		[VALUE_NONE] = {"", ""},
		[VALUE_NEEDED] = {" ", "="},
		[VALUE_OPTIONAL] = {"[", "[="},
	};
	const char *end = option->value == VALUE_OPTIONAL ? "]" : "";

	snprintf(text, size, "%s%s%s", forms[option->value][is_long],
		 option->value == VALUE_NONE ? "" : option->what, end);
	return text;
}

static void words_print_option(const struct option *option)
{
	char spelled[2 * SPELL_BYTES + 8] = "  ", value[SPELL_BYTES];
	size_t used = 2;

	if (option->letter != 0)
		used += (size_t)snprintf(spelled + used, sizeof(spelled) - used, "-%c%s%s",
					 option->letter,
					 words_value_text(option, false, value, sizeof(value)),
					 option->name != NULL ? ", " : "");
	if (option->name != NULL && used < sizeof(spelled))
		snprintf(spelled + used, sizeof(spelled) - used, "--%s%s", option->name,
			 words_value_text(option, true, value, sizeof(value)));
	if (strlen(spelled) >= HELP_COLUMN)
		printf("%s\n%*s%s\n", spelled, HELP_COLUMN, "", option->help);
	else
		printf("%-*s%s\n", HELP_COLUMN, spelled, option->help);
}

void options_print_help(void)
{
	fputs(usage_text, stdout);
	fputc('\n', stdout);
	for (const struct option *option = option_table;
	     option->letter != 0 || option->name != NULL; option++)
		words_print_option(option);
}

void option_spell(const struct option *option, char *text, size_t size)
{
	if (option->letter != 0)
		snprintf(text, size, "-%c", option->letter);
	else
		snprintf(text, size, "--%s", option->name);
}

static _Noreturn void words_fail_unknown(const char *word)
{
	char hint[HINT_BYTES];

	option_hint(word, hint, sizeof(hint));
	usage("%s: there is no such option%s%s", word, *hint != '\0' ? ": " : "", hint);
}

/* ---------------- Values ---------------- */

const char *words_next(struct words *words, const char *option)
{
	if (words->next == words->count)
		usage("%s: its value is missing", option);
	return words->items[words->next++];
}

/* ---------------- Letters ---------------- */

static const struct option *words_find_letter(char letter)
{
	for (const struct option *option = option_table;
	     option->letter != 0 || option->name != NULL; option++)
		if (option->letter == letter)
			return option;
	return NULL;
}

void words_read_letters(struct options *options, struct words *words, const char *at)
{
	for (; *at != '\0'; at++) {
		const char word[] = {'-', *at, '\0'};
		const struct option *option = words_find_letter(*at);
		const char *value = at[1] != '\0' ? at + 1 : NULL;

		if (option == NULL)
			words_fail_unknown(word);
		if (option->value == VALUE_NONE) {
			option->set(options, option, NULL, words);
			continue;
		}
		if (value == NULL && option->value == VALUE_NEEDED)
			value = words_next(words, word);
		option->set(options, option, value, words);
		return;
	}
}

/* ---------------- Long names ---------------- */

/* The option of that name, or the only one whose name begins so; NULL. */
static const struct option *words_find_name(const char *name, size_t length)
{
	const struct option *found = NULL;

	for (const struct option *option = option_table;
	     option->letter != 0 || option->name != NULL; option++) {
		if (option->name == NULL || strncmp(option->name, name, length) != 0)
			continue;
		if (option->name[length] == '\0')
			return option;
		if (found != NULL)
			usage("--%.*s: is it --%s or --%s?", (int)length, name, found->name,
			      option->name);
		found = option;
	}
	return found;
}

void words_read_long(struct options *options, struct words *words, const char *word)
{
	const char *name = word + 2;
	size_t length = strcspn(name, "=");
	const char *value = name[length] == '=' ? name + length + 1 : NULL;
	const struct option *option = words_find_name(name, length);
	char spelled[SPELL_BYTES];

	if (option == NULL)
		words_fail_unknown(word);
	snprintf(spelled, sizeof(spelled), "--%s", option->name);
	if (value != NULL && option->value == VALUE_NONE)
		usage("%s: has no value", spelled);
	if (value == NULL && option->value == VALUE_NEEDED)
		value = words_next(words, spelled);
	option->set(options, option, value, words);
}
