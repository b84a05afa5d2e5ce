/* SPDX-License-Identifier: MIT */
/*
 * Patterns of * ? and [...].
 *
 * A match that fails goes back to the last star alone, which then takes one character more: time is
 * at most the product of both lengths.
 */
#include <ctype.h>
#include <string.h>

#include "expand.h"

static const struct class_name {
	const char *name;
	int (*contains)(int character);
} classes[] = {
	{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
	{"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
	{"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit},
};

static bool is_special(const struct text *pattern, size_t at, char character)
{
	return at < pattern->bytes.used && pattern->bytes.bytes[at] == character &&
	       pattern->marks.bytes[at] != MARK_QUOTED;
}

/* A backslash that came out of an expansion quotes what follows it. */
static size_t skip_backslash(const struct text *pattern, size_t at)
{
	return is_special(pattern, at, '\\') && at + 1 < pattern->bytes.used ? at + 1 : at;
}

/* The class in [:name:] at a bracket; the length of all that, or 0. */
static size_t read_class(const struct text *pattern, size_t at, const struct class_name **found)
{
	const char *name = pattern->bytes.bytes + at + 2;

	if (!is_special(pattern, at, '[') || !is_special(pattern, at + 1, ':'))
		return 0;
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		size_t length = strlen(classes[i].name);

		if (strncmp(name, classes[i].name, length) == 0 &&
		    strncmp(name + length, ":]", 2) == 0) {
			*found = &classes[i];
			return length + 4;
		}
	}
	return 0;
}

/* One element of a bracket: a class, a range or a character.  Returns where the next one is. */
static size_t match_element(const struct text *pattern, size_t at, unsigned char character,
			    bool *matched)
{
	const struct class_name *class = NULL;
	size_t length = read_class(pattern, at, &class);
	unsigned char first, last;

	if (length > 0) {
		*matched |= class->contains(character) != 0;
		return at + length;
	}
	at = skip_backslash(pattern, at);
	first = last = (unsigned char)pattern->bytes.bytes[at++];
	if (is_special(pattern, at, '-') && at + 1 < pattern->bytes.used &&
	    !is_special(pattern, at + 1, ']')) {
		at = skip_backslash(pattern, at + 1);
		last = (unsigned char)pattern->bytes.bytes[at++];
	}
	*matched |= character >= first && character <= last;
	return at;
}

/* The length of a bracket, or 0 if it is not closed and so only a character. */
static size_t match_bracket(const struct text *pattern, size_t start, unsigned char character,
			    bool *matched)
{
	size_t at = start + 1;
	bool is_negated = is_special(pattern, at, '!') || is_special(pattern, at, '^');
	bool is_first = true;

	*matched = false;
	at += is_negated;
	for (; at < pattern->bytes.used; is_first = false) {
		if (is_special(pattern, at, ']') && !is_first) {
			*matched ^= is_negated;
			return at + 1 - start;
		}
		at = match_element(pattern, at, character, matched);
	}
	return 0;
}

/* How much of the pattern matches this one character; 0 if it does not. */
static size_t match_one(const struct text *pattern, size_t at, unsigned char character)
{
	size_t literal;

	if (at == pattern->bytes.used)
		return 0;
	if (is_special(pattern, at, '?'))
		return 1;
	if (is_special(pattern, at, '[')) {
		bool matched;
		size_t length = match_bracket(pattern, at, character, &matched);

		if (length > 0)
			return matched ? length : 0;
	}
	literal = skip_backslash(pattern, at);
	return (unsigned char)pattern->bytes.bytes[literal] == character ? literal + 1 - at : 0;
}

/* Signs of expansion stand for nothing in a pattern. */
static struct text without_signs(const struct text *text)
{
	struct text pattern;
	char character[2] = "";

	text_start(&pattern);
	for (size_t i = 0; i < text->bytes.used; i++) {
		enum mark mark = (enum mark)text->marks.bytes[i];

		character[0] = text->bytes.bytes[i];
		if (mark != MARK_BREAK && mark != MARK_EMPTY)
			text_add(&pattern, character, mark);
	}
	return pattern;
}

static bool has_signs(const struct text *text)
{
	return strchr(text->marks.bytes, MARK_BREAK) != NULL ||
	       strchr(text->marks.bytes, MARK_EMPTY) != NULL;
}

static bool matches(const struct text *pattern, const char *subject, size_t length)
{
	size_t at = 0, i = 0;
	size_t star = (size_t)-1, star_at = 0;

	while (i < length) {
		size_t step;

		if (is_special(pattern, at, '*')) {
			star = at++;
			star_at = i;
			continue;
		}
		step = match_one(pattern, at, (unsigned char)subject[i]);
		if (step > 0) {
			at += step;
			i++;
		} else if (star != (size_t)-1) {
			at = star + 1;
			i = ++star_at;
		} else {
			return false;
		}
	}
	while (is_special(pattern, at, '*'))
		at++;
	return at == pattern->bytes.used;
}

bool pattern_matches(const struct text *pattern, const char *subject, size_t length)
{
	unsigned long mark = region_mark(&scratch);
	struct text clean = has_signs(pattern) ? without_signs(pattern) : *pattern;
	bool result = matches(&clean, subject, length);

	region_release(&scratch, mark);
	return result;
}

/* A bracket that is not closed, such as the command `[`, is only a character. */
bool pattern_is_active(const struct text *pattern)
{
	bool matched;

	for (size_t i = 0; i < pattern->bytes.used; i++) {
		if (is_special(pattern, i, '*') || is_special(pattern, i, '?'))
			return true;
		if (is_special(pattern, i, '[') && match_bracket(pattern, i, 0, &matched) > 0)
			return true;
	}
	return false;
}
