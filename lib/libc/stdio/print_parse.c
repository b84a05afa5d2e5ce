/* SPDX-License-Identifier: MIT */
/* The text of a conversion, from its percent sign to its letter. */
#include <ctype.h>
#include <limits.h>

#include "print.h"

/* Digits; INT_MAX if they make more. */
static const char *parse_number(const char *format, int *number)
{
	*number = 0;
	for (; isdigit((unsigned char)*format); format++) {
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, *format - '0', number))
			*number = INT_MAX;
	}
	return format;
}

/* `5$` is the place of an argument; digits without a dollar sign are something else. */
static const char *parse_place(const char *format, unsigned *place)
{
	int number;
	const char *end = parse_number(format, &number);

	if (end == format || *end != '$' || number == 0)
		return format;
	*place = (unsigned)number;
	return end + 1;
}

static const char *parse_flags(const char *format, struct conversion *conversion)
{
	for (;; format++) {
		switch (*format) {
		case '-':
			conversion->left = true;
			break;
		case '+':
			conversion->plus = true;
			break;
		case ' ':
			conversion->space = true;
			break;
		case '#':
			conversion->alternative = true;
			break;
		case '0':
			conversion->zeros = true;
			break;
		case '\'': /* The C locale does not group digits. */
			break;
		default:
			return format;
		}
	}
}

static const char *parse_amount(const char *format, struct amount *amount)
{
	if (*format != '*')
		return parse_number(format, &amount->value);
	amount->argument = true;
	return parse_place(format + 1, &amount->place);
}

/* A type of the same size as long is long; what is as large as long long, that. */
static const char *parse_length(const char *format, enum length *length)
{
	switch (*format) {
	case 'h':
		*length = format[1] == 'h' ? LENGTH_CHAR : LENGTH_SHORT;
		return format + (format[1] == 'h' ? 2 : 1);
	case 'l':
		*length = format[1] == 'l' ? LENGTH_LONG_LONG : LENGTH_LONG;
		return format + (format[1] == 'l' ? 2 : 1);
	case 'z':
	case 't':
		*length = LENGTH_LONG;
		return format + 1;
	case 'j':
	case 'q':
		*length = LENGTH_LONG_LONG;
		return format + 1;
	case 'L':
		*length = LENGTH_LONG_DOUBLE;
		return format + 1;
	default:
		*length = LENGTH_INT;
		return format;
	}
}

const char *__print_parse(const char *format, struct conversion *conversion)
{
	*conversion = (struct conversion){.width.value = -1, .precision.value = -1};
	format = parse_place(format, &conversion->place);
	format = parse_flags(format, conversion);
	if (*format == '*' || isdigit((unsigned char)*format))
		format = parse_amount(format, &conversion->width);
	if (*format == '.')
		format = parse_amount(format + 1, &conversion->precision);
	format = parse_length(format, &conversion->length);
	conversion->letter = *format;
	return *format != '\0' ? format + 1 : format;
}
