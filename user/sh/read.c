/* SPDX-License-Identifier: MIT */
/* The builtins `read` and `getopts`, which put what they read into variables. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builtins.h"
#include "expand.h"
#include "getopts.h"
#include "parser.h"
#include "sh.h"
#include "variables.h"

static int letter_index = 1; /* Of getopts, in the argument that OPTIND says. */

/* By single characters: what follows the line is for the next reader.  -1 at the end. */
static int read_character(void)
{
	unsigned char character;
	ssize_t got;

	while ((got = read(STDIN_FILENO, &character, 1)) < 0 && errno == EINTR)
		traps_run();
	return got == 1 ? character : -1;
}

/* Without -r a backslash quotes what follows, or joins the next line. */
static bool read_line(struct text *line, bool is_raw)
{
	char text[2] = "";
	int character;

	text_start(line);
	while ((character = read_character()) >= 0 && character != '\n') {
		enum mark mark = MARK_SPLIT;

		if (character == '\\' && !is_raw) {
			character = read_character();
			if (character < 0)
				return false;
			if (character == '\n')
				continue;
			mark = MARK_QUOTED;
		}
		text[0] = (char)character;
		text_add(line, text, mark);
	}
	return character == '\n';
}

static bool separates(const struct text *line, size_t at, bool blank)
{
	char character = line->bytes.bytes[at];

	return at < line->bytes.used && line->marks.bytes[at] == MARK_SPLIT &&
	       strchr(variable_separators(), character) != NULL &&
	       (strchr(" \t\n", character) != NULL) == blank;
}

static size_t skip_blanks(const struct text *line, size_t at)
{
	while (separates(line, at, true))
		at++;
	return at;
}

/* Behind a field: blanks, at most one other separator, blanks. */
static size_t skip_gap(const struct text *line, size_t at)
{
	at = skip_blanks(line, at);
	if (separates(line, at, false))
		at = skip_blanks(line, at + 1);
	return at;
}

static size_t field_end(const struct text *line, size_t at)
{
	while (at < line->bytes.used && !separates(line, at, true) && !separates(line, at, false))
		at++;
	return at;
}

/* The last variable gets the rest, without blanks and, if no field follows, without a separator. */
static size_t rest_end(const struct text *line, size_t at)
{
	size_t end = line->bytes.used;
	size_t first = field_end(line, at);

	if (skip_gap(line, first) == end)
		return first;
	while (end > at && separates(line, end - 1, true))
		end--;
	return end;
}

static void assign_fields(const struct text *line, char **names)
{
	size_t at = skip_blanks(line, 0);

	for (; *names != NULL; names++) {
		size_t end = names[1] != NULL ? field_end(line, at) : rest_end(line, at);

		variable_set(*names, region_copy(&scratch, line->bytes.bytes + at, end - at));
		at = skip_gap(line, end);
	}
}

int builtin_read(int count, char **arguments)
{
	bool is_raw = count > 1 && strcmp(arguments[1], "-r") == 0;
	int first = is_raw ? 2 : 1;
	struct text line;
	bool saw_newline;

	if (first == count)
		fail(STATUS_SYNTAX, "read: no variable");
	for (int i = first; i < count; i++)
		if (!is_name(arguments[i]))
			fail(STATUS_SYNTAX, "read: %s: bad variable name", arguments[i]);
	saw_newline = read_line(&line, is_raw);
	assign_fields(&line, arguments + first);
	return saw_newline ? 0 : 1;
}

void getopts_reset(void)
{
	letter_index = 1;
}

/* The index of the argument that is being read, from 1. */
static size_t getopts_place(void)
{
	const char *value = variable_get("OPTIND");
	long place = value != NULL ? strtol(value, NULL, 10) : 1;

	return place > 0 ? (size_t)place : 1;
}

static void set_place(size_t place, int index)
{
	variable_set_number("OPTIND", (long long)place);
	letter_index = index;
}

static void report_option(const char *letters, const char *name, char letter, const char *what,
			  char sign)
{
	char text[2] = {letter, '\0'};
	char value[2] = {*letters == ':' ? sign : '?', '\0'};

	variable_set(name, value);
	if (*letters == ':') {
		variable_set("OPTARG", text);
	} else {
		variable_unset("OPTARG");
		complain("-%c: %s", letter, what);
	}
}

/* The argument of an option is the rest of its word or the next one. */
static void take_argument(const char *letters, const char *name, char **words, size_t place,
			  const char *rest)
{
	char letter = rest[-1];
	char text[2] = {letter, '\0'};

	if (*rest == '\0')
		rest = words[place++];
	set_place(place + 1, 1);
	if (rest == NULL) {
		set_place(place, 1);
		report_option(letters, name, letter, "no argument", ':');
		return;
	}
	variable_set("OPTARG", rest);
	variable_set(name, text);
}

static int getopts_next(const char *letters, const char *name, char **words, size_t count)
{
	size_t place = getopts_place();
	const char *word = place <= count ? words[place - 1] : NULL;
	const char *found;
	char text[2] = "";

	if (word == NULL || *word != '-' || word[1] == '\0' || strcmp(word, "--") == 0) {
		set_place(word != NULL && strcmp(word, "--") == 0 ? place + 1 : place, 1);
		variable_set(name, "?");
		return 1;
	}
	if ((size_t)letter_index >= strlen(word))
		letter_index = 1;
	text[0] = word[letter_index++];
	found = text[0] != ':' ? strchr(letters, text[0]) : NULL;
	if (found != NULL && found[1] == ':') {
		take_argument(letters, name, words, place, word + letter_index);
		return 0;
	}
	if (word[letter_index] == '\0')
		set_place(place + 1, 1);
	if (found == NULL) {
		report_option(letters, name, text[0], "no such option", '?');
		return 0;
	}
	variable_unset("OPTARG");
	variable_set(name, text);
	return 0;
}

int builtin_getopts(int count, char **arguments)
{
	if (count < 3 || !is_name(arguments[2]))
		fail(STATUS_SYNTAX, "usage: getopts LETTERS NAME [WORD...]");
	if (count > 3)
		return getopts_next(arguments[1], arguments[2], arguments + 3, (size_t)count - 3);
	return getopts_next(arguments[1], arguments[2], parameters.values, parameters.count);
}
