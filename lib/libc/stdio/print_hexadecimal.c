/* SPDX-License-Identifier: MIT */
/* Floating point as its bits are, and what has no digits at all. */
#include <ctype.h>
#include <string.h>

#include "../float/bits.h"
#include "print.h"

#define FRACTION      15 /* Digits behind the point: 64 bits less the first digit's four. */
#define DOUBLE_LEAST  (-1022)
#define EXPONENT_ZERO 3 /* The first digit of a mantissa is worth 8 to 15. */

/* A number as it is written: a digit, a point, digits, and an exponent of two. */
struct hexadecimal {
	uint64_t mantissa;
	int exponent;
	size_t digits; /* Behind the point. */
};

static bool is_upper(const struct conversion *conversion)
{
	return isupper((unsigned char)conversion->letter);
}

/* Infinities and what is no number have no zeros in front. */
void __print_special_float(struct sink *sink, const struct conversion *asked, bool infinite,
			   bool negative)
{
	struct conversion conversion = *asked;
	const char *text = infinite ? "inf" : "nan";

	if (is_upper(asked))
		text = infinite ? "INF" : "NAN";
	conversion.zeros = false;
	__print_field(sink, &conversion, __print_sign(asked, negative), 0, text, 3);
}

void __print_exponent(char *to, char letter, int exponent, unsigned digits)
{
	unsigned value = (unsigned)(exponent < 0 ? -exponent : exponent);
	unsigned least = digits > 1 ? 10 : 1;

	*to++ = letter;
	*to++ = exponent < 0 ? '-' : '+';
	for (unsigned unit = 10000; unit > 0; unit /= 10) {
		if (value >= unit || unit <= least)
			*to++ = (char)('0' + value / unit % 10);
	}
	*to = '\0';
}

/*
 * Rounds to the digits that are wanted, to an even number of two.  A carry out of the mantissa
 * makes it one, with a greater exponent.
 */
static void round_digits(struct hexadecimal *number)
{
	uint64_t half;
	uint64_t dropped;
	bool odd;

	if (number->digits >= FRACTION)
		return;
	half = 1ull << ((FRACTION - number->digits) * 4 - 1);
	dropped = number->mantissa & (2 * half - 1);
	odd = number->mantissa & (2 * half);
	number->mantissa -= dropped;
	if (dropped < half || (dropped == half && !odd))
		return;
	if (__builtin_add_overflow(number->mantissa, 2 * half, &number->mantissa)) {
		number->mantissa = 1ull << 60;
		number->exponent += 4;
	}
}

/* As many digits as there are. */
static size_t count_digits(uint64_t mantissa)
{
	return mantissa << 4 != 0 ? FRACTION - (size_t)__builtin_ctzll(mantissa) / 4 : 0;
}

static void write_number(struct sink *sink, const struct conversion *conversion, bool negative,
			 const struct hexadecimal *number)
{
	const char *alphabet = is_upper(conversion) ? "0123456789ABCDEF" : "0123456789abcdef";
	size_t stored = number->digits < FRACTION ? number->digits : FRACTION;
	bool point = number->digits > 0 || conversion->alternative;
	char prefix[4];
	char exponent[PRINT_EXPONENT];
	char digits[FRACTION + 2];
	size_t padding;

	strcpy(stpcpy(prefix, __print_sign(conversion, negative)),
	       is_upper(conversion) ? "0X" : "0x");
	__print_exponent(exponent, is_upper(conversion) ? 'P' : 'p', number->exponent, 1);
	digits[0] = alphabet[number->mantissa >> 60];
	digits[1] = '.';
	for (size_t i = 0; i < stored; i++)
		digits[i + 2] = alphabet[number->mantissa << 4 * (i + 1) >> 60];
	padding = __print_open_field(sink, conversion, prefix,
				     1 + point + number->digits + strlen(exponent));
	__sink_write(sink, digits, 1 + point + stored);
	__sink_pad(sink, '0', number->digits - stored);
	__sink_write(sink, exponent, strlen(exponent));
	__sink_pad(sink, ' ', padding);
}

/*
 * A double shows its own first bit, which is 0 for a number too small to have it; a long double has
 * four bits in the first digit.
 */
static void align_first_digit(struct hexadecimal *number, bool is_double)
{
	if (number->mantissa == 0) {
		number->exponent = 0;
	} else if (!is_double) {
		number->exponent -= EXPONENT_ZERO;
	} else {
		number->mantissa >>= EXPONENT_ZERO;
		if (number->exponent < DOUBLE_LEAST) {
			number->mantissa >>= DOUBLE_LEAST - number->exponent;
			number->exponent = DOUBLE_LEAST;
		}
	}
}

void __print_hexadecimal_float(struct sink *sink, const struct conversion *conversion,
			       long double value)
{
	union extended parts = {.value = value};
	bool negative = parts.bits.sign_exponent & EXTENDED_SIGN;
	int exponent = parts.bits.sign_exponent & EXTENDED_MAXIMUM;
	struct hexadecimal number = {
		.mantissa = parts.bits.mantissa,
		.exponent = (exponent > 0 ? exponent : 1) - EXTENDED_BIAS,
	};

	if (exponent == EXTENDED_MAXIMUM) {
		__print_special_float(sink, conversion, number.mantissa == EXTENDED_INTEGER,
				      negative);
		return;
	}
	align_first_digit(&number, conversion->length != LENGTH_LONG_DOUBLE);
	number.digits = conversion->precision.value < 0 ? count_digits(number.mantissa)
							: (size_t)conversion->precision.value;
	round_digits(&number);
	write_number(sink, conversion, negative, &number);
}
