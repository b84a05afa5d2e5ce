/* SPDX-License-Identifier: MIT */
/* The arguments of printf, taken as their conversions say. */
#include <errno.h>
#include <string.h>

#include "print.h"

enum kind {
	KIND_NONE,
	KIND_INT,
	KIND_LONG,
	KIND_LONG_LONG,
	KIND_DOUBLE,
	KIND_LONG_DOUBLE,
	KIND_POINTER,
};

static enum kind kind_of_integer(enum length length)
{
	switch (length) {
	case LENGTH_LONG:
		return KIND_LONG;
	case LENGTH_LONG_LONG:
	case LENGTH_LONG_DOUBLE:
		return KIND_LONG_LONG;
	default:
		return KIND_INT;
	}
}

static enum kind kind_of(const struct conversion *conversion)
{
	if (conversion->letter == '\0')
		return KIND_NONE;
	if (strchr("diouxX", conversion->letter) != NULL)
		return kind_of_integer(conversion->length);
	if (strchr("aAeEfFgG", conversion->letter) != NULL)
		return conversion->length == LENGTH_LONG_DOUBLE ? KIND_LONG_DOUBLE : KIND_DOUBLE;
	if (strchr("spn", conversion->letter) != NULL)
		return KIND_POINTER;
	return conversion->letter == 'c' ? KIND_INT : KIND_NONE;
}

static void take(struct arguments *arguments, enum kind kind, union value *value)
{
	switch (kind) {
	case KIND_NONE:
		value->integer = 0;
		break;
	case KIND_INT:
		value->integer = (uint64_t)va_arg(arguments->list, int);
		break;
	case KIND_LONG:
		value->integer = (uint64_t)va_arg(arguments->list, long);
		break;
	case KIND_LONG_LONG:
		value->integer = (uint64_t)va_arg(arguments->list, long long);
		break;
	case KIND_DOUBLE:
		value->real = va_arg(arguments->list, double);
		break;
	case KIND_LONG_DOUBLE:
		value->real = va_arg(arguments->list, long double);
		break;
	case KIND_POINTER:
		value->pointer = va_arg(arguments->list, void *);
		break;
	}
}

static bool note(enum kind *kinds, unsigned place, enum kind kind)
{
	if (place > MOST_ARGUMENTS)
		return false;
	if (place > 0)
		kinds[place - 1] = kind;
	return true;
}

/* Notes what kind of argument each place has; false for a place that is too far. */
static bool note_kinds(const char *format, enum kind *kinds)
{
	struct conversion conversion;

	for (format = strchr(format, '%'); format != NULL; format = strchr(format, '%')) {
		format = __print_parse(format + 1, &conversion);
		if (!note(kinds, conversion.place, kind_of(&conversion)) ||
		    !note(kinds, conversion.width.place, KIND_INT) ||
		    !note(kinds, conversion.precision.place, KIND_INT))
			return false;
	}
	return true;
}

/* The values up to a place that no conversion names; what comes behind it cannot be found. */
static void take_all(struct arguments *arguments, const enum kind *kinds)
{
	for (unsigned i = 0; i < MOST_ARGUMENTS; i++)
		take(arguments, kinds[i], &arguments->values[i]);
}

bool __arguments_begin(struct arguments *arguments, const char *format, va_list list)
{
	enum kind kinds[MOST_ARGUMENTS] = {KIND_NONE};

	va_copy(arguments->list, list);
	arguments->by_place = strchr(format, '$') != NULL;
	if (!arguments->by_place)
		return true;
	if (!note_kinds(format, kinds)) {
		errno = EINVAL;
		va_end(arguments->list);
		return false;
	}
	arguments->by_place = kinds[0] != KIND_NONE;
	if (arguments->by_place)
		take_all(arguments, kinds);
	return true;
}

void __arguments_end(struct arguments *arguments)
{
	va_end(arguments->list);
}

void __arguments_take(struct arguments *arguments, const struct conversion *conversion,
		      union value *value)
{
	if (arguments->by_place && conversion->place > 0)
		*value = arguments->values[conversion->place - 1];
	else
		take(arguments, kind_of(conversion), value);
}

int __arguments_take_amount(struct arguments *arguments, const struct amount *amount)
{
	if (!amount->argument)
		return amount->value;
	if (arguments->by_place && amount->place > 0)
		return (int)arguments->values[amount->place - 1].integer;
	return va_arg(arguments->list, int);
}
