/* SPDX-License-Identifier: MIT */
/* Logarithms, powers and roots. */
#include <math.h>
#include <stdbool.h>

#include "pair.h"
#include "x87.h"

#define NEAR_ONE  0.25L
#define SQRT_HALF 0.7071067811865475244L

/* Near one the difference from it is exact, and its logarithm has an instruction of its own. */
static long double log_times(long double x, long double factor)
{
	if (fabsl(x - 1) < NEAR_ONE)
		return x87_log2p1(x - 1, factor);
	return x87_log2(x, factor);
}

long double logl(long double x)
{
	return log_times(x, LN2_L);
}

long double log2l(long double x)
{
	return log_times(x, 1);
}

long double log10l(long double x)
{
	return log_times(x, LOG10_2L);
}

long double log1pl(long double x)
{
	if (fabsl(x) < NEAR_ONE)
		return x87_log2p1(x, LN2_L);
	return x87_log2(1 + x, LN2_L);
}

long double asinhl(long double x)
{
	long double magnitude = fabsl(x);
	long double square = magnitude * magnitude;

	if (magnitude > 0x1p34L)
		return copysignl(logl(magnitude) + LN2_L, x);
	return copysignl(log1pl(magnitude + square / (1 + sqrtl(square + 1))), x);
}

long double acoshl(long double x)
{
	long double above = x - 1;

	if (x < 1)
		return NAN;
	if (x > 0x1p34L)
		return logl(x) + LN2_L;
	return log1pl(above + sqrtl(2 * above + above * above));
}

long double atanhl(long double x)
{
	long double magnitude = fabsl(x);

	return copysignl(log1pl(2 * magnitude / (1 - magnitude)) / 2, x);
}

/* A logarithm to base 2 in so many bits that a power with 14 of them before the point has 64. */
#define LOG_TERMS 18
#define LOG_PAIRS 4 /* Of those, the first, whose errors the result would show. */

static const struct pair two_by_ln2 = {0xb8aa3b295c17f0bcp-62L, -0x82f0025f2dc582eep-127L};

/* 1 + z/3 + z^2/5 ..., which is artanh(s)/s for z = s^2 */
static struct pair artanh_series(struct pair z)
{
	struct pair sum = {0, 0};

	for (int k = LOG_TERMS; k >= LOG_PAIRS; k--)
		sum.upper = 1.0L / (2 * k + 1) + z.upper * sum.upper;
	for (int k = LOG_PAIRS - 1; k >= 0; k--)
		sum = pair_add(pair_inverse(2 * k + 1), pair_multiply(z, sum));
	return sum;
}

/* log2(m) = 2/ln 2 artanh((m - 1)/(m + 1)), m being x without its exponent, about one. */
static struct pair log2_pair(long double x)
{
	int exponent;
	long double m = frexpl(x, &exponent);
	struct pair s;
	struct pair log;

	if (m < SQRT_HALF) {
		m *= 2;
		exponent--;
	}
	s = pair_divide((struct pair){m - 1, 0}, pair_of_sum(m, 1));
	log = pair_multiply(two_by_ln2, pair_multiply(s, artanh_series(pair_multiply(s, s))));
	return pair_add((struct pair){exponent, 0}, log);
}

/*
 * x^y for a positive x that is not one: 2^(y log2 x).  Half of this exponent's bits are before the
 * point, which is why the logarithm is a pair.
 */
static long double power(long double x, long double y)
{
	long double rough = y * log2l(x);
	struct pair product;
	long double whole;
	long double rest;

	if (fabsl(rough) > 40000)
		return rough > 0 ? HUGE_VALL : 0;
	if (fabsl(rough) < 0x1p-70L)
		return 1;
	product = pair_multiply((struct pair){y, 0}, log2_pair(x));
	whole = x87_rint(product.upper);
	rest = product.upper - whole + product.lower;
	return x87_scale(x87_exp2m1(rest) + 1, whole);
}

static bool is_whole(long double x)
{
	return x87_rint(x) == x;
}

static bool is_odd(long double x)
{
	return is_whole(x) && !is_whole(x / 2);
}

/* An exponent without bound: what it makes of magnitudes below and above one. */
static long double power_infinite(long double magnitude, long double y)
{
	if (magnitude == 1)
		return 1;
	return (magnitude > 1) == (y > 0) ? HUGE_VALL : 0;
}

long double powl(long double x, long double y)
{
	long double magnitude = fabsl(x);
	long double result;

	if (y == 0 || x == 1)
		return 1;
	if (isnan(x) || isnan(y))
		return x + y;
	if (isinf(y))
		return power_infinite(magnitude, y);
	if (x == 0 || isinf(x))
		result = (magnitude == 0) == (y > 0) ? 0 : HUGE_VALL;
	else if (x < 0 && !is_whole(y))
		return NAN;
	else
		result = magnitude == 1 ? 1 : power(magnitude, y);
	return signbit(x) && is_odd(y) ? -result : result;
}

/* One step of Newton's method after the logarithm's estimate. */
long double cbrtl(long double x)
{
	long double magnitude = fabsl(x);
	long double root;

	if (x == 0 || !isfinite(x))
		return x;
	root = exp2l(log2l(magnitude) / 3);
	root -= (root - magnitude / (root * root)) / 3;
	return copysignl(root, x);
}

/* Scaled, so that no square is too large or too small. */
long double hypotl(long double x, long double y)
{
	long double larger = fmaxl(fabsl(x), fabsl(y));
	long double smaller = fminl(fabsl(x), fabsl(y));
	int exponent;

	if (isinf(x) || isinf(y))
		return HUGE_VALL;
	if (isnan(x) || isnan(y))
		return x + y;
	if (larger == 0)
		return 0;
	exponent = ilogbl(larger);
	larger = scalbnl(larger, -exponent);
	smaller = scalbnl(smaller, -exponent);
	return scalbnl(sqrtl(larger * larger + smaller * smaller), exponent);
}

static long double x87_sqrt(long double x)
{
	__asm__("fsqrt" : "+t"(x));
	return x;
}

long double sqrtl(long double x)
{
	return x87_sqrt(x);
}

/* Rounded at once to the precision of the result: rounding twice would sometimes be wrong. */
static long double sqrt_to(long double x, uint16_t precision)
{
	uint16_t control = x87_control();
	long double root;

	x87_set_control((uint16_t)((control & ~X87_PRECISION_MASK) | precision));
	root = x;
	__asm__ volatile("fsqrt" : "+t"(root));
	x87_set_control(control);
	return root;
}

double sqrt(double x)
{
	return (double)sqrt_to(x, X87_DOUBLE);
}

float sqrtf(float x)
{
	return (float)sqrt_to(x, X87_SINGLE);
}
