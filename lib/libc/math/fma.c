/* SPDX-License-Identifier: MIT */
/*
 * x * y + z, rounded once.  Product and sum are each a number and what rounding took from it; of
 * these four the last bit is made odd when something is left over.  The result, with eleven bits
 * more than a double, then rounds as the exact one would.
 */
#include <math.h>

#include "exact.h"

/* The sum; what rounding took from it is in *error. */
static long double sum(long double x, long double y, long double *error)
{
	long double total = x + y;
	long double y_part = total - x;
	long double x_part = total - y_part;

	*error = (x - x_part) + (y - y_part);
	return total;
}

/* The sum, whose last bit is odd if it is not exact. */
static long double sum_to_odd(long double x, long double y)
{
	long double error;
	union extended parts = {.value = sum(x, y, &error)};

	if (error == 0 || parts.bits.mantissa & 1)
		return parts.value;
	return nextafterl(parts.value, error > 0 ? HUGE_VALL : -HUGE_VALL);
}

static long double multiply_add(double x, double y, double z)
{
	long double product = (long double)x * y;
	long double sum_error;
	long double total = sum(product, z, &sum_error);

	if (!isfinite(total) || product == 0)
		return product + z;
	return sum_to_odd(total, sum_to_odd(product_error(x, y, product), sum_error));
}

double fma(double x, double y, double z)
{
	return (double)multiply_add(x, y, z);
}

float fmaf(float x, float y, float z)
{
	return (float)multiply_add(x, y, z);
}
