/* SPDX-License-Identifier: MIT */
/*
 * The multiple of pi/2 taken from an angle, so exactly that the rest has all its bits.
 *
 * For angles that are not large, pi/2 in four parts is enough: the first three have 33 bits, so
 * that their multiples are exact.  For others the angle's 64 bits are multiplied by those bits of
 * 2/pi that are worth something: what stands before them makes whole turns.  Either way the rest
 * is a pair, since a tangent shows the last bit's error more than once.
 */
#include <math.h>
#include <string.h>

#include "../float/bignum.h"
#include "../float/bits.h"
#include "pair.h"
#include "trigonometric.h"
#include "x87.h"

#define SMALL    0x1p28L
#define TWO_PI_1 0x1.921fb544p0L
#define TWO_PI_2 0x85a308d3p-65L
#define TWO_PI_3 0x2633145cp-98L
#define TWO_PI_4 0x1b839a252049c111p-164L

#define WINDOW \
	9 /* Words of 2/pi: 64 bits for the angle's own, 160 for the rest, and what is cut. */
#define ROOM (WINDOW + 4)

static const struct pair half_pi = {0xc90fdaa22168c235p-63L, -0xece675d1fc8f8cbbp-129L};

static struct pair reduce_small(long double x, unsigned *quarter)
{
	long double count = x87_rint(x / half_pi.upper);
	struct pair rest;

	*quarter = (unsigned)(long)count & 3;
	rest = pair_of_sum(x - count * TWO_PI_1, -count * TWO_PI_2);
	rest = pair_add(rest, (struct pair){-count * TWO_PI_3, 0});
	return pair_add(rest, (struct pair){-count * TWO_PI_4, 0});
}

/* The fraction in so many words, negated: a complement. */
static void negate(uint32_t *words, size_t count)
{
	uint32_t carry = 1;

	for (size_t i = 0; i < count; i++) {
		words[i] = ~words[i] + carry;
		carry = carry && words[i] == 0;
	}
}

static struct pair fraction_of(const uint32_t *words, size_t count)
{
	struct pair value = {0, 0};

	for (size_t i = 0; i < count; i++) {
		value = pair_add((struct pair){words[i], 0}, value);
		value.upper *= 0x1p-32L;
		value.lower *= 0x1p-32L;
	}
	return value;
}

/* x is mantissa * 2^exponent. */
static struct pair reduce_large(uint64_t mantissa, int exponent, unsigned *quarter)
{
	size_t first = exponent > 2 ? (size_t)(exponent - 2) / BIGNUM_WORD : 0;
	size_t point = (first + WINDOW) * BIGNUM_WORD - (size_t)exponent;
	size_t shift = (BIGNUM_WORD - point % BIGNUM_WORD) % BIGNUM_WORD;
	size_t whole = (point + shift) / BIGNUM_WORD;
	uint32_t words[ROOM] = {0};
	uint32_t high_words[ROOM] = {0};
	struct bignum low = {.words = words, .count = WINDOW, .room = ROOM};
	struct bignum high = {.words = high_words, .count = WINDOW, .room = ROOM};
	uint64_t carry = 0;
	bool negative;
	struct pair rest;

	for (size_t i = 0; i < WINDOW; i++)
		words[WINDOW - 1 - i] = high_words[WINDOW - 1 - i] = __two_over_pi[first + i];
	__bignum_multiply_add(&low, (uint32_t)mantissa, 0);
	__bignum_multiply_add(&high, (uint32_t)(mantissa >> BIGNUM_WORD), 0);
	for (size_t i = 1; i < ROOM; i++) {
		carry += (uint64_t)words[i] + high_words[i - 1];
		words[i] = (uint32_t)carry;
		carry >>= BIGNUM_WORD;
	}
	low.count = ROOM - 1;
	__bignum_multiply_add(&low, 1u << shift, 0);
	negative = words[whole - 1] >> (BIGNUM_WORD - 1) != 0;
	*quarter = (words[whole] + negative) & 3;
	if (negative)
		negate(words, whole);
	rest = pair_multiply(fraction_of(words, whole), half_pi);
	return negative ? pair_negate(rest) : rest;
}

struct pair __reduce_angle(long double x, unsigned *quarter)
{
	union extended parts = {.value = x};
	int exponent = (parts.bits.sign_exponent & EXTENDED_MAXIMUM) - EXTENDED_BIAS - 63;
	struct pair rest;

	if (fabsl(x) < SMALL)
		return reduce_small(x, quarter);
	rest = reduce_large(parts.bits.mantissa, exponent, quarter);
	if (x > 0)
		return rest;
	*quarter = -*quarter & 3;
	return pair_negate(rest);
}
