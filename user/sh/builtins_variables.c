/* SPDX-License-Identifier: MIT */
/* Builtins that set variables, parameters and options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtins.h"
#include "parser.h"
#include "sh.h"
#include "variables.h"

int builtin_set(int count, char **arguments)
{
	bool saw_end;
	int first;

	if (count == 1) {
		variables_print("", 0);
		return 0;
	}
	first = 1 + options_read(arguments + 1, &saw_end);
	if (first < count || saw_end)
		parameters_set(arguments + first);
	return 0;
}

int builtin_unset(int count, char **arguments)
{
	bool is_function = false;

	for (int i = 1; i < count; i++) {
		if (i == 1 && strcmp(arguments[i], "-f") == 0) {
			is_function = true;
			continue;
		}
		if (i == 1 && strcmp(arguments[i], "-v") == 0)
			continue;
		if (!is_name(arguments[i]))
			fail(STATUS_SYNTAX, "unset: %s: bad variable name", arguments[i]);
		if (is_function)
			function_remove(arguments[i]);
		else
			variable_unset(arguments[i]);
	}
	return 0;
}

/* Splits name=value; the value is NULL if there is none. */
static char *split_argument(const char *command, const char *argument, const char **value)
{
	size_t length = strcspn(argument, "=");
	char *name = region_copy(&scratch, argument, length);

	if (!is_name(name))
		fail(STATUS_SYNTAX, "%s: %s: bad variable name", command, name);
	*value = argument[length] == '=' ? argument + length + 1 : NULL;
	return name;
}

static int mark_all(int count, char **arguments, enum variable_flag flag)
{
	struct string prefix;
	int first =
		count > 1 && (strcmp(arguments[1], "-p") == 0 || strcmp(arguments[1], "--") == 0)
			? 2
			: 1;

	if (first == count) {
		string_start(&prefix, &scratch);
		string_add_text(&prefix, arguments[0]);
		string_add(&prefix, ' ');
		variables_print(prefix.bytes, flag);
		return 0;
	}
	for (int i = first; i < count; i++) {
		const char *value;
		const char *name = split_argument(arguments[0], arguments[i], &value);

		if (value != NULL)
			variable_set(name, value);
		variable_mark(name, flag);
	}
	return 0;
}

int builtin_export(int count, char **arguments)
{
	return mark_all(count, arguments, VARIABLE_EXPORTED);
}

int builtin_readonly(int count, char **arguments)
{
	return mark_all(count, arguments, VARIABLE_READ_ONLY);
}

int builtin_local(int count, char **arguments)
{
	if (shell.returnable == 0)
		fail(STATUS_SYNTAX, "local: not in a function");
	for (int i = 1; i < count; i++) {
		const char *value;
		const char *name = split_argument(arguments[0], arguments[i], &value);

		variable_make_local(name);
		if (value != NULL)
			variable_set(name, value);
	}
	return 0;
}

int builtin_shift(int count, char **arguments)
{
	unsigned long shifted = 1;
	char *end;

	if (count > 1) {
		shifted = strtoul(arguments[1], &end, 10);
		if (end == arguments[1] || *end != '\0')
			fail(STATUS_SYNTAX, "shift: %s: not a number", arguments[1]);
	}
	if (shifted > parameters.count)
		fail(STATUS_SYNTAX, "shift: only %zu parameters", parameters.count);
	parameters_shift(shifted);
	return 0;
}
