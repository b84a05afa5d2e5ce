/* SPDX-License-Identifier: MIT */
/* What rounding takes away. */
#ifndef LIBC_MATH_EXACT_H
#define LIBC_MATH_EXACT_H

#include "../float/bits.h"

/* The upper half of the bits, so that products of two halves are exact. */
static inline long double upper_half(long double x)
{
	union extended parts = {.value = x};

	parts.bits.mantissa &= 0xffffffff00000000ull;
	return parts.value;
}

/* What rounding took from the product of two numbers. */
static inline long double product_error(long double x, long double y, long double product)
{
	long double x_upper = upper_half(x);
	long double y_upper = upper_half(y);
	long double x_lower = x - x_upper;
	long double y_lower = y - y_upper;

	return x_upper * y_upper - product + x_upper * y_lower + x_lower * y_upper +
	       x_lower * y_lower;
}

#endif
