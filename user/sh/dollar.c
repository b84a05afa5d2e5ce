/* SPDX-License-Identifier: MIT */
/* Reading of expansions: parameters, commands and arithmetic. */
#include <string.h>

#include "lexer.h"
#include "parser.h"
#include "source.h"

#define SPECIAL_PARAMETERS "?$!#*@-"

static bool is_special(int character)
{
	return character > 0 && strchr(SPECIAL_PARAMETERS, character) != NULL;
}

static bool is_digit(int character)
{
	return character >= '0' && character <= '9';
}

/* As many characters as the name has: one, if it is special or a digit without braces. */
static char *read_name(int character, bool in_braces)
{
	struct string name;

	string_start(&name, lexer.region);
	string_add(&name, (char)character);
	if (is_special(character) || (is_digit(character) && !in_braces))
		return name.bytes;
	while (is_digit(character) ? is_digit(character = lexer_character())
				   : is_name_character(character = lexer_character()))
		string_add(&name, (char)character);
	source_unread(character);
	return name.bytes;
}

static bool can_begin_name(int character)
{
	return is_special(character) || is_name_character(character);
}

/*
 * After ${# there may be a parameter whose length is meant, or # is the parameter itself and what
 * follows is an operation on it.
 */
static bool means_length(void)
{
	int next = lexer_character();
	int after;

	source_unread(next);
	if (!can_begin_name(next))
		return false;
	if (next != '-' && next != '?' && next != '#')
		return true;
	lexer_character();
	after = lexer_character();
	source_unread(after);
	source_unread(next);
	return after == '}';
}

static struct word *read_operand(const struct part *part)
{
	bool is_pattern =
		part->operation == OPERATION_SUFFIX || part->operation == OPERATION_PREFIX;

	return read_place(part->quoted && !is_pattern ? PLACE_BRACE_DOUBLE : PLACE_BRACE);
}

static void read_operation(struct part *part)
{
	int character = lexer_character();

	if (character == '}')
		return;
	part->null_is_unset = character == ':';
	if (character == ':')
		character = lexer_character();
	if (character <= 0 || strchr(part->null_is_unset ? "-=?+" : "-=?+%#", character) == NULL)
		syntax_error("bad substitution");
	part->operation = character;
	if (character == '%' || character == '#') {
		int next = lexer_character();

		part->longest = next == character;
		if (!part->longest)
			source_unread(next);
	}
	part->operand = read_operand(part);
}

static struct part *read_braces(bool quoted)
{
	struct part *part = part_create(PART_PARAMETER, quoted);
	int character = lexer_character();

	if (character == '#' && means_length()) {
		part->operation = OPERATION_LENGTH;
		part->text = read_name(lexer_character(), true);
		if (lexer_character() != '}')
			syntax_error("bad substitution");
		return part;
	}
	if (!can_begin_name(character))
		syntax_error("bad substitution");
	part->text = read_name(character, true);
	read_operation(part);
	return part;
}

static struct part *read_parentheses(bool quoted)
{
	int character = lexer_character();
	struct part *part;

	if (character == '(') {
		part = part_create(PART_ARITHMETIC, true);
		part->quoted = quoted;
		part->operand = read_place(PLACE_ARITHMETIC);
		if (lexer_character() != ')')
			syntax_error("no closing ))");
		return part;
	}
	source_unread(character);
	part = part_create(PART_COMMAND, quoted);
	part->command = parse_substitution(true);
	return part;
}

struct part *read_dollar(bool quoted)
{
	int character = lexer_character();
	struct part *part;

	if (character == '(')
		return read_parentheses(quoted);
	if (character == '{')
		return read_braces(quoted);
	if (!can_begin_name(character)) {
		source_unread(character);
		return NULL;
	}
	part = part_create(PART_PARAMETER, quoted);
	part->text = read_name(character, false);
	return part;
}

/* A backslash before one of these is gone before the commands are read. */
static void read_escaped(struct string *text, bool quoted)
{
	int next = source_read();

	if (next == SOURCE_END)
		syntax_error("no closing `");
	if (strchr(quoted ? "$`\\\"" : "$`\\", next) == NULL)
		string_add(text, '\\');
	string_add(text, (char)next);
}

struct part *read_backquotes(bool quoted)
{
	struct part *part = part_create(PART_COMMAND, quoted);
	struct string text;
	int line = source_line();
	int character;

	string_start(&text, lexer.region);
	while ((character = lexer_character()) != '`') {
		if (character == SOURCE_END)
			syntax_error("no closing `");
		if (character == '\\')
			read_escaped(&text, quoted);
		else
			string_add(&text, (char)character);
	}
	source_push_string(text.bytes, line);
	part->command = parse_substitution(false);
	source_pop();
	return part;
}
