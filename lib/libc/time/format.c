/* SPDX-License-Identifier: MIT */
/* strftime(), in the C locale. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "names.h"

#define YEAR_BASE 1900

const char *const __day_names[7] = {
	"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
};

const char *const __month_names[12] = {
	"January", "February", "March",     "April",   "May",      "June",
	"July",    "August",   "September", "October", "November", "December",
};

/* Text that grows in a place of limited size. */
struct output {
	char *text;
	size_t room;
	size_t size; /* So far; more than there is room for if it did not fit. */
};

static void add(struct output *output, const char *text, size_t length)
{
	if (output->size + length < output->room)
		memcpy(output->text + output->size, text, length);
	output->size += length;
}

static void add_number(struct output *output, const char *format, long number)
{
	char digits[24];
	int length = snprintf(digits, sizeof digits, format, number);

	add(output, digits, (size_t)length);
}

static void add_date(struct output *output, const char *format, const struct tm *date);

/* The week of the year that ISO 8601 counts, and the year to which it belongs. */
static int iso_week(const struct tm *date, int *year)
{
	int weekday = (date->tm_wday + 6) % 7; /* From Monday on. */
	int week = (date->tm_yday - weekday + 10) / 7;

	*year = date->tm_year;
	if (week < 1) {
		--*year;
		return (date->tm_yday + __days_in_year(*year) - weekday + 10) / 7;
	}
	if (week == 53 && date->tm_yday - weekday + 3 >= __days_in_year(date->tm_year)) {
		++*year;
		return 1;
	}
	return week;
}

static int twelve_hours(const struct tm *date)
{
	return date->tm_hour % 12 == 0 ? 12 : date->tm_hour % 12;
}

static void add_name(struct output *output, const char *const *names, unsigned count, int which,
		     size_t length)
{
	const char *name = (unsigned)which < count ? names[which] : "?";
	size_t whole = strlen(name);

	add(output, name, length < whole ? length : whole);
}

static void add_iso(struct output *output, char conversion, const struct tm *date)
{
	int year;
	int week = iso_week(date, &year);

	if (conversion == 'V')
		add_number(output, "%02ld", week);
	else if (conversion == 'G')
		add_number(output, "%ld", (long)year + YEAR_BASE);
	else
		add_number(output, "%02ld", ((long)year + YEAR_BASE) % 100);
}

/* Conversions that are a number or a name; whether this is one. */
static int add_field(struct output *output, char conversion, const struct tm *date)
{
	switch (conversion) {
	case 'a':
		add_name(output, __day_names, 7, date->tm_wday, 3);
		return 1;
	case 'A':
		add_name(output, __day_names, 7, date->tm_wday, 99);
		return 1;
	case 'b':
	case 'h':
		add_name(output, __month_names, 12, date->tm_mon, 3);
		return 1;
	case 'B':
		add_name(output, __month_names, 12, date->tm_mon, 99);
		return 1;
	case 'p':
		add(output, date->tm_hour < 12 ? "AM" : "PM", 2);
		return 1;
	case 'G':
	case 'g':
	case 'V':
		add_iso(output, conversion, date);
		return 1;
	default:
		return 0;
	}
}

/* Conversions that are a number: how it is printed. */
static const char *number_of(char conversion, const struct tm *date, long *number)
{
	long year = (long)date->tm_year + YEAR_BASE;
	const struct {
		char conversion;
		const char *format;
		long number;
	} table[] = {
		{'C', "%02ld", year / 100},
		{'d', "%02ld", date->tm_mday},
		{'e', "%2ld", date->tm_mday},
		{'H', "%02ld", date->tm_hour},
		{'I', "%02ld", twelve_hours(date)},
		{'j', "%03ld", date->tm_yday + 1},
		{'m', "%02ld", date->tm_mon + 1},
		{'M', "%02ld", date->tm_min},
		{'S', "%02ld", date->tm_sec},
		{'u', "%ld", (date->tm_wday + 6) % 7 + 1},
		{'U', "%02ld", (date->tm_yday + 7 - date->tm_wday) / 7},
		{'w', "%ld", date->tm_wday},
		{'W', "%02ld", (date->tm_yday + 7 - (date->tm_wday + 6) % 7) / 7},
		{'y', "%02ld", year % 100},
		{'Y', "%ld", year},
	};

	for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++) {
		if (table[i].conversion == conversion) {
			*number = table[i].number;
			return table[i].format;
		}
	}
	return NULL;
}

/* Conversions that stand for several others, or for themselves. */
static const char *pattern_of(char conversion)
{
	switch (conversion) {
	case 'c':
		return "%a %b %e %H:%M:%S %Y";
	case 'D':
	case 'x':
		return "%m/%d/%y";
	case 'F':
		return "%Y-%m-%d";
	case 'n':
		return "\n";
	case 'r':
		return "%I:%M:%S %p";
	case 'R':
		return "%H:%M";
	case 't':
		return "\t";
	case 'T':
	case 'X':
		return "%H:%M:%S";
	case 'z':
		return "+0000";
	case 'Z':
		return "UTC";
	default:
		return NULL;
	}
}

static void add_seconds(struct output *output, const struct tm *date)
{
	struct tm copy = *date;

	add_number(output, "%ld", timegm(&copy));
}

static void convert(struct output *output, char conversion, const struct tm *date)
{
	long number;
	const char *format = number_of(conversion, date, &number);
	const char *pattern = pattern_of(conversion);

	if (format != NULL)
		add_number(output, format, number);
	else if (pattern != NULL)
		add_date(output, pattern, date);
	else if (conversion == 's')
		add_seconds(output, date);
	else if (!add_field(output, conversion, date))
		add(output, &conversion, 1); /* %% among them. */
}

static void add_date(struct output *output, const char *format, const struct tm *date)
{
	for (; *format != '\0'; format++) {
		if (*format != '%') {
			add(output, format, 1);
			continue;
		}
		format++;
		if (*format == 'E' || *format == 'O')
			format++;
		if (*format == '\0')
			return;
		convert(output, *format, date);
	}
}

size_t strftime(char *text, size_t room, const char *format, const struct tm *date)
{
	struct output output = {.text = text, .room = room};

	add_date(&output, format, date);
	if (output.size >= room)
		return 0;
	text[output.size] = '\0';
	return output.size;
}
