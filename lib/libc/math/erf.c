/* SPDX-License-Identifier: MIT */
/* The error function: a series near zero, a continued fraction for its complement elsewhere. */
#include <math.h>

#include "x87.h"

#define SQRT_PI    1.772453850905516027298167483341145183L
#define SERIES_END 1.5L
#define SERIES     60  /* Terms that are enough up to there. */
#define FRACTION   150 /* And from there on. */
#define UNDERFLOW  110.0L

/* e^(-x^2), where half of the bits of x make an exact square. */
static long double gauss(long double x)
{
	long double upper = rintl(x * 0x1p20L) * 0x1p-20L;

	return expl(-upper * upper) * expl(-(x - upper) * (x + upper));
}

static long double error_near_zero(long double x)
{
	long double square = 2 * x * x;
	long double sum = 1;

	for (int n = SERIES; n > 0; n--)
		sum = 1 + square / (2 * n + 1) * sum;
	return 2 / SQRT_PI * gauss(x) * x * sum;
}

static long double complement_far(long double x)
{
	long double fraction = x;

	if (x > UNDERFLOW)
		return 0;
	for (int k = FRACTION; k > 0; k--)
		fraction = x + k / 2.0L / fraction;
	return gauss(x) / (SQRT_PI * fraction);
}

long double erfl(long double x)
{
	if (isnan(x) || x == 0)
		return x;
	if (fabsl(x) < SERIES_END)
		return error_near_zero(x);
	return copysignl(1 - complement_far(fabsl(x)), x);
}

long double erfcl(long double x)
{
	if (isnan(x))
		return x;
	if (fabsl(x) < SERIES_END)
		return 1 - error_near_zero(x);
	return x > 0 ? complement_far(x) : 2 - complement_far(-x);
}
