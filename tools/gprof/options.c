/* SPDX-License-Identifier: MIT */
/*
 * Reads the command line.  Not with getopt(): -k takes two words as BSD's does, or one as GNU's,
 * and options may stand between files.
 */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

static const char usage_text[] =
	"usage: gprof [-abclNszA] [-C COUNT] [-r MILLISECONDS] [-x ROUTINE] [-e|-E|-f|-F ROUTINE]\n"
	"             [-k FROM TO] [--flavor=NAME] [--for=PID|each] [--kernel=FILE]\n"
	"             [--view=NAME [-o FILE]] [--any-date] [PROGRAM [PROFILE...]]\n";

/* The command line while it is read. */
struct words {
	int count;
	char **items;
	int next;
	uint32_t label; /* Room for the number of --for. */
};

static _Noreturn void usage(void)
{
	fputs(usage_text, stderr);
	exit(1);
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

static const char *next_word(struct words *words)
{
	if (words->next == words->count)
		usage();
	return words->items[words->next++];
}

static double number_of(const char *text, const char *what)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || *end != '\0' || !(number > 0) || number > 1e9)
		fail("%s: %s must be a number above 0", text, what);
	return number;
}

static void read_cut(struct options *options, struct words *words, const char *from)
{
	char *copy = copy_text(from);
	char *slash = strchr(copy, '/');

	if (slash != NULL)
		*slash = '\0';
	names_add(&options->cut_from, copy);
	names_add(&options->cut_to, slash != NULL ? slash + 1 : next_word(words));
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
	const char *value;

	if (list == NULL && *at != 'C' && *at != 'r' && *at != 'k' && *at != 'o')
		return false;
	value = at[1] != '\0' ? at + 1 : next_word(words);
	if (list != NULL)
		names_add(list, value);
	else if (*at == 'C')
		options->cycle_size = (unsigned)number_of(value, "the size of cycles for -C");
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
			fprintf(stderr, "gprof: -%c: there is no such option\n", *at);
			usage();
		}
	}
}

static const char *value_of(const char *word, const char *name)
{
	size_t length = strlen(name);

	return strncmp(word, name, length) == 0 ? word + length : NULL;
}

static void read_long(struct options *options, struct words *words, const char *word)
{
	const char *value;

	if ((value = value_of(word, "--flavor=")) != NULL) {
		options->flavor = value;
	} else if (strcmp(word, "--for=each") == 0) {
		options->splits = true;
	} else if ((value = value_of(word, "--for=")) != NULL) {
		words->label = (uint32_t)(strcmp(value, "0") == 0
						  ? 0
						  : number_of(value, "the process of --for"));
		options->label = &words->label;
	} else if ((value = value_of(word, "--kernel=")) != NULL) {
		options->kernel = value;
	} else if (strcmp(word, "--kernel") == 0) {
		options->kernel = next_word(words);
	} else if ((value = value_of(word, "--view=")) != NULL) {
		options->view = value;
	} else if (strcmp(word, "--any-date") == 0) {
		options->ignores_dates = true;
	} else {
		if (strcmp(word, "--help") != 0)
			fprintf(stderr, "gprof: %s: there is no such option\n", word);
		usage();
	}
}

void options_read(struct options *options, int count, char **arguments)
{
	static struct words words;
	bool has_ended = false;

	*options = (struct options){0};
	words = (struct words){.count = count, .items = arguments, .next = 1};
	while (words.next < words.count) {
		const char *word = next_word(&words);

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
}
