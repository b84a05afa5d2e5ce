/* SPDX-License-Identifier: MIT */
/* printf: the format is used again as long as there are arguments. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/common.h"

/* Room for %, flags, width, precision, ll, letter. */
#define SPECIFICATION_ROOM 64

struct formatter {
	char **arguments;
	int next;
	int count;
	bool took_any; /* The format, this time. */
	bool stops;
	int status;
};

/* In one write, with no name: the shell and the program say it alike. */
static void complain_of(struct formatter *formatter, const char *what, const char *why)
{
	char message[256];
	int length = snprintf(message, sizeof(message), "printf: %.150s: %s\n", what, why);

	fflush(stdout);
	formatter->status = 1;
	if (write(STDERR_FILENO, message, (size_t)length) < 0)
		return;
}

static const char *next_argument(struct formatter *formatter)
{
	if (formatter->next >= formatter->count)
		return NULL;
	formatter->took_any = true;
	return formatter->arguments[formatter->next++];
}

/* 'x stands for the character's number. */
static long long next_number(struct formatter *formatter, bool is_unsigned)
{
	const char *text = next_argument(formatter);
	long long number;
	char *end;

	if (text == NULL || *text == '\0')
		return 0;
	if (*text == '\'' || *text == '"')
		return (unsigned char)text[1];
	errno = 0;
	number = is_unsigned ? (long long)strtoull(text, &end, 0) : strtoll(text, &end, 0);
	if (errno == ERANGE)
		complain_of(formatter, text, strerror(ERANGE));
	else if (end == text)
		complain_of(formatter, text, "expected a number");
	else if (*end != '\0')
		complain_of(formatter, text, "not completely converted");
	return number;
}

static double next_float(struct formatter *formatter)
{
	const char *text = next_argument(formatter);
	double number;
	char *end;

	if (text == NULL || *text == '\0')
		return 0;
	number = strtod(text, &end);
	if (*end != '\0')
		complain_of(formatter, text, "not completely converted");
	return number;
}

/* Copies flags and digits; a star takes its number from the arguments. */
static const char *copy_digits(struct formatter *formatter, const char *text, char *specification,
			       const char *allowed)
{
	size_t used = strlen(specification);

	if (*text == '*') {
		snprintf(specification + used, SPECIFICATION_ROOM - used, "%d",
			 (int)next_number(formatter, false));
		return text + 1;
	}
	while (*text != '\0' && strchr(allowed, *text) != NULL) {
		if (used < SPECIFICATION_ROOM / 3)
			specification[used++] = *text;
		text++;
	}
	specification[used] = '\0';
	return text;
}

static void print_argument_escapes(struct formatter *formatter, const char *text)
{
	while (*text != '\0' && !formatter->stops) {
		if (*text == '\\')
			text = print_escape(text + 1, true, &formatter->stops);
		else
			putchar(*text++);
	}
}

static void print_string(struct formatter *formatter, char *specification)
{
	const char *text = next_argument(formatter);

	strcat(specification, "s");
	printf(specification, text != NULL ? text : "");
}

static void print_integer(struct formatter *formatter, char *specification, char letter)
{
	char ending[] = {'l', 'l', letter, '\0'};

	strcat(specification, ending);
	printf(specification, next_number(formatter, letter != 'd' && letter != 'i'));
}

static void print_float(struct formatter *formatter, char *specification, char letter)
{
	char ending[] = {letter, '\0'};

	strcat(specification, ending);
	printf(specification, next_float(formatter));
}

static void print_character(struct formatter *formatter, char *specification)
{
	const char *text = next_argument(formatter);
	char first[2] = {text != NULL ? *text : '\0', '\0'};

	strcat(specification, "s");
	printf(specification, first);
}

/* One conversion; the text behind its percent sign.  False if there is no such. */
static bool print_conversion(struct formatter *formatter, char *specification, char letter)
{
	const char *text;

	if (letter == 's') {
		print_string(formatter, specification);
	} else if (letter == 'b') {
		text = next_argument(formatter);
		print_argument_escapes(formatter, text != NULL ? text : "");
	} else if (letter == 'c') {
		print_character(formatter, specification);
	} else if (letter != '\0' && strchr("diouxX", letter) != NULL) {
		print_integer(formatter, specification, letter);
	} else if (letter != '\0' && strchr("eEfFgGaA", letter) != NULL) {
		print_float(formatter, specification, letter);
	} else {
		return false;
	}
	return true;
}

static const char *format_one(struct formatter *formatter, const char *text)
{
	char specification[SPECIFICATION_ROOM] = "%";
	char shown[3] = "%";

	if (*text == '%') {
		putchar('%');
		return text + 1;
	}
	text = copy_digits(formatter, text, specification, "-+ #0");
	text = copy_digits(formatter, text, specification, "0123456789");
	if (*text == '.') {
		strcat(specification, ".");
		text = copy_digits(formatter, text + 1, specification, "0123456789");
	}
	if (print_conversion(formatter, specification, *text))
		return text + 1;
	shown[1] = *text;
	complain_of(formatter, shown, "no such conversion");
	formatter->stops = true;
	return text;
}

static void format_all(struct formatter *formatter, const char *text)
{
	formatter->took_any = false;
	while (*text != '\0' && !formatter->stops) {
		if (*text == '%')
			text = format_one(formatter, text + 1);
		else if (*text == '\\')
			text = print_escape(text + 1, false, &formatter->stops);
		else
			putchar(*text++);
	}
}

int printf_command(int count, char **arguments)
{
	struct formatter formatter = {arguments, 2, count, false, false, 0};
	int first = count > 1 && strcmp(arguments[1], "--") == 0 ? 2 : 1;

	if (first >= count) {
		fputs("usage: printf FORMAT [ARGUMENT...]\n", stderr);
		return 2;
	}
	formatter.next = first + 1;
	do {
		format_all(&formatter, arguments[first]);
	} while (formatter.next < count && formatter.took_any && !formatter.stops);
	return formatter.status;
}
