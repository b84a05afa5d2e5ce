/* SPDX-License-Identifier: MIT */
/*
 * Angles.  Sine and cosine are the sums of their series in the first eighth of the circle; the
 * unit's own instructions know pi to 66 bits only, and less under emulators.
 */
#include "trigonometric.h"

#include <math.h>

#include "x87.h"

/* Terms up to x^22 and x^23: the next is below 2^-80. */
#define TERMS 11

/* 1 - x^2/(n+1)(n+2) (1 - x^2/(n+3)(n+4) (... for n = 0, the cosine, or 1, the sine less an x. */
static long double series(long double square, int n)
{
	long double sum = 1;

	for (int k = n + 2 * TERMS; k > n; k -= 2)
		sum = 1 - square / (k * (k - 1)) * sum;
	return sum;
}

/* x - x^3/6 ...; the small part is added last, so that it is the only rounding that counts. */
static long double sine_of_rest(long double x)
{
	long double square = x * x;

	return x - x * (square / 6) * series(square, 3);
}

static long double cosine_of_rest(long double x)
{
	long double square = x * x;

	return 1 - square / 2 * series(square, 2);
}

/* The sine of so many quarters of the circle and a rest. */
static long double sine_of(unsigned quarter, long double rest)
{
	long double value = quarter & 1 ? cosine_of_rest(rest) : sine_of_rest(rest);

	return quarter & 2 ? -value : value;
}

long double sinl(long double x)
{
	unsigned quarter;
	long double rest;

	if (!isfinite(x))
		return x - x;
	if (x == 0)
		return x;
	rest = __reduce_angle(x, &quarter);
	return sine_of(quarter, rest);
}

long double cosl(long double x)
{
	unsigned quarter;
	long double rest;

	if (!isfinite(x))
		return x - x;
	rest = __reduce_angle(x, &quarter);
	return sine_of(quarter + 1, rest);
}

long double tanl(long double x)
{
	unsigned quarter;
	long double rest;

	if (!isfinite(x))
		return x - x;
	if (x == 0)
		return x;
	rest = __reduce_angle(x, &quarter);
	return sine_of(quarter, rest) / sine_of(quarter + 1, rest);
}

long double atan2l(long double y, long double x)
{
	return x87_atan2(y, x);
}

long double atanl(long double x)
{
	return x87_atan2(x, 1);
}

/* The point on the circle whose one coordinate is x. */
long double asinl(long double x)
{
	return x87_atan2(x, sqrtl((1 - x) * (1 + x)));
}

long double acosl(long double x)
{
	return x87_atan2(sqrtl((1 - x) * (1 + x)), x);
}
