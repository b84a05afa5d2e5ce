/* SPDX-License-Identifier: MIT */
/* What is inside a word: quoting and the beginnings of expansions. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "lexer.h"
#include "parser.h"
#include "sh.h"
#include "source.h"

/* A word that is being read: finished parts, and characters of one more of the same quoting. */
struct builder {
	struct part *first;
	struct part **end;
	struct string text;
	bool has_text;
	bool is_quoted;
	unsigned long added; /* Characters and parts, to know what quotes had in them. */
};

bool is_name_start(int character)
{
	return character == '_' || (character < 128 && isalpha(character));
}

bool is_name_character(int character)
{
	return is_name_start(character) || (character >= '0' && character <= '9');
}

struct part *part_create(enum part_kind kind, bool quoted)
{
	struct part *part = region_allocate(lexer.region, sizeof(*part));

	part->kind = kind;
	part->quoted = quoted;
	return part;
}

static void add_part(struct builder *builder, struct part *part)
{
	*builder->end = part;
	builder->end = &part->next;
	builder->added++;
}

static void finish_text(struct builder *builder)
{
	struct part *part;

	if (!builder->has_text)
		return;
	part = part_create(PART_TEXT, builder->is_quoted);
	part->text = builder->text.bytes;
	builder->has_text = false;
	add_part(builder, part);
}

static void start_text(struct builder *builder, bool quoted)
{
	if (builder->has_text && builder->is_quoted == quoted)
		return;
	finish_text(builder);
	builder->has_text = true;
	builder->is_quoted = quoted;
	string_start(&builder->text, lexer.region);
}

static void add_character(struct builder *builder, int character, bool quoted)
{
	start_text(builder, quoted);
	string_add(&builder->text, (char)character);
	builder->added++;
}

/* Whether characters here are quoted without further signs. */
static bool quotes(enum place place)
{
	return place != PLACE_WORD && place != PLACE_BRACE;
}

static bool ends(enum place place, int character, unsigned parentheses)
{
	switch (place) {
	case PLACE_WORD:
		return strchr(" \t\n;&|<>()", character) != NULL;
	case PLACE_DOUBLE:
		return character == '"';
	case PLACE_BRACE:
	case PLACE_BRACE_DOUBLE:
		return character == '}';
	case PLACE_ARITHMETIC:
		return character == ')' && parentheses == 0;
	default:
		return false;
	}
}

static void read_until(struct builder *builder, enum place place);

static void read_single_quotes(struct builder *builder)
{
	int character;

	start_text(builder, true);
	while ((character = source_read()) != '\'') {
		if (character == SOURCE_END)
			syntax_error("no closing '");
		add_character(builder, character, true);
	}
}

static void read_double_quotes(struct builder *builder)
{
	unsigned long before = builder->added;

	read_until(builder, PLACE_DOUBLE);
	if (builder->added == before)
		start_text(builder, true);
}

static bool can_be_escaped(enum place place, int character)
{
	switch (place) {
	case PLACE_DOUBLE:
		return strchr("$`\"\\", character) != NULL;
	case PLACE_BRACE_DOUBLE:
		return strchr("$`\"\\}", character) != NULL;
	default:
		return strchr("$`\\", character) != NULL;
	}
}

static void read_backslash(struct builder *builder, enum place place)
{
	int next = source_read();

	if (next == SOURCE_END) {
		add_character(builder, '\\', true);
	} else if (!quotes(place) || can_be_escaped(place, next)) {
		add_character(builder, next, true);
	} else {
		source_unread(next);
		add_character(builder, '\\', true);
	}
}

static void read_expansion(struct builder *builder, int character, enum place place)
{
	struct part *part;

	part = character == '$' ? read_dollar(quotes(place)) : read_backquotes(quotes(place));
	if (part == NULL) {
		add_character(builder, '$', quotes(place));
		return;
	}
	finish_text(builder);
	add_part(builder, part);
}

static bool is_quote(enum place place, int character)
{
	if (character == '\'')
		return !quotes(place);
	return character == '"' && place != PLACE_HERE && place != PLACE_ARITHMETIC;
}

static void read_one(struct builder *builder, int character, enum place place)
{
	if (character == '\\')
		read_backslash(builder, place);
	else if (character == '$' || character == '`')
		read_expansion(builder, character, place);
	else if (is_quote(place, character) && character == '"')
		read_double_quotes(builder);
	else if (is_quote(place, character))
		read_single_quotes(builder);
	else
		add_character(builder, character, quotes(place));
}

static void check_end(enum place place)
{
	static const char *const missing[] = {
		[PLACE_DOUBLE] = "\"",
		[PLACE_BRACE] = "}",
		[PLACE_BRACE_DOUBLE] = "}",
		[PLACE_ARITHMETIC] = "))",
	};

	if (place != PLACE_WORD && place != PLACE_HERE)
		syntax_error("no closing %s", missing[place]);
}

/* Reads all that belongs to the place.  Its end is taken, but for what ends a plain word. */
static void read_until(struct builder *builder, enum place place)
{
	unsigned parentheses = 0;
	int character;

	lexer_enter();
	while ((character = lexer_character()) != SOURCE_END) {
		if (ends(place, character, parentheses))
			break;
		parentheses += character == '(';
		parentheses -= character == ')' && parentheses > 0;
		read_one(builder, character, place);
	}
	if (character == SOURCE_END)
		check_end(place);
	else if (place == PLACE_WORD)
		source_unread(character);
	lexer_leave();
}

struct word *read_place(enum place place)
{
	struct word *word = region_allocate(lexer.region, sizeof(*word));
	struct builder builder = {.end = &builder.first};

	read_until(&builder, place);
	finish_text(&builder);
	if (builder.first == NULL) {
		start_text(&builder, quotes(place));
		finish_text(&builder);
	}
	word->parts = builder.first;
	return word;
}

struct word *read_word(void)
{
	return read_place(PLACE_WORD);
}

struct word *read_text(const char *text, int line)
{
	struct word *word;

	source_push_string(text, line);
	word = read_place(PLACE_HERE);
	source_pop();
	return word;
}
