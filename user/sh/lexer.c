/* SPDX-License-Identifier: MIT */
/* Tokens: operators, words, and the texts of here-documents after a newline. */
#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lexer.h"
#include "sh.h"
#include "source.h"

struct lexer lexer;

/* Longer ones first among those that begin alike. */
static const struct operator_name {
	const char *text;
	enum token token;
} operators[] = {
	{"&&", TOKEN_AND},     {"&", TOKEN_BACKGROUND}, {"||", TOKEN_OR},
	{"|", TOKEN_PIPE},     {";;", TOKEN_CASE_END},  {";", TOKEN_SEMICOLON},
	{"(", TOKEN_OPEN},     {")", TOKEN_CLOSE},      {"<<-", TOKEN_HERE_TABS},
	{"<<", TOKEN_HERE},    {"<>", TOKEN_BOTH},      {"<&", TOKEN_DUPLICATE_READ},
	{"<", TOKEN_READ},     {">>", TOKEN_APPEND},    {">&", TOKEN_DUPLICATE_WRITE},
	{">|", TOKEN_CLOBBER}, {">", TOKEN_WRITE},
};

#define OPERATORS (sizeof(operators) / sizeof(operators[0]))

void syntax_error(const char *format, ...)
{
	char what[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	shell.line = source_line();
	fail(STATUS_SYNTAX, "syntax error: %s", what);
}

void lexer_enter(void)
{
	if (++lexer.depth > NESTING_MAX)
		syntax_error("nested too deeply");
}

void lexer_leave(void)
{
	assert(lexer.depth > 0);
	lexer.depth--;
}

void lexer_reset(void)
{
	lexer = (struct lexer){0};
}

int lexer_character(void)
{
	int character;

	while ((character = source_read()) == '\\') {
		int next = source_read();

		if (next != '\n') {
			source_unread(next);
			return '\\';
		}
	}
	return character;
}

void lexer_expect_here(struct redirection *redirection)
{
	struct redirection **end = &lexer.pending;

	while (*end != NULL)
		end = &(*end)->next_pending;
	*end = redirection;
}

/* One line without its newline; false if there is none. */
static bool read_line(struct string *line)
{
	int character = source_read();

	string_start(line, lexer.region);
	if (character == SOURCE_END)
		return false;
	for (; character != '\n' && character != SOURCE_END; character = source_read())
		string_add(line, (char)character);
	return true;
}

static struct word *literal_text(const char *text)
{
	struct word *word = region_allocate(lexer.region, sizeof(*word));

	word->parts = part_create(PART_TEXT, true);
	word->parts->text = region_copy(lexer.region, text, strlen(text));
	return word;
}

static void read_one_here(struct redirection *redirection)
{
	struct string text, line;
	int first = source_line();

	string_start(&text, lexer.region);
	while (read_line(&line)) {
		const char *start = line.bytes;

		while (redirection->strips_tabs && *start == '\t')
			start++;
		if (strcmp(start, redirection->delimiter) == 0)
			break;
		string_add_text(&text, start);
		string_add(&text, '\n');
	}
	redirection->word =
		redirection->is_literal ? literal_text(text.bytes) : read_text(text.bytes, first);
}

void lexer_read_here(void)
{
	while (lexer.pending != NULL) {
		struct redirection *redirection = lexer.pending;

		lexer.pending = redirection->next_pending;
		read_one_here(redirection);
	}
}

static void skip_comment(void)
{
	int character;

	do {
		character = source_read();
	} while (character != '\n' && character != SOURCE_END);
	source_unread(character);
}

static int skip_blanks(void)
{
	int character;

	while ((character = lexer_character()) == ' ' || character == '\t' || character == '#')
		if (character == '#')
			skip_comment();
	return character;
}

static const struct operator_name *find_operator(const char *text)
{
	for (size_t i = 0; i < OPERATORS; i++)
		if (strcmp(operators[i].text, text) == 0)
			return &operators[i];
	return NULL;
}

/* The longest operator that begins with the character; what an operator begins with is one. */
static const struct operator_name *read_operator(int first)
{
	char text[4] = {(char)first};
	const struct operator_name *found = find_operator(text);

	for (size_t length = 1; found != NULL && length + 1 < sizeof(text); length++) {
		int next = lexer_character();
		const struct operator_name *longer;

		text[length] = (char)next;
		longer = next != SOURCE_END ? find_operator(text) : NULL;
		if (longer == NULL) {
			source_unread(next);
			break;
		}
		found = longer;
	}
	return found;
}

/* A word of digits right before a redirection is the descriptor's number. */
static bool is_number(const char *literal)
{
	int next;

	if (literal == NULL || strspn(literal, "0123456789") != strlen(literal))
		return false;
	next = lexer_character();
	source_unread(next);
	return next == '<' || next == '>';
}

static enum token read_word_token(int character)
{
	const char *literal;

	source_unread(character);
	lexer.word = read_word();
	literal = word_literal(lexer.word);
	if (!is_number(literal))
		return TOKEN_WORD;
	if (strlen(literal) > 4)
		syntax_error("%s: too large for a descriptor", literal);
	lexer.number = atoi(literal);
	return TOKEN_NUMBER;
}

static enum token read_token(void)
{
	int character = skip_blanks();
	const struct operator_name *operator_name;

	lexer.line = source_line() - (character == '\n');
	if (character == SOURCE_END || character == '\n') {
		lexer_read_here();
		return character == '\n' ? TOKEN_NEWLINE : TOKEN_END;
	}
	operator_name = read_operator(character);
	return operator_name != NULL ? operator_name->token : read_word_token(character);
}

enum token lexer_peek(void)
{
	if (!lexer.is_ready) {
		lexer.word = NULL;
		lexer.token = read_token();
		lexer.is_ready = true;
	}
	return lexer.token;
}

void lexer_take(void)
{
	assert(lexer.is_ready);
	lexer.is_ready = false;
}

const char *word_literal(const struct word *word)
{
	const struct part *part = word->parts;

	if (part->kind != PART_TEXT || part->quoted || part->next != NULL)
		return NULL;
	return part->text;
}

const char *lexer_literal(void)
{
	return lexer_peek() == TOKEN_WORD ? word_literal(lexer.word) : NULL;
}
