/* SPDX-License-Identifier: MIT */
/* Words part by part, and what is made of the result. */
#include <assert.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "expand.h"
#include "lexer.h"
#include "sh.h"
#include "variables.h"

void text_start(struct text *text)
{
	string_start(&text->bytes, &scratch);
	string_start(&text->marks, &scratch);
}

void text_add(struct text *text, const char *bytes, enum mark mark)
{
	string_add_text(&text->bytes, bytes);
	while (text->marks.used < text->bytes.used)
		string_add(&text->marks, (char)mark);
}

void text_add_sign(struct text *text, enum mark mark)
{
	assert(mark == MARK_BREAK || mark == MARK_EMPTY);
	string_add(&text->bytes, ' ');
	string_add(&text->marks, (char)mark);
}

void text_add_value(struct text *text, const char *value, bool quoted)
{
	if (quoted && *value == '\0')
		text_add_sign(text, MARK_EMPTY);
	text_add(text, value, quoted ? MARK_QUOTED : MARK_SPLIT);
}

char *text_flatten(const struct text *text)
{
	struct string plain;

	string_start(&plain, &scratch);
	for (size_t i = 0; i < text->bytes.used; i++)
		if (text->marks.bytes[i] != MARK_BREAK && text->marks.bytes[i] != MARK_EMPTY)
			string_add(&plain, text->bytes.bytes[i]);
	return plain.bytes;
}

static const char *home_of(const char *user)
{
	const struct passwd *entry;

	if (*user == '\0')
		return variable_get("HOME");
	entry = getpwnam(user);
	return entry != NULL ? entry->pw_dir : NULL;
}

/*
 * Expands ~user at the beginning of the text, if that is all of it up to a slash.  Returns how many
 * characters that took.
 */
static size_t expand_tilde(struct expansion *expansion, const char *text, bool is_last)
{
	size_t length = strcspn(text, expansion->is_assignment ? "/:" : "/");
	const char *home;

	if (*text != '~' || (text[length] == '\0' && !is_last))
		return 0;
	home = home_of(region_copy(&scratch, text + 1, length - 1));
	if (home == NULL)
		return 0;
	text_add_value(&expansion->text, home, true);
	return length;
}

static void expand_plain(struct expansion *expansion, const struct part *part, bool is_first)
{
	const char *text = part->text;
	bool is_last = part->next == NULL;
	char character[2] = "";

	if (is_first)
		text += expand_tilde(expansion, text, is_last);
	if (!expansion->is_assignment) {
		text_add(&expansion->text, text, expansion->plain);
		return;
	}
	for (; *text != '\0'; text++) {
		character[0] = *text;
		text_add(&expansion->text, character, expansion->plain);
		if (*text == ':' && text[1] == '~')
			text += expand_tilde(expansion, text + 1, is_last);
	}
}

static void expand_arithmetic(struct expansion *expansion, const struct part *part)
{
	char number[24];

	snprintf(number, sizeof(number), "%lld", arithmetic(expand_string(part->operand)));
	text_add_value(&expansion->text, number, part->quoted);
}

static void expand_part(struct expansion *expansion, const struct part *part, bool is_first)
{
	switch (part->kind) {
	case PART_TEXT:
		if (part->quoted)
			text_add_value(&expansion->text, part->text, true);
		else
			expand_plain(expansion, part, is_first);
		break;
	case PART_PARAMETER:
		expand_parameter(expansion, part);
		break;
	case PART_COMMAND:
		text_add_value(&expansion->text, substitute(part->command), part->quoted);
		break;
	case PART_ARITHMETIC:
		expand_arithmetic(expansion, part);
		break;
	}
}

void expand_parts(struct expansion *expansion, const struct word *word)
{
	for (const struct part *part = word->parts; part != NULL; part = part->next)
		expand_part(expansion, part, part == word->parts);
}

static struct text expand(const struct word *word, bool splits, bool is_assignment)
{
	struct expansion expansion = {
		.splits = splits, .is_assignment = is_assignment, .plain = MARK_PLAIN};

	text_start(&expansion.text);
	expand_parts(&expansion, word);
	return expansion.text;
}

void expand_fields(const struct word *words, struct list *fields)
{
	for (; words != NULL; words = words->next) {
		struct text text = expand(words, true, false);

		split_fields(&text, fields);
	}
}

char *expand_string(const struct word *word)
{
	struct text text = expand(word, false, false);

	return text_flatten(&text);
}

char *expand_assignment(const struct word *word)
{
	struct text text = expand(word, false, true);

	return text_flatten(&text);
}

struct text expand_pattern(const struct word *word)
{
	return expand(word, false, false);
}

static size_t name_length(const struct word *word)
{
	const struct part *part = word->parts;
	size_t length = 0;

	if (part->kind != PART_TEXT || part->quoted || !is_name_start((unsigned char)*part->text))
		return 0;
	while (is_name_character((unsigned char)part->text[length]))
		length++;
	return part->text[length] == '=' ? length + 1 : 0;
}

void expand_declaration(const struct word *word, struct list *fields)
{
	size_t length = name_length(word);
	struct word value = {.parts = word->parts};
	struct part first = *word->parts;
	struct string field;

	if (length == 0) {
		struct text text = expand(word, true, false);

		split_fields(&text, fields);
		return;
	}
	string_start(&field, &scratch);
	string_add_bytes(&field, first.text, length);
	first.text += length;
	value.parts = &first;
	string_add_text(&field, expand_assignment(&value));
	list_add(fields, field.bytes);
}

/*
 * The lexer may be in the middle of a command when it asks for more input and so for a prompt.  A
 * prompt with an error in it is replaced before the error leads back to the prompt.
 */
const char *expand_prompt(const char *name)
{
	struct lexer saved = lexer;
	const char *value = variable_get(name);
	char *prompt;

	if (value == NULL)
		return "";
	prompt = region_copy(&scratch, value, strlen(value));
	variable_set(name, "$ ");
	lexer_reset();
	lexer.region = &scratch;
	value = expand_string(read_text(prompt, 1));
	variable_set(name, prompt);
	lexer = saved;
	return value;
}
