/* SPDX-License-Identifier: MIT */
/*
 * Text to floating point, correctly rounded.
 *
 * A decimal number is an integer times a power of ten.  When both are small, one multiplication or
 * division of x87's format, which is exact or correctly rounded, gives the answer.  Otherwise it is
 * found by a division of integers of any size: 10^n is 5^n * 2^n, and the power of two goes to the
 * exponent.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bignum.h"
#include "bits.h"
#include "round.h"

#define MOST_EXPONENT 100000000 /* Greater ones are taken for this, which is beyond all formats. */
#define FAST_DIGITS   19        /* So many fit 64 bits. */
#define FAST_EXPONENT 27        /* 5^27 has 63 bits. */

/* A number as text: 0.DIGITS * 10^point, or 16^point. */
struct literal {
	const char *digits; /* The first that is not zero; a point may lie among them. */
	const char *end;    /* Of the digits. */
	size_t count;       /* Of digits, with zeros at the end. */
	int point;
	bool found; /* There are digits at all. */
};

static bool is_digit(char character, bool hexadecimal)
{
	return hexadecimal ? isxdigit((unsigned char)character) : isdigit((unsigned char)character);
}

static unsigned digit_value(char digit)
{
	return isdigit((unsigned char)digit) ? (unsigned)(digit - '0')
					     : (unsigned)(tolower(digit) - 'a') + 10;
}

/* Counts digits before and behind the point. */
static struct literal scan_digits(const char *text, bool hexadecimal)
{
	struct literal literal = {.end = text};
	bool point = false;
	int before = 0;
	int zeros = 0; /* Behind the point, before the first digit. */

	for (;; text++) {
		if (*text == '.' && !point) {
			point = true;
			continue;
		}
		if (!is_digit(*text, hexadecimal))
			break;
		literal.found = true;
		if (literal.count == 0 && *text == '0') {
			zeros += point;
			continue;
		}
		if (literal.count++ == 0)
			literal.digits = text;
		before += !point;
	}
	/* A point alone is no number, but one behind digits belongs to them. */
	literal.end = text;
	literal.point = before > 0 ? before : -zeros;
	return literal;
}

/* Reads an exponent, if there is one; adds it to *exponent. */
static const char *scan_exponent(const char *text, char letter, int *exponent)
{
	const char *next = text + 1;
	bool negative = false;
	int value = 0;

	if ((*text | 0x20) != letter)
		return text;
	if (*next == '+' || *next == '-')
		negative = *next++ == '-';
	if (!isdigit((unsigned char)*next))
		return text;
	for (; isdigit((unsigned char)*next); next++) {
		if (value < MOST_EXPONENT)
			value = value * 10 + (*next - '0');
	}
	*exponent += negative ? -value : value;
	return next;
}

/* Reads at most `limit` digits into the number; whether one that is not zero was left out. */
static bool read_digits(const struct literal *literal, size_t limit, struct bignum *number)
{
	size_t count = 0;

	for (const char *next = literal->digits; next != literal->end; next++) {
		if (*next == '.')
			continue;
		if (count < limit)
			__bignum_multiply_add(number, 10, digit_value(*next));
		else if (*next != '0')
			return true;
		count++;
	}
	return false;
}

/* Shifts both numbers to `bits`, a multiple of a word; the divisor is `by`.  See divide(). */
static int align(struct bignum *number, struct bignum *by)
{
	size_t number_bits = __bignum_bits(number);
	size_t by_bits = __bignum_bits(by);
	size_t bits = number_bits > by_bits ? number_bits : by_bits;

	bits = (bits + BIGNUM_WORD - 1) / BIGNUM_WORD * BIGNUM_WORD;
	__bignum_shift_left(number, bits - number_bits);
	__bignum_shift_left(by, bits - by_bits);
	return (int)number_bits - (int)by_bits;
}

/* Rounds the quotient times 2^exponent: 64 bits of it by two steps, the tail by the remainder. */
static long double divide(struct bignum *number, struct bignum *by, int exponent,
			  const struct float_format *format)
{
	uint64_t mantissa;
	enum float_tail tail = TAIL_ZERO;
	int order;

	exponent += align(number, by);
	if (__bignum_compare(number, by) < 0) {
		__bignum_shift_left(number, 1);
		exponent--;
	}
	/* The quotient is from 1 to 2. */
	__bignum_shift_left(number, BIGNUM_WORD - 1);
	mantissa = (uint64_t)__bignum_divide(number, by) << BIGNUM_WORD;
	__bignum_shift_left(number, BIGNUM_WORD);
	mantissa |= __bignum_divide(number, by);
	if (number->count > 0) {
		__bignum_shift_left(number, 1);
		order = __bignum_compare(number, by);
		tail = order < 0 ? TAIL_BELOW_HALF : order == 0 ? TAIL_HALF : TAIL_ABOVE_HALF;
	}
	return __float_round(mantissa, exponent, tail, format);
}

/* A digit makes less than 3.33 bits, a five 2.33. */
static size_t words_for(size_t digits, size_t fives)
{
	return (digits * 10 / 3 + fives * 7 / 3) / BIGNUM_WORD + 8;
}

/* Digits that were left out count as a one behind the others: no format has a number between. */
static long double convert_exactly(const struct literal *literal, const struct float_format *format)
{
	size_t limit = (size_t)format->digits;
	size_t digits = literal->count < limit ? literal->count : limit;
	int exponent = literal->point - (int)digits;
	size_t fives = (size_t)(exponent < 0 ? -exponent : exponent) + 1;
	size_t room = words_for(digits + 1, fives);
	uint32_t number_words[room];
	uint32_t by_words[room];
	struct bignum number = {.words = number_words, .room = room};
	struct bignum by = {.words = by_words, .room = room};

	if (read_digits(literal, limit, &number)) {
		__bignum_multiply_add(&number, 10, 1);
		exponent--;
	}
	__bignum_set(&by, 1);
	if (exponent < 0)
		__bignum_multiply_power_of_five(&by, (unsigned)-exponent);
	else
		__bignum_multiply_power_of_five(&number, (unsigned)exponent);
	return divide(&number, &by, exponent, format);
}

static uint64_t read_short(const struct literal *literal)
{
	uint64_t value = 0;

	for (const char *next = literal->digits; next != literal->end; next++) {
		if (*next != '.')
			value = value * 10 + digit_value(*next);
	}
	return value;
}

/*
 * By one operation of x87's format, when both operands are exact in it.  Rounding its result again
 * goes wrong only if that lies halfway between two numbers of the format.
 */
static bool convert_fast(const struct literal *literal, const struct float_format *format,
			 long double *result)
{
	int exponent = literal->point - (int)literal->count;
	int spare = EXTENDED_PRECISION - format->precision;
	union extended number;
	long double power = 1;

	if (format == &__float_single || literal->count > FAST_DIGITS || exponent > FAST_EXPONENT ||
	    exponent < -FAST_EXPONENT)
		return false;
	for (int i = 0; i < exponent || i < -exponent; i++)
		power *= 10;
	number.value = (long double)read_short(literal);
	number.value = exponent < 0 ? number.value / power : number.value * power;
	if (spare > 0 && (number.bits.mantissa & ((1ull << spare) - 1)) == 1ull << (spare - 1))
		return false;
	*result = spare > 0 ? (double)number.value : number.value;
	return true;
}

static long double convert_decimal(const struct literal *literal, const struct float_format *format)
{
	long double result;

	if (literal->count == 0)
		return 0;
	if (literal->point > format->most_decimal + 1 || literal->point < format->least_decimal) {
		errno = ERANGE;
		return literal->point > 0 ? __builtin_infl() : 0;
	}
	if (convert_fast(literal, format, &result))
		return result;
	return convert_exactly(literal, format);
}

/* Sixteen digits make the mantissa; the next fills the bits that zeros in front leave. */
struct hexadecimal {
	uint64_t mantissa;
	unsigned next;
	bool rest; /* There is more behind it. */
};

static struct hexadecimal read_hexadecimal(const struct literal *literal)
{
	struct hexadecimal result = {0};
	size_t count = 0;

	for (const char *next = literal->digits; next != literal->end; next++) {
		if (*next == '.')
			continue;
		if (count < 16)
			result.mantissa = result.mantissa << 4 | digit_value(*next);
		else if (count == 16)
			result.next = digit_value(*next);
		else
			result.rest |= *next != '0';
		count++;
	}
	if (count < 16)
		result.mantissa <<= 4 * (16 - count);
	return result;
}

/* `exponent` is that of two, and counts besides the point. */
static long double convert_hexadecimal(const struct literal *literal, int exponent,
				       const struct float_format *format)
{
	struct hexadecimal read;
	enum float_tail tail = TAIL_ZERO;
	int shift;

	if (literal->count == 0)
		return 0;
	read = read_hexadecimal(literal);
	shift = __builtin_clzll(read.mantissa);
	read.mantissa = read.mantissa << shift | read.next >> (4 - shift);
	read.next = read.next << shift & 15;
	if (read.next == 8)
		tail = read.rest ? TAIL_ABOVE_HALF : TAIL_HALF;
	else if (read.next > 8)
		tail = TAIL_ABOVE_HALF;
	else if (read.next > 0 || read.rest)
		tail = TAIL_BELOW_HALF;
	return __float_round(read.mantissa, exponent + literal->point * 4 - 1 - shift, tail,
			     format);
}

/* inf, infinity, nan, nan(characters) in any case; what is read of a word is in *end. */
static bool read_word(const char *text, const char **end, long double *result)
{
	if (strncasecmp(text, "inf", 3) == 0) {
		*end = text + (strncasecmp(text, "infinity", 8) == 0 ? 8 : 3);
		*result = __builtin_infl();
		return true;
	}
	if (strncasecmp(text, "nan", 3) != 0)
		return false;
	*end = text + 3;
	*result = __builtin_nanl("");
	if (text[3] == '(') {
		const char *next = text + 4;

		while (isalnum((unsigned char)*next) || *next == '_')
			next++;
		if (*next == ')')
			*end = next + 1;
	}
	return true;
}

/* A number without sign; *end stays as it is if there is none. */
static long double read_number(const char *text, const char **end,
			       const struct float_format *format)
{
	struct literal literal;
	long double result = 0;
	int exponent = 0;

	if (read_word(text, end, &result))
		return result;
	if (text[0] == '0' && (text[1] | 0x20) == 'x') {
		literal = scan_digits(text + 2, true);
		if (literal.found) {
			*end = scan_exponent(literal.end, 'p', &exponent);
			return convert_hexadecimal(&literal, exponent, format);
		}
	}
	literal = scan_digits(text, false);
	if (!literal.found)
		return 0;
	*end = scan_exponent(literal.end, 'e', &literal.point);
	return convert_decimal(&literal, format);
}

static long double parse(const char *text, char **end, const struct float_format *format)
{
	const char *start = text;
	const char *stop = NULL;
	bool negative;
	long double result;

	while (isspace((unsigned char)*start))
		start++;
	negative = *start == '-';
	if (*start == '-' || *start == '+')
		start++;
	result = read_number(start, &stop, format);
	if (end != NULL)
		*end = (char *)(uintptr_t)(stop != NULL ? stop : text);
	return negative && stop != NULL ? -result : result;
}

long double strtold(const char *text, char **end)
{
	return parse(text, end, &__float_extended);
}

double strtod(const char *text, char **end)
{
	return (double)parse(text, end, &__float_double);
}

float strtof(const char *text, char **end)
{
	return (float)parse(text, end, &__float_single);
}

double atof(const char *text)
{
	return strtod(text, NULL);
}
