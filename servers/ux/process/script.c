/* SPDX-License-Identifier: MIT */
/* Scripts: see script.h. */
#include "process/script.h"

static bool script_is_blank(char character)
{
	return character == ' ' || character == '\t';
}

static char *script_skip_blanks(char *at)
{
	while (script_is_blank(*at))
		at++;
	return at;
}

/* Ends the line at its newline, without blanks at its end; false if it goes beyond `size`. */
static bool script_end_line(char *head, size_t size)
{
	size_t length = 0;

	while (length < size && head[length] != '\n' && head[length] != '\0')
		length++;
	if (length == size)
		return false;
	while (length > 2 && script_is_blank(head[length - 1]))
		length--;
	head[length] = '\0';
	return true;
}

bool script_read(char *head, size_t size, const char **interpreter, const char **option)
{
	char *at;

	if (size < 3 || head[0] != '#' || head[1] != '!' || !script_end_line(head, size))
		return false;
	at = script_skip_blanks(head + 2);
	*interpreter = at;
	while (*at != '\0' && !script_is_blank(*at))
		at++;
	*option = NULL;
	if (*at != '\0') {
		*at = '\0';
		*option = script_skip_blanks(at + 1);
	}
	return **interpreter != '\0';
}
