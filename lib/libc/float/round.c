/* SPDX-License-Identifier: MIT */
/* Rounding to a format (round.h). */
#include "round.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>

#include "bits.h"

const struct float_format __float_single = {
	.precision = 24,
	.least = -126,
	.most = 127,
	.digits = 120,
	.least_decimal = -46,
	.most_decimal = 39,
};

const struct float_format __float_double = {
	.precision = 53,
	.least = -1022,
	.most = 1023,
	.digits = 780,
	.least_decimal = -325,
	.most_decimal = 309,
};

const struct float_format __float_extended = {
	.precision = EXTENDED_PRECISION,
	.least = -16382,
	.most = 16383,
	.digits = 11530,
	.least_decimal = -4952,
	.most_decimal = 4933,
};

/* Takes `count` bits from the end of the mantissa, to be the head of the tail. */
static enum float_tail drop(uint64_t *mantissa, int count, enum float_tail tail)
{
	uint64_t half;
	uint64_t dropped;

	if (count == 0)
		return tail;
	if (count > EXTENDED_PRECISION) {
		*mantissa = 0;
		return TAIL_BELOW_HALF;
	}
	half = 1ull << (count - 1);
	dropped = *mantissa & (2 * half - 1);
	*mantissa = count == EXTENDED_PRECISION ? 0 : *mantissa >> count;
	if (dropped == 0)
		return tail == TAIL_ZERO ? TAIL_ZERO : TAIL_BELOW_HALF;
	if (dropped == half)
		return tail == TAIL_ZERO ? TAIL_HALF : TAIL_ABOVE_HALF;
	return dropped < half ? TAIL_BELOW_HALF : TAIL_ABOVE_HALF;
}

/* The number whose mantissa's last bit is worth 2^unit. */
static long double assemble(uint64_t mantissa, int unit)
{
	int shift = mantissa != 0 ? __builtin_clzll(mantissa) : 0;
	int exponent = unit - shift + EXTENDED_PRECISION - 1 + EXTENDED_BIAS;
	union extended number = {.value = 0};

	if (mantissa == 0)
		return 0;
	number.bits.mantissa = mantissa << shift;
	if (exponent <= 0) {
		number.bits.mantissa >>= 1 - exponent;
		exponent = 0;
	}
	number.bits.sign_exponent = (uint16_t)exponent;
	return number.value;
}

long double __float_round(uint64_t mantissa, int exponent, enum float_tail tail,
			  const struct float_format *format)
{
	int lack = exponent < format->least ? format->least - exponent : 0;
	int count = EXTENDED_PRECISION - format->precision + lack;
	int unit = exponent - (EXTENDED_PRECISION - 1) + count;
	bool up;

	assert(mantissa >> (EXTENDED_PRECISION - 1) != 0);
	tail = drop(&mantissa, count, tail);
	if (lack > 0 && tail != TAIL_ZERO)
		errno = ERANGE;
	up = tail == TAIL_ABOVE_HALF || (tail == TAIL_HALF && mantissa % 2 != 0);
	if (up && ++mantissa == 0) {
		/* All 64 bits were ones. */
		mantissa = EXTENDED_INTEGER;
		unit++;
	}
	if (mantissa != 0 &&
	    unit + EXTENDED_PRECISION - 1 - __builtin_clzll(mantissa) > format->most) {
		errno = ERANGE;
		return __builtin_infl();
	}
	return assemble(mantissa, unit);
}
