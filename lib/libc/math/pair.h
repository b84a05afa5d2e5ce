/* SPDX-License-Identifier: MIT */
/*
 * Numbers of twice the precision: the sum of two long doubles, of which the lower is what rounding
 * took from the upper.  For the few steps of a computation whose errors a result would show.
 *
 * Everything is finite and far from the ends of the exponents' range: who calls sees to that.
 */
#ifndef LIBC_MATH_PAIR_H
#define LIBC_MATH_PAIR_H

#include "exact.h"

struct pair {
	long double upper;
	long double lower; /* At most half of the upper one's last bit. */
};

/* The larger summand is `x`, or both are of one size. */
static inline struct pair pair_join(long double x, long double y)
{
	long double sum = x + y;

	return (struct pair){sum, y - (sum - x)};
}

/* x + y exactly, whichever is larger. */
static inline struct pair pair_of_sum(long double x, long double y)
{
	long double sum = x + y;
	long double y_part = sum - x;

	return (struct pair){sum, (x - (sum - y_part)) + (y - y_part)};
}

/* x * y exactly. */
static inline struct pair pair_of_product(long double x, long double y)
{
	long double product = x * y;

	return (struct pair){product, product_error(x, y, product)};
}

static inline struct pair pair_add(struct pair x, struct pair y)
{
	struct pair sum = pair_of_sum(x.upper, y.upper);

	return pair_join(sum.upper, sum.lower + x.lower + y.lower);
}

static inline struct pair pair_multiply(struct pair x, struct pair y)
{
	struct pair product = pair_of_product(x.upper, y.upper);
	long double rest = x.upper * y.lower + x.lower * y.upper;

	return pair_join(product.upper, product.lower + rest);
}

static inline struct pair pair_divide(struct pair x, struct pair y)
{
	long double quotient = x.upper / y.upper;
	struct pair back = pair_of_product(quotient, y.upper);
	long double rest = x.upper - back.upper - back.lower + x.lower - quotient * y.lower;

	return pair_join(quotient, rest / y.upper);
}

/* One to be divided by a small whole number, for the terms of a series. */
static inline struct pair pair_inverse(long double divisor)
{
	return pair_divide((struct pair){1, 0}, (struct pair){divisor, 0});
}

static inline struct pair pair_negate(struct pair x)
{
	return (struct pair){-x.upper, -x.lower};
}

static inline long double pair_round(struct pair x)
{
	return x.upper + x.lower;
}

#endif
