/* SPDX-License-Identifier: MIT */
/*
 * Numbers with a point.  Digits are exact, however many are asked for (float/decimal.h): a number
 * is made decimal as a whole, rounded at the place that the conversion says, and written by the
 * chunk.
 */
#include <ctype.h>
#include <string.h>

#include "../float/bits.h"
#include "../float/decimal.h"
#include "print.h"

#define CHUNK        64
#define LEAST_UNIT   (1 - EXTENDED_BIAS - (EXTENDED_PRECISION - 1))
#define USUAL_DIGITS 6

/* A number as it is to be written: digits of the decimal, and an exponent's text. */
struct layout {
	struct decimal decimal;
	size_t first;  /* The first digit. */
	size_t before; /* Digits before the point. */
	size_t behind; /* Digits behind it. */
	bool point;
	char exponent[PRINT_EXPONENT];
};

static void layout_fixed(struct layout *layout, size_t precision)
{
	size_t integers = layout->decimal.integers * DECIMAL_GROUP;
	size_t first;

	__decimal_round(&layout->decimal, integers + precision);
	first = __decimal_first(&layout->decimal);
	layout->first = first < integers ? first : integers - 1;
	layout->before = integers - layout->first;
	layout->behind = precision;
}

/* Rounds to so many digits; returns the exponent of the first, which zero has at the point. */
static int round_to_digits(struct layout *layout, size_t digits)
{
	struct decimal *decimal = &layout->decimal;
	size_t integers = decimal->integers * DECIMAL_GROUP;
	size_t first = __decimal_first(decimal);

	__decimal_round(decimal, first + digits);
	first = __decimal_first(decimal);
	layout->first = first < decimal->count * DECIMAL_GROUP ? first : integers - 1;
	return (int)integers - 1 - (int)layout->first;
}

static void layout_exponent(struct layout *layout, size_t precision, char letter)
{
	int exponent = round_to_digits(layout, precision + 1);

	layout->before = 1;
	layout->behind = precision;
	__print_exponent(layout->exponent, letter, exponent, 2);
}

/* Zeros at the end behind the point go, unless they are asked for. */
static void drop_zeros(struct layout *layout)
{
	size_t end = layout->first + layout->before + layout->behind;
	size_t stored = layout->decimal.count * DECIMAL_GROUP;

	if (end > stored) {
		size_t excess = end - stored;

		layout->behind -= excess < layout->behind ? excess : layout->behind;
		end = layout->first + layout->before + layout->behind;
	}
	while (layout->behind > 0 && __decimal_digit(&layout->decimal, end - 1) == 0) {
		layout->behind--;
		end--;
	}
}

/* The precision counts all digits; the exponent tells which of the two forms is meant. */
static void layout_general(struct layout *layout, size_t precision, char letter, bool keep_zeros)
{
	size_t digits = precision > 0 ? precision : 1;
	int exponent = round_to_digits(layout, digits);

	if (exponent < -4 || (exponent >= 0 && (size_t)exponent >= digits))
		layout_exponent(layout, digits - 1, letter);
	else
		layout_fixed(layout, digits - 1 - (size_t)exponent);
	if (!keep_zeros)
		drop_zeros(layout);
}

static void write_digits(struct sink *sink, const struct decimal *decimal, size_t from,
			 size_t count)
{
	size_t stored = decimal->count * DECIMAL_GROUP;
	size_t real = from >= stored ? 0 : stored - from < count ? stored - from : count;
	char chunk[CHUNK];

	for (size_t done = 0; done < real;) {
		size_t size = 0;

		while (size < CHUNK && done < real)
			chunk[size++] = (char)('0' + __decimal_digit(decimal, from + done++));
		__sink_write(sink, chunk, size);
	}
	__sink_pad(sink, '0', count - real);
}

static void write_layout(struct sink *sink, const struct conversion *conversion, const char *sign,
			 const struct layout *layout)
{
	size_t exponent = strlen(layout->exponent);
	size_t length = layout->before + layout->point + layout->behind + exponent;
	size_t padding = __print_open_field(sink, conversion, sign, length);

	write_digits(sink, &layout->decimal, layout->first, layout->before);
	if (layout->point)
		__sink_write(sink, ".", 1);
	write_digits(sink, &layout->decimal, layout->first + layout->before, layout->behind);
	__sink_write(sink, layout->exponent, exponent);
	__sink_pad(sink, ' ', padding);
}

static void print_finite(struct sink *sink, const struct conversion *conversion, const char *sign,
			 uint64_t mantissa, int exponent)
{
	uint32_t room[__decimal_room(exponent)];
	size_t precision = conversion->precision.value < 0 ? USUAL_DIGITS
							   : (size_t)conversion->precision.value;
	struct layout layout = {.exponent = ""};
	char letter = isupper((unsigned char)conversion->letter) ? 'E' : 'e';

	__decimal_make(&layout.decimal, mantissa, exponent, room);
	if ((conversion->letter | 0x20) == 'f')
		layout_fixed(&layout, precision);
	else if ((conversion->letter | 0x20) == 'e')
		layout_exponent(&layout, precision, letter);
	else
		layout_general(&layout, precision, letter, conversion->alternative);
	layout.point = layout.behind > 0 || conversion->alternative;
	write_layout(sink, conversion, sign, &layout);
}

/* Zeros at the end of the mantissa would be digits to no purpose. */
void __print_float(struct sink *sink, const struct conversion *conversion, long double number)
{
	union extended parts = {.value = number};
	bool negative = parts.bits.sign_exponent & EXTENDED_SIGN;
	int exponent = parts.bits.sign_exponent & EXTENDED_MAXIMUM;
	uint64_t mantissa = parts.bits.mantissa;
	int zeros = mantissa != 0 ? __builtin_ctzll(mantissa) : 0;
	int unit = exponent > 0 ? exponent - 1 + LEAST_UNIT : LEAST_UNIT;

	if (exponent == EXTENDED_MAXIMUM)
		__print_special_float(sink, conversion, mantissa == EXTENDED_INTEGER, negative);
	else
		print_finite(sink, conversion, __print_sign(conversion, negative),
			     mantissa >> zeros, mantissa != 0 ? unit + zeros : 0);
}
