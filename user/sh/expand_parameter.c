/* SPDX-License-Identifier: MIT */
/* ${name} with all that can be done to the value. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expand.h"
#include "lexer.h"
#include "sh.h"
#include "variables.h"

static char *number(long value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%ld", value);
	return region_copy(&scratch, digits, strlen(digits));
}

static bool is_all(const char *name)
{
	return *name == '@' || *name == '*';
}

static const char *positional(const char *name)
{
	unsigned long index = strtoul(name, NULL, 10);

	if (index == 0)
		return shell.name;
	return index <= parameters.count ? parameters.values[index - 1] : NULL;
}

/* What stands between the parameters where they are joined. */
static char joint_of(const char *name)
{
	return *name == '*' ? *variable_separators() : ' ';
}

static const char *joined(char joint)
{
	struct string all;

	string_start(&all, &scratch);
	for (size_t i = 0; i < parameters.count; i++) {
		if (i > 0 && joint != '\0')
			string_add(&all, joint);
		string_add_text(&all, parameters.values[i]);
	}
	return all.bytes;
}

/* NULL if it is not set. */
static const char *value_of(const char *name)
{
	switch (*name) {
	case '?':
		return number(shell.status);
	case '$':
		return number(shell.pid);
	case '!':
		return shell.background != 0 ? number(shell.background) : NULL;
	case '#':
		return number((long)parameters.count);
	case '-':
		return options_letters();
	case '@':
	case '*':
		return parameters.count > 0 ? joined(joint_of(name)) : NULL;
	default:
		return *name >= '0' && *name <= '9' ? positional(name) : variable_get(name);
	}
}

/* $@ and $* where several fields may come of them. */
static void add_all(struct expansion *expansion, const struct part *part)
{
	if (part->quoted && *part->text == '*' && parameters.count == 0)
		text_add_sign(&expansion->text, MARK_EMPTY);
	for (size_t i = 0; i < parameters.count; i++) {
		if (i > 0)
			text_add_sign(&expansion->text, MARK_BREAK);
		text_add_value(&expansion->text, parameters.values[i], part->quoted);
	}
}

/* An unset variable is an error under `set -u`; $@ and $* never are. */
static void add_plain(struct expansion *expansion, const struct part *part)
{
	const char *value;

	if (is_all(part->text) && expansion->splits && !(part->quoted && *part->text == '*')) {
		add_all(expansion, part);
		return;
	}
	value = value_of(part->text);
	if (value == NULL && option('u') && !is_all(part->text))
		fail(STATUS_SYNTAX, "%s: parameter not set", part->text);
	text_add_value(&expansion->text, value != NULL ? value : "", part->quoted);
}

/* The operand takes the value's place: what is not quoted in it may separate fields. */
static void add_operand(struct expansion *expansion, const struct part *part)
{
	enum mark saved = expansion->plain;

	expansion->plain = MARK_SPLIT;
	expand_parts(expansion, part->operand);
	expansion->plain = saved;
}

static void assign_operand(struct expansion *expansion, const struct part *part)
{
	const char *value;

	if (!is_name_start((unsigned char)*part->text))
		fail(STATUS_SYNTAX, "%s: cannot be assigned", part->text);
	value = expand_string(part->operand);
	variable_set(part->text, value);
	text_add_value(&expansion->text, value, part->quoted);
}

static _Noreturn void report_missing(const struct part *part)
{
	const char *message = expand_string(part->operand);

	if (*message == '\0')
		message = part->null_is_unset ? "parameter null or not set" : "parameter not set";
	fail(STATUS_SYNTAX, "%s: %s", part->text, message);
}

static void add_length(struct expansion *expansion, const struct part *part)
{
	const char *value = value_of(part->text);
	long length = is_all(part->text) ? (long)parameters.count
		      : value != NULL    ? (long)strlen(value)
					 : 0;

	if (value == NULL && option('u') && !is_all(part->text))
		fail(STATUS_SYNTAX, "%s: parameter not set", part->text);
	text_add_value(&expansion->text, number(length), part->quoted);
}

/* Where the rest of the value begins once the shortest or longest prefix that matches is gone. */
static size_t prefix_length(const struct text *pattern, const char *value, bool longest)
{
	size_t length = strlen(value);

	for (size_t i = 0; i <= length; i++) {
		size_t tried = longest ? length - i : i;

		if (pattern_matches(pattern, value, tried))
			return tried;
	}
	return 0;
}

static size_t suffix_start(const struct text *pattern, const char *value, bool longest)
{
	size_t length = strlen(value);

	for (size_t i = 0; i <= length; i++) {
		size_t start = longest ? i : length - i;

		if (pattern_matches(pattern, value + start, length - start))
			return start;
	}
	return length;
}

static void add_trimmed(struct expansion *expansion, const struct part *part)
{
	const char *value = value_of(part->text);
	struct text pattern;

	if (value == NULL && option('u') && !is_all(part->text))
		fail(STATUS_SYNTAX, "%s: parameter not set", part->text);
	value = value != NULL ? region_copy(&scratch, value, strlen(value)) : "";
	pattern = expand_pattern(part->operand);
	if (part->operation == OPERATION_PREFIX)
		value += prefix_length(&pattern, value, part->longest);
	else
		value = region_copy(&scratch, value, suffix_start(&pattern, value, part->longest));
	text_add_value(&expansion->text, value, part->quoted);
}

/* Operations that ask whether there is a value. */
static void add_conditional(struct expansion *expansion, const struct part *part)
{
	const char *value = value_of(part->text);
	bool is_missing = value == NULL || (part->null_is_unset && *value == '\0');

	if (part->operation == OPERATION_OTHER) {
		if (!is_missing)
			add_operand(expansion, part);
		else if (part->quoted)
			text_add_sign(&expansion->text, MARK_EMPTY);
	} else if (!is_missing) {
		add_plain(expansion, part);
	} else if (part->operation == OPERATION_DEFAULT) {
		add_operand(expansion, part);
	} else if (part->operation == OPERATION_ASSIGN) {
		assign_operand(expansion, part);
	} else {
		assert(part->operation == OPERATION_ERROR);
		report_missing(part);
	}
}

void expand_parameter(struct expansion *expansion, const struct part *part)
{
	switch (part->operation) {
	case 0:
		add_plain(expansion, part);
		break;
	case OPERATION_LENGTH:
		add_length(expansion, part);
		break;
	case OPERATION_SUFFIX:
	case OPERATION_PREFIX:
		add_trimmed(expansion, part);
		break;
	default:
		add_conditional(expansion, part);
	}
}
