/* SPDX-License-Identifier: MIT */
/* A number with more bits than a format has, made one of that format. */
#ifndef LIBC_FLOAT_ROUND_H
#define LIBC_FLOAT_ROUND_H

#include <stdint.h>

/* Of binary numbers: bits of the mantissa, and exponents of its first bit. */
struct float_format {
	int precision;
	int least; /* That of normal numbers. */
	int most;
	int digits; /* No number halfway between two of the format has more of them in decimal. */
	int least_decimal; /* 10^this is less than half of the least number. */
	int most_decimal;  /* 10^this is above the greatest number. */
};

extern const struct float_format __float_single;
extern const struct float_format __float_double;
extern const struct float_format __float_extended;

/* What comes behind the last bit of a mantissa, against half of this bit. */
enum float_tail {
	TAIL_ZERO,
	TAIL_BELOW_HALF,
	TAIL_HALF,
	TAIL_ABOVE_HALF,
};

/*
 * A positive number: the first bit of the mantissa is set and is worth 2^exponent, the tail
 * follows.  The nearest number of the format, the even one of two; ERANGE in errno if that is none
 * or has fewer bits than it should.
 */
long double __float_round(uint64_t mantissa, int exponent, enum float_tail tail,
			  const struct float_format *format);

#endif
