/* SPDX-License-Identifier: MIT */
/* File modes, as chmod takes them and ls shows them. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/common.h"

#define MODE_BITS 07777

/* The bits that belong to u, g, o, or all of them. */
static mode_t bits_of(char who)
{
	switch (who) {
	case 'u':
		return S_ISUID | 0700;
	case 'g':
		return S_ISGID | 0070;
	case 'o':
		return 0007;
	default:
		return MODE_BITS;
	}
}

/* Copies what one of u, g, o has to all three. */
static mode_t spread(mode_t mode, char from)
{
	unsigned bits = from == 'u' ? mode >> 6 : from == 'g' ? mode >> 3 : mode;

	bits &= 7;
	return (mode_t)(bits << 6 | bits << 3 | bits);
}

static bool read_permission(char letter, mode_t old, bool is_directory, mode_t *bits)
{
	switch (letter) {
	case 'r':
		*bits |= 0444;
		break;
	case 'w':
		*bits |= 0222;
		break;
	case 'x':
		*bits |= 0111;
		break;
	case 'X':
		*bits |= is_directory || (old & 0111) ? 0111 : 0;
		break;
	case 's':
		*bits |= S_ISUID | S_ISGID;
		break;
	case 't':
		*bits |= 01000;
		break;
	default:
		return false;
	}
	return true;
}

/* One operation such as +rw; returns where it ends, or NULL. */
static const char *read_operation(const char *text, mode_t who, bool is_directory, mode_t *mode)
{
	char operation = *text++;
	mode_t bits = 0;

	if (strchr("ugo", *text) != NULL && *text != '\0')
		bits = spread(*mode, *text++);
	else
		while (read_permission(*text, *mode, is_directory, &bits))
			text++;
	if (operation == '-')
		*mode &= ~(bits & who);
	else if (operation == '=')
		*mode = (*mode & ~who) | (bits & who);
	else
		*mode |= bits & who;
	return text;
}

/* One clause such as ug+rw-x. */
static const char *read_clause(const char *text, bool is_directory, mode_t *mode)
{
	mode_t who = 0;

	while (*text != '\0' && strchr("ugoa", *text) != NULL)
		who |= bits_of(*text++);
	if (who == 0)
		who = MODE_BITS;
	if (*text == '\0' || strchr("+-=", *text) == NULL)
		return NULL;
	while (*text != '\0' && strchr("+-=", *text) != NULL)
		text = read_operation(text, who, is_directory, mode);
	return text;
}

bool mode_parse(const char *text, mode_t old, bool is_directory, mode_t *mode)
{
	size_t length = strlen(text);

	if (length > 0 && length <= 5 && strspn(text, "01234567") == length) {
		*mode = (mode_t)strtoul(text, NULL, 8);
		return (*mode & ~(mode_t)MODE_BITS) == 0;
	}
	*mode = old & MODE_BITS;
	do {
		text = read_clause(text, is_directory, mode);
	} while (text != NULL && *text++ == ',');
	return text != NULL && text[-1] == '\0';
}

static char type_letter(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return 'd';
	case S_IFCHR:
		return 'c';
	case S_IFBLK:
		return 'b';
	case S_IFLNK:
		return 'l';
	case S_IFIFO:
		return 'p';
	default:
		return '-';
	}
}

void mode_format(mode_t mode, char text[MODE_ROOM])
{
	static const char letters[] = "rwxrwxrwx";

	text[0] = type_letter(mode);
	for (int i = 0; i < 9; i++)
		text[1 + i] = mode & (0400 >> i) ? letters[i] : '-';
	if (mode & S_ISUID)
		text[3] = mode & 0100 ? 's' : 'S';
	if (mode & S_ISGID)
		text[6] = mode & 0010 ? 's' : 'S';
	if (mode & 01000)
		text[9] = mode & 0001 ? 't' : 'T';
	text[MODE_ROOM - 1] = '\0';
}
