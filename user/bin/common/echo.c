/* SPDX-License-Identifier: MIT */
/* echo, and the escapes that it has in common with printf. */
#include <stdio.h>
#include <string.h>

#include "common/common.h"

static const char *print_octal(const char *text, int digits)
{
	unsigned value = 0;

	for (; digits > 0 && *text >= '0' && *text <= '7'; digits--)
		value = value * 8 + (unsigned)(*text++ - '0');
	putchar((int)(value & 0xff));
	return text;
}

const char *print_escape(const char *text, bool octal_needs_zero, bool *stops)
{
	static const char letters[] = "abfnrtv\\";
	static const char meanings[] = "\a\b\f\n\r\t\v\\";
	const char *found;

	if (*text >= '0' && *text <= '7' && (!octal_needs_zero || *text == '0'))
		return octal_needs_zero ? print_octal(text + 1, 3) : print_octal(text, 3);
	if (*text == 'c') {
		*stops = true;
		return text + 1;
	}
	found = *text != '\0' ? strchr(letters, *text) : NULL;
	if (found == NULL) {
		putchar('\\');
		return text;
	}
	putchar(meanings[found - letters]);
	return text + 1;
}

static bool print_with_escapes(const char *text)
{
	bool stops = false;

	while (*text != '\0' && !stops) {
		if (*text == '\\')
			text = print_escape(text + 1, true, &stops);
		else
			putchar(*text++);
	}
	return !stops;
}

/* Escapes are understood without being asked for, as POSIX (with XSI) wants it. */
int echo_command(int count, char **arguments)
{
	int first = 1;
	bool newline = true;

	for (; first < count && strcmp(arguments[first], "-n") == 0; first++)
		newline = false;
	for (int i = first; i < count; i++) {
		if (i > first)
			putchar(' ');
		if (!print_with_escapes(arguments[i]))
			return 0;
	}
	if (newline)
		putchar('\n');
	return 0;
}
