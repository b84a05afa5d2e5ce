/* SPDX-License-Identifier: MIT */
/*
 * Angles.  Sine and cosine are the sums of their series in the first eighth of the circle; the
 * unit's own instructions know pi to 66 bits only, and less under emulators.
 */
#include "trigonometric.h"

#include <math.h>
#include <stdbool.h>

#include "x87.h"

/* Terms up to x^22 and x^23: the next is below 2^-80. */
#define TERMS 11
#define TINY  0x1p-40L

/* 1 - x^2/(n+1)(n+2) (1 - x^2/(n+3)(n+4) (... for n = 0, the cosine, or 1, the sine less an x. */
static long double series(long double square, int n)
{
	long double sum = 1;

	for (int k = n + 2 * TERMS; k > n; k -= 2)
		sum = 1 - square / (k * (k - 1)) * sum;
	return sum;
}

/* x - x^3/6 + x^5/120 ...; of the second term every bit counts, as a tangent is a quotient. */
static struct pair sine_of_rest(struct pair x)
{
	struct pair square = pair_multiply(x, x);
	struct pair second = pair_divide(pair_multiply(x, square), (struct pair){-6, 0});
	long double small = second.upper * square.upper / 20 * series(square.upper, 5);
	struct pair begin = pair_add(x, second);

	return pair_join(begin.upper, begin.lower - small);
}

/* 1 - x^2/2 + x^4/24 ...; of the square what was rounded away counts too, and the rest's. */
static struct pair cosine_of_rest(struct pair x)
{
	struct pair square = pair_of_product(x.upper, x.upper);
	struct pair begin = pair_join(1, -square.upper / 2);
	long double small = square.upper * square.upper / 24 * series(square.upper, 4);

	return pair_join(begin.upper, begin.lower + (small - square.lower / 2 - x.upper * x.lower));
}

/* The sine of so many quarters of the circle and a rest. */
static struct pair sine_of(unsigned quarter, struct pair rest)
{
	struct pair value = quarter & 1 ? cosine_of_rest(rest) : sine_of_rest(rest);

	return quarter & 2 ? pair_negate(value) : value;
}

/* What is so small is its own sine, and its square may be no number of ours. */
static bool is_tiny(long double x)
{
	return fabsl(x) < TINY;
}

long double sinl(long double x)
{
	unsigned quarter;
	struct pair rest;

	if (!isfinite(x))
		return x - x;
	if (is_tiny(x))
		return x;
	rest = __reduce_angle(x, &quarter);
	return pair_round(sine_of(quarter, rest));
}

long double cosl(long double x)
{
	unsigned quarter;
	struct pair rest;

	if (!isfinite(x))
		return x - x;
	if (is_tiny(x))
		return 1;
	rest = __reduce_angle(x, &quarter);
	return pair_round(sine_of(quarter + 1, rest));
}

long double tanl(long double x)
{
	unsigned quarter;
	struct pair rest;

	if (!isfinite(x))
		return x - x;
	if (is_tiny(x))
		return x;
	rest = __reduce_angle(x, &quarter);
	return pair_round(pair_divide(sine_of(quarter, rest), sine_of(quarter + 1, rest)));
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
