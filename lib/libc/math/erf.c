/* SPDX-License-Identifier: MIT */
/* The error function: a series near zero, a continued fraction for its complement elsewhere. */
#include <math.h>

#include "pair.h"
#include "x87.h"

#define SQRT_PI    1.772453850905516027298167483341145183L
#define TINY       0x1p-40L /* x^3 is nothing beside x. */
#define SERIES_END 1.5L
#define SERIES     40  /* Terms that are enough up to there. */
#define FRACTION   150 /* And from there on. */
#define UNDERFLOW  110.0L

static const struct pair two_by_sqrt_pi = {0x906eba8214db688dp-63L, 0xe3a914fed7fd8688p-128L};

/* e^(-x^2), where half of the bits of x make an exact square. */
static long double gauss(long double x)
{
	long double upper = rintl(x * 0x1p20L) * 0x1p-20L;

	return expl(-upper * upper) * expl(-(x - upper) * (x + upper));
}

/*
 * 2/sqrt(pi) (x - x^3/3 + x^5/10 ...), term k being (-x^2)^k / k! (2k + 1).  Its terms take each
 * other away, and an erf() is seldom asked for: all of it is computed in pairs.
 */
static struct pair error_near_zero(long double x)
{
	struct pair square = pair_negate(pair_of_product(x, x));
	struct pair power = {1, 0};
	struct pair sum = {1, 0};

	for (int k = 1; k <= SERIES; k++) {
		power = pair_divide(pair_multiply(power, square), (struct pair){k, 0});
		sum = pair_add(sum, pair_divide(power, (struct pair){2 * k + 1, 0}));
	}
	return pair_multiply(two_by_sqrt_pi, pair_multiply((struct pair){x, 0}, sum));
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
	if (isnan(x))
		return x;
	if (fabsl(x) < TINY)
		return x * two_by_sqrt_pi.upper;
	if (fabsl(x) < SERIES_END)
		return pair_round(error_near_zero(x));
	return copysignl(1 - complement_far(fabsl(x)), x);
}

long double erfcl(long double x)
{
	if (isnan(x))
		return x;
	if (fabsl(x) < TINY)
		return 1 - x;
	if (fabsl(x) < SERIES_END)
		return pair_round(pair_add((struct pair){1, 0}, pair_negate(error_near_zero(x))));
	return x > 0 ? complement_far(x) : 2 - complement_far(-x);
}
