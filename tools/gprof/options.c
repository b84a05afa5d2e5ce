/* SPDX-License-Identifier: MIT */
/*
 * Reads the command line.  Not with getopt(): -k takes two words as BSD's does, or one as GNU's,
 * and options may stand between files.
 */
#include "options.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

#define NUMBER_MOST 1e9

static const char usage_text[] =
	"usage: gprof [-abclNszA] [-C COUNT] [-r MILLISECONDS] [-x ROUTINE] [-e|-E|-f|-F ROUTINE]\n"
	"             [-k FROM TO] [--flavor=NAME] [--for=PID|each] [--kernel=FILE]\n"
	"             [--view=NAME [--programs=FOLDER] [-o FILE]] [--any-date]\n"
	"             [PROGRAM [PROFILE...]]\n";

/* The command line while it is read. */
struct words {
	int count;
	char **items;
	int next;
	uint32_t label; /* Room for the number of --for. */
};

static _Noreturn __attribute__((format(printf, 1, 2))) void usage(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	fputs("gprof: ", stderr);
	vfprintf(stderr, format, values);
	fputc('\n', stderr);
	fputs(usage_text, stderr);
	exit(1);
}

static _Noreturn void help(void)
{
	fputs(usage_text, stdout);
	if (fflush(stdout) != 0)
		fail("standard output cannot be written");
	exit(0);
}

static void names_add(struct names *names, const char *name)
{
	names->items = reallocate(names->items, names->n + 1, sizeof(*names->items));
	names->items[names->n++] = name;
}

bool names_contain(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

/* The value of an option, that word's. */
static const char *next_word(struct words *words, const char *option)
{
	if (words->next == words->count)
		usage("%s: its value is missing", option);
	return words->items[words->next++];
}

static double number_of(const char *text, const char *what)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || *end != '\0' || !(number > 0) || number > NUMBER_MOST)
		fail("%s: %s must be a number above 0, up to %g", text, what, NUMBER_MOST);
	return number;
}

static uint32_t whole_number_of(const char *text, const char *what, uint32_t least)
{
	double number = -1;

	if (*text != '\0' && text[strspn(text, "0123456789")] == '\0')
		number = strtod(text, NULL);
	if (number < least || number > NUMBER_MOST)
		fail("%s: %s must be a whole number from %" PRIu32 " to %.0f", text, what, least,
		     NUMBER_MOST);
	return (uint32_t)number;
}

static void read_cut(struct options *options, struct words *words, const char *from)
{
	char *copy = copy_text(from);
	char *slash = strchr(copy, '/');

	if (slash != NULL)
		*slash = '\0';
	names_add(&options->cut_from, copy);
	names_add(&options->cut_to, slash != NULL ? slash + 1 : next_word(words, "-k"));
}

/* The list that a letter adds a routine to; NULL. */
static struct names *list_of(struct options *options, char letter)
{
	switch (letter) {
	case 'x':
		return &options->routines;
	case 'e':
		return &options->hidden;
	case 'E':
		return &options->left_out;
	case 'f':
		return &options->shown;
	case 'F':
		return &options->counted;
	default:
		return NULL;
	}
}

/* An option with a value, which is the rest of its word or the next one; false if it is none. */
static bool read_with_value(struct options *options, struct words *words, const char *at)
{
	struct names *list = list_of(options, *at);
	const char name[] = {'-', *at, '\0'};
	const char *value;

	if (list == NULL && *at != 'C' && *at != 'r' && *at != 'k' && *at != 'o')
		return false;
	value = at[1] != '\0' ? at + 1 : next_word(words, name);
	if (list != NULL)
		names_add(list, value);
	else if (*at == 'C')
		options->cycle_size = whole_number_of(value, "the size of cycles for -C", 1);
	else if (*at == 'r')
		options->period = number_of(value, "the milliseconds of -r") / 1000;
	else if (*at == 'o')
		options->output = value;
	else
		read_cut(options, words, value);
	return true;
}

static bool *switch_of(struct options *options, char letter)
{
	switch (letter) {
	case 'a':
		return &options->hides_static;
	case 'b':
		return &options->is_brief;
	case 'c':
		return &options->scans_calls;
	case 'N':
		return &options->counts_events;
	case 's':
		return &options->sums;
	case 'z':
		return &options->shows_unused;
	case 'A':
		return &options->annotates;
	case 'l':
		return &options->shows_lines;
	default:
		return NULL;
	}
}

static void read_letters(struct options *options, struct words *words, const char *at)
{
	for (; *at != '\0'; at++) {
		bool *which = switch_of(options, *at);

		if (which != NULL) {
			*which = true;
		} else if (read_with_value(options, words, at)) {
			return;
		} else {
			usage("-%c: there is no such option", *at);
		}
	}
}

/* What comes behind an option's name: after a `=`, or as the next word; NULL if it is another. */
static const char *value_of(struct words *words, const char *word, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(word, name, length) != 0)
		return NULL;
	if (word[length] == '=')
		return word + length + 1;
	return word[length] == '\0' ? next_word(words, name) : NULL;
}

static void read_for(struct options *options, struct words *words, const char *value)
{
	if (strcmp(value, "each") == 0) {
		options->splits = true;
		options->label = NULL;
	} else {
		words->label = whole_number_of(value, "the process of --for", 0);
		options->splits = false;
		options->label = &words->label;
	}
}

static void read_long(struct options *options, struct words *words, const char *word)
{
	const char *value;

	if ((value = value_of(words, word, "--flavor")) != NULL)
		options->flavor = value;
	else if ((value = value_of(words, word, "--for")) != NULL)
		read_for(options, words, value);
	else if ((value = value_of(words, word, "--kernel")) != NULL)
		options->kernel = value;
	else if ((value = value_of(words, word, "--programs")) != NULL)
		options->programs = value;
	else if ((value = value_of(words, word, "--view")) != NULL)
		options->view = value;
	else if (strcmp(word, "--any-date") == 0)
		options->ignores_dates = true;
	else if (strcmp(word, "--help") == 0)
		help();
	else
		usage("%s: there is no such option", word);
}

/* Which of the options that choose among tables, or what is in them, there is; 0: none. */
static char table_option(const struct options *options)
{
	const struct {
		char letter;
		bool is_there;
	} all[] = {
		{'x', options->routines.n > 0}, {'l', options->shows_lines},
		{'A', options->annotates},      {'e', options->hidden.n > 0},
		{'E', options->left_out.n > 0}, {'f', options->shown.n > 0},
		{'F', options->counted.n > 0},  {'k', options->cut_from.n > 0},
		{'C', options->cycle_size > 0}, {'c', options->scans_calls},
		{'a', options->hides_static},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].is_there)
			return all[i].letter;
	return 0;
}

/* Options that contradict each other. */
static void check(const struct options *options)
{
	char letter = table_option(options);

	if (options->output != NULL && options->view == NULL)
		fail("-o: is where a view goes; tables go to standard output (--view=NAME)");
	if (options->programs != NULL && options->view == NULL)
		fail("--programs: is for views; tables are of PROGRAM alone (--view=NAME)");
	if (options->view != NULL && letter != 0)
		fail("-%c: is for tables; --view=%s writes all of the profile, as it is", letter,
		     options->view);
}

void options_read(struct options *options, int count, char **arguments)
{
	static struct words words;
	bool has_ended = false;

	*options = (struct options){0};
	words = (struct words){.count = count, .items = arguments, .next = 1};
	while (words.next < words.count) {
		const char *word = words.items[words.next++];

		if (!has_ended && strcmp(word, "--") == 0)
			has_ended = true;
		else if (!has_ended && strncmp(word, "--", 2) == 0)
			read_long(options, &words, word);
		else if (!has_ended && word[0] == '-' && word[1] != '\0')
			read_letters(options, &words, word + 1);
		else if (options->program == NULL)
			options->program = word;
		else
			names_add(&options->profiles, word);
	}
	if (options->program == NULL)
		options->program = "a.out";
	if (options->profiles.n == 0)
		names_add(&options->profiles, "gmon.out");
	check(options);
}
