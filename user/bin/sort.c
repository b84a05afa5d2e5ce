/* SPDX-License-Identifier: MIT */
/* sort: puts the lines of files in order. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE "sort [-nru] [-k FIELD] [-t CHARACTER] [FILE...]"

struct line {
	char *text;
	size_t number; /* In the input: equal ones keep their order. */
};

static struct line *lines;
static size_t n_lines, room;
static bool numeric, reversed, unique;
static long long field = 1;
static char separator; /* 0: fields begin with blanks. */

static bool read_lines(const char *name)
{
	struct line_reader reader;
	bool done;

	if (!lines_open(&reader, name))
		return false;
	while (lines_next(&reader)) {
		if (n_lines == room) {
			room = 2 * room + 64;
			lines = reallocate(lines, room * sizeof(*lines));
		}
		lines[n_lines] = (struct line){copy_text(reader.line), n_lines};
		n_lines++;
	}
	done = !reader.failed;
	lines_close(&reader);
	return done;
}

/* From the field on to the end of the line. */
static const char *key_of(const char *text)
{
	for (long long i = 1; i < field && *text != '\0'; i++) {
		if (separator != '\0') {
			text += strcspn(text, (char[]){separator, '\0'});
			text += *text != '\0';
		} else {
			text += strspn(text, " \t");
			text += strcspn(text, " \t");
		}
	}
	return text;
}

/* Blanks, a sign, digits, perhaps a fraction; anything else is 0. */
static int compare_fractions(const char *first, const char *second)
{
	while (isdigit((unsigned char)*first) && *first == *second) {
		first++;
		second++;
	}
	return (isdigit((unsigned char)*first) ? *first : '0') -
	       (isdigit((unsigned char)*second) ? *second : '0');
}

struct number {
	bool is_negative;
	const char *digits; /* Without zeros in front. */
	size_t length;
	const char *fraction;
	bool is_zero;
};

static struct number number_of(const char *text)
{
	struct number number = {0};

	text += strspn(text, " \t");
	number.is_negative = *text == '-';
	text += number.is_negative;
	text += strspn(text, "0");
	number.digits = text;
	number.length = strspn(text, "0123456789");
	number.fraction = text[number.length] == '.' ? text + number.length + 1 : "";
	number.is_zero = number.length == 0 && compare_fractions(number.fraction, "") == 0 &&
			 strspn(number.fraction, "0") == strspn(number.fraction, "0123456789");
	return number;
}

/* Of any length, exactly. */
static int compare_numbers(const char *first, const char *second)
{
	struct number one = number_of(first);
	struct number other = number_of(second);
	int sign = one.is_negative ? -1 : 1;
	int order;

	if (one.is_zero || other.is_zero) {
		if (one.is_zero && other.is_zero)
			return 0;
		return one.is_zero ? (other.is_negative ? 1 : -1) : sign;
	}
	if (one.is_negative != other.is_negative)
		return sign;
	if (one.length != other.length)
		return one.length < other.length ? -sign : sign;
	order = strncmp(one.digits, other.digits, one.length);
	if (order == 0)
		order = compare_fractions(one.fraction, other.fraction);
	return sign * order;
}

static int compare_keys(const struct line *first, const struct line *second)
{
	const char *one = key_of(first->text);
	const char *other = key_of(second->text);
	int order = numeric ? compare_numbers(one, other) : strcmp(one, other);

	return reversed ? -order : order;
}

/* Lines with equal keys are in the order of the whole lines. */
static int compare(const void *first, const void *second)
{
	const struct line *one = first;
	const struct line *other = second;
	int order = compare_keys(one, other);

	if (order == 0 && !unique) {
		order = strcmp(one->text, other->text);
		order = reversed ? -order : order;
	}
	if (order == 0)
		order = one->number < other->number ? -1 : 1;
	return order;
}

static void read_options(int count, char **arguments)
{
	int option;

	while ((option = getopt(count, arguments, "nruk:t:")) != -1) {
		if (option == '?')
			usage(USAGE);
		numeric |= option == 'n';
		reversed |= option == 'r';
		unique |= option == 'u';
		if (option == 't')
			separator = *optarg;
		if (option == 'k' && (!parse_number(optarg, &field) || field < 1)) {
			report("%s: not a field's number", optarg);
			usage(USAGE);
		}
	}
}

int main(int count, char **arguments)
{
	int status = 0;

	program_start(arguments);
	read_options(count, arguments);
	if (optind == count)
		status = read_lines("-") ? 0 : 2;
	for (int i = optind; i < count; i++)
		if (!read_lines(arguments[i]))
			status = 2;
	if (n_lines > 0)
		qsort(lines, n_lines, sizeof(*lines), compare);
	for (size_t i = 0; i < n_lines; i++)
		if (!unique || i == 0 || compare_keys(&lines[i - 1], &lines[i]) != 0)
			puts(lines[i].text);
	return program_end(status);
}
