/* SPDX-License-Identifier: MIT */
/*
 * Exponentials.  The argument is a multiple of ln 2, which becomes the exponent, and a rest, which
 * is computed with ln 2 in two parts: the first has 32 bits, so that its multiples are exact.
 */
#include <math.h>

#include "x87.h"

#define LN2_FIRST 0xb17217f7p-32L
#define LN2_REST  0xd1cf79abc9e3b398p-96L /* ln 2 less the first part. */
#define TOO_LARGE 12000.0L

/* 2^x for a rest and a whole number. */
static long double join(long double rest, long double whole)
{
	return x87_scale(x87_exp2m1(rest) + 1, whole);
}

/* Leaves what x has beside `whole` multiples of ln 2, times log2 of e: from -0.5 to 0.5. */
static long double rest_of(long double x, long double *whole)
{
	*whole = x87_rint(x * LOG2_EL);
	x -= *whole * LN2_FIRST;
	x -= *whole * LN2_REST;
	return x * LOG2_EL;
}

/* Infinities and all that comes out as one or as zero; the scale of what is left is in range. */
static long double limit(long double x)
{
	if (x > TOO_LARGE)
		return x > 2 * TOO_LARGE ? 2 * TOO_LARGE : x;
	return x < -2 * TOO_LARGE ? -2 * TOO_LARGE : x;
}

long double expl(long double x)
{
	long double whole;
	long double rest;

	if (isnan(x))
		return x;
	rest = rest_of(limit(x), &whole);
	return join(rest, whole);
}

long double exp2l(long double x)
{
	long double whole;

	if (isnan(x))
		return x;
	x = limit(x);
	whole = x87_rint(x);
	return join(x - whole, whole);
}

/* Near zero nothing is added that would have to be taken away again. */
long double expm1l(long double x)
{
	long double whole;
	long double rest;
	long double scale;

	if (isnan(x) || x == 0)
		return x;
	rest = rest_of(limit(x), &whole);
	if (whole == 0)
		return x87_exp2m1(rest);
	if (whole > 16000)
		return expl(x);
	scale = x87_scale(1, whole);
	return scale * x87_exp2m1(rest) + (scale - 1);
}

long double sinhl(long double x)
{
	long double magnitude = fabsl(x);
	long double e;

	if (magnitude > 11000)
		return copysignl(expl(magnitude / 2) / 2 * expl(magnitude / 2), x);
	e = expm1l(magnitude);
	if (magnitude > 40)
		return copysignl(e / 2, x);
	return copysignl((e + e / (e + 1)) / 2, x);
}

long double coshl(long double x)
{
	long double magnitude = fabsl(x);
	long double e;

	if (magnitude > 11000)
		return expl(magnitude / 2) / 2 * expl(magnitude / 2);
	e = expl(magnitude);
	return (e + 1 / e) / 2;
}

long double tanhl(long double x)
{
	long double magnitude = fabsl(x);
	long double e;

	if (magnitude > 40)
		return copysignl(1, x);
	e = expm1l(2 * magnitude);
	return copysignl(e / (e + 2), x);
}
