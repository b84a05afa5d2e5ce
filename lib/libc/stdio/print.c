/* SPDX-License-Identifier: MIT */
/* The formatter (print.h): text, integers and characters; what each letter does. */
#include "print.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#define DIGITS 24 /* 2^64 has 22 in octal, the smallest base. */

void __sink_write(struct sink *sink, const char *from, size_t size)
{
	sink->total += size;
	if (size > 0)
		sink->write(sink, from, size);
}

void __sink_pad(struct sink *sink, char character, size_t count)
{
	char pad[32];

	memset(pad, character, sizeof(pad));
	for (; count > sizeof(pad); count -= sizeof(pad))
		__sink_write(sink, pad, sizeof(pad));
	__sink_write(sink, pad, count);
}

const char *__print_sign(const struct conversion *conversion, bool negative)
{
	return negative ? "-" : conversion->plus ? "+" : conversion->space ? " " : "";
}

/* Zeros that fill the field go between prefix and body, blanks go outside. */
size_t __print_open_field(struct sink *sink, const struct conversion *conversion,
			  const char *prefix, size_t length)
{
	size_t width = conversion->width.value > 0 ? (size_t)conversion->width.value : 0;
	size_t prefixes = strlen(prefix);
	size_t padding = width > length + prefixes ? width - length - prefixes : 0;

	if (!conversion->left && !conversion->zeros)
		__sink_pad(sink, ' ', padding);
	__sink_write(sink, prefix, prefixes);
	if (!conversion->left && conversion->zeros)
		__sink_pad(sink, '0', padding);
	return conversion->left ? padding : 0;
}

void __print_field(struct sink *sink, const struct conversion *conversion, const char *prefix,
		   size_t zeros, const char *body, size_t size)
{
	size_t padding = __print_open_field(sink, conversion, prefix, zeros + size);

	__sink_pad(sink, '0', zeros);
	__sink_write(sink, body, size);
	__sink_pad(sink, ' ', padding);
}

static uint64_t shorten_signed(uint64_t value, enum length length)
{
	if (length == LENGTH_CHAR)
		return (uint64_t)(signed char)value;
	if (length == LENGTH_SHORT)
		return (uint64_t)(short)value;
	return value;
}

static uint64_t shorten_unsigned(uint64_t value, enum length length)
{
	switch (length) {
	case LENGTH_CHAR:
		return (unsigned char)value;
	case LENGTH_SHORT:
		return (unsigned short)value;
	case LENGTH_INT:
		return (unsigned)value;
	case LENGTH_LONG:
		return (unsigned long)value;
	default:
		return value;
	}
}

/* Writes digits before `end`; returns the first.  By words where that will do. */
static char *make_digits(char *end, uint64_t value, unsigned base, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	uint32_t low;

	for (; value > UINT32_MAX; value /= base)
		*--end = digits[value % base];
	for (low = (uint32_t)value; low > 0; low /= base)
		*--end = digits[low % base];
	return end;
}

/* A precision is a least number of digits, and takes the zeros' flag away. */
static void print_digits(struct sink *sink, const struct conversion *asked, const char *prefix,
			 uint64_t value, unsigned base)
{
	struct conversion conversion = *asked;
	char digits[DIGITS];
	char *first = make_digits(digits + DIGITS, value, base, conversion.letter == 'X');
	size_t count = (size_t)(digits + DIGITS - first);
	size_t least = conversion.precision.value < 0 ? 1 : (size_t)conversion.precision.value;

	if (conversion.precision.value >= 0)
		conversion.zeros = false;
	if (base == 8 && conversion.alternative && least <= count)
		least = count + 1;
	__print_field(sink, &conversion, prefix, least > count ? least - count : 0, first, count);
}

static void print_signed(struct sink *sink, const struct conversion *conversion, uint64_t value)
{
	bool negative;

	value = shorten_signed(value, conversion->length);
	negative = (int64_t)value < 0;
	print_digits(sink, conversion, __print_sign(conversion, negative),
		     negative ? -value : value, 10);
}

static void print_unsigned(struct sink *sink, const struct conversion *conversion, uint64_t value,
			   unsigned base)
{
	const char *prefix = "";

	value = shorten_unsigned(value, conversion->length);
	if (base == 16 && conversion->alternative && value != 0)
		prefix = conversion->letter == 'X' ? "0X" : "0x";
	print_digits(sink, conversion, prefix, value, base);
}

static void print_text(struct sink *sink, const struct conversion *asked, const char *text,
		       size_t length)
{
	struct conversion conversion = *asked;

	conversion.zeros = false;
	__print_field(sink, &conversion, "", 0, text, length);
}

/* A string of which only so much is wanted need not have an end. */
static void print_string(struct sink *sink, const struct conversion *conversion, const char *text)
{
	int precision = conversion->precision.value;

	if (text == NULL)
		text = precision < 0 || precision >= 6 ? "(null)" : "";
	print_text(sink, conversion, text,
		   precision < 0 ? strlen(text) : strnlen(text, (size_t)precision));
}

static void print_character(struct sink *sink, const struct conversion *conversion, char character)
{
	print_text(sink, conversion, &character, 1);
}

static void print_pointer(struct sink *sink, const struct conversion *conversion,
			  const void *pointer)
{
	if (pointer == NULL)
		print_text(sink, conversion, "(nil)", 5);
	else
		print_digits(sink, conversion, "0x", (uintptr_t)pointer, 16);
}

/* Tells the program how many characters there are so far. */
static void store_total(const struct conversion *conversion, void *to, size_t total)
{
	switch (conversion->length) {
	case LENGTH_CHAR:
		*(signed char *)to = (signed char)total;
		break;
	case LENGTH_SHORT:
		*(short *)to = (short)total;
		break;
	case LENGTH_LONG:
		*(long *)to = (long)total;
		break;
	case LENGTH_LONG_LONG:
		*(long long *)to = (long long)total;
		break;
	default:
		*(int *)to = (int)total;
	}
}

/* Those with a number behind them; false for a letter that is none of ours. */
static bool print_number(struct sink *sink, const struct conversion *conversion,
			 const union value *value)
{
	switch (conversion->letter) {
	case 'd':
	case 'i':
		print_signed(sink, conversion, value->integer);
		return true;
	case 'u':
		print_unsigned(sink, conversion, value->integer, 10);
		return true;
	case 'o':
		print_unsigned(sink, conversion, value->integer, 8);
		return true;
	case 'x':
	case 'X':
		print_unsigned(sink, conversion, value->integer, 16);
		return true;
	case 'a':
	case 'A':
		__print_hexadecimal_float(sink, conversion, value->real);
		return true;
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
		__print_float(sink, conversion, value->real);
		return true;
	default:
		return false;
	}
}

static bool print_value(struct sink *sink, const struct conversion *conversion,
			const union value *value, int error)
{
	switch (conversion->letter) {
	case 'c':
		print_character(sink, conversion, (char)value->integer);
		return true;
	case 's':
		print_string(sink, conversion, value->pointer);
		return true;
	case 'm':
		print_string(sink, conversion, strerror(error));
		return true;
	case 'p':
		print_pointer(sink, conversion, value->pointer);
		return true;
	case 'n':
		store_total(conversion, value->pointer, sink->total);
		return true;
	case '%':
		__sink_write(sink, "%", 1);
		return true;
	default:
		return print_number(sink, conversion, value);
	}
}

/* Those that are arguments: a negative width means left, a negative precision none. */
static void take_amounts(struct arguments *arguments, struct conversion *conversion)
{
	int width = __arguments_take_amount(arguments, &conversion->width);

	if (conversion->width.argument && width < 0) {
		conversion->left = true;
		width = width == INT_MIN ? INT_MAX : -width;
	}
	conversion->width.value = width;
	conversion->precision.value = __arguments_take_amount(arguments, &conversion->precision);
}

/* A conversion that is none of ours is printed as it stands. */
static const char *print_conversion(struct sink *sink, const char *format,
				    struct arguments *arguments, int error)
{
	struct conversion conversion;
	union value value;
	const char *end = __print_parse(format + 1, &conversion);

	take_amounts(arguments, &conversion);
	__arguments_take(arguments, &conversion, &value);
	if (!print_value(sink, &conversion, &value, error))
		__sink_write(sink, format, (size_t)(end - format));
	return end;
}

int __print_list(struct sink *sink, const char *format, va_list list)
{
	struct arguments arguments;
	int error = errno;

	if (!__arguments_begin(&arguments, format, list))
		return -1;
	while (*format != '\0' && sink->total <= INT_MAX) {
		const char *percent = strchrnul(format, '%');

		__sink_write(sink, format, (size_t)(percent - format));
		format = *percent != '\0' ? print_conversion(sink, percent, &arguments, error)
					  : percent;
	}
	__arguments_end(&arguments);
	if (sink->total > INT_MAX) {
		errno = EOVERFLOW;
		return -1;
	}
	return (int)sink->total;
}
