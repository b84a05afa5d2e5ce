/* SPDX-License-Identifier: MIT */
/* Numbers taken apart: sign, exponent, neighbours. */
#include <limits.h>
#include <math.h>

#include "../float/bits.h"
#include "x87.h"

long double fabsl(long double x)
{
	return __builtin_fabsl(x);
}

long double copysignl(long double x, long double y)
{
	return __builtin_copysignl(x, y);
}

/* What is no number counts as missing. */
long double fmaxl(long double x, long double y)
{
	if (isnan(x))
		return y;
	return isnan(y) || x > y || (x == y && !signbit(x)) ? x : y;
}

long double fminl(long double x, long double y)
{
	if (isnan(x))
		return y;
	return isnan(y) || x < y || (x == y && signbit(x)) ? x : y;
}

long double fdiml(long double x, long double y)
{
	if (isnan(x) || isnan(y))
		return x + y;
	return x > y ? x - y : 0;
}

static int exponent_of(long double x)
{
	union extended parts = {.value = x};
	int exponent = parts.bits.sign_exponent & EXTENDED_MAXIMUM;

	if (exponent > 0)
		return exponent - EXTENDED_BIAS;
	return 1 - EXTENDED_BIAS - __builtin_clzll(parts.bits.mantissa);
}

int ilogbl(long double x)
{
	if (x == 0)
		return FP_ILOGB0;
	if (isnan(x))
		return FP_ILOGBNAN;
	return isinf(x) ? INT_MAX : exponent_of(x);
}

int ilogb(double x)
{
	return ilogbl(x);
}

int ilogbf(float x)
{
	return ilogbl(x);
}

long double logbl(long double x)
{
	if (x == 0)
		return -HUGE_VALL;
	if (!isfinite(x))
		return x * x;
	return exponent_of(x);
}

long double scalblnl(long double x, long exponent)
{
	return x87_scale(x, exponent > 40000 ? 40000 : exponent < -40000 ? -40000 : exponent);
}

long double scalbnl(long double x, int exponent)
{
	return scalblnl(x, exponent);
}

long double ldexpl(long double x, int exponent)
{
	return scalblnl(x, exponent);
}

long double frexpl(long double x, int *exponent)
{
	*exponent = 0;
	if (x == 0 || !isfinite(x))
		return x;
	*exponent = exponent_of(x) + 1;
	return scalblnl(x, -*exponent);
}

double frexp(double x, int *exponent)
{
	return (double)frexpl(x, exponent);
}

float frexpf(float x, int *exponent)
{
	return (float)frexpl(x, exponent);
}

#define SCALE(name, type)                             \
	double name(double x, type exponent)          \
	{                                             \
		return (double)scalblnl(x, exponent); \
	}                                             \
	float name##f(float x, type exponent)         \
	{                                             \
		return (float)scalblnl(x, exponent);  \
	}

SCALE(scalbn, int)
SCALE(ldexp, int)
SCALE(scalbln, long)

/* The bits of a positive number, taken as an integer, are in the order of the numbers. */
#define NEXT(name, real, other, integer, bits_of)                   \
	real name(real x, other y)                                  \
	{                                                           \
		union {                                             \
			real value;                                 \
			integer bits;                               \
		} parts = {.value = x};                             \
                                                                    \
		if (isnan(x) || isnan(y))                           \
			return (real)(x + y);                       \
		if (x == y)                                         \
			return (real)y;                             \
		if (x == 0) {                                       \
			parts.bits = 1;                             \
			return y > 0 ? parts.value : -parts.value;  \
		}                                                   \
		parts.bits += (x < y) == (x > 0) ? 1 : (integer)-1; \
		return parts.value;                                 \
	}

NEXT(nextafter, double, double, uint64_t, )
NEXT(nexttoward, double, long double, uint64_t, )
NEXT(nextafterf, float, float, uint32_t, )
NEXT(nexttowardf, float, long double, uint32_t, )

/* Here the first bit of the mantissa is stored, and stays set when the others pass it. */
long double nextafterl(long double x, long double y)
{
	union extended parts = {.value = x};
	uint64_t first = 0;

	if (isnan(x) || isnan(y))
		return x + y;
	if (x == y)
		return y;
	if (x == 0) {
		parts.bits.sign_exponent = y > 0 ? 0 : EXTENDED_SIGN;
		parts.bits.mantissa = 1;
		return parts.value;
	}
	if ((x < y) == (x > 0)) {
		if (++parts.bits.mantissa << 1 == 0) {
			parts.bits.mantissa = EXTENDED_INTEGER;
			parts.bits.sign_exponent++;
		}
		return parts.value;
	}
	if (parts.bits.mantissa == EXTENDED_INTEGER && parts.bits.sign_exponent << 1 != 0) {
		parts.bits.sign_exponent--;
		first = parts.bits.sign_exponent << 1 & UINT16_MAX ? EXTENDED_INTEGER : 0;
	}
	parts.bits.mantissa = (parts.bits.mantissa - 1) | first;
	return parts.value;
}

long double nexttowardl(long double x, long double y)
{
	return nextafterl(x, y);
}

double nan(const char *tag)
{
	(void)tag;
	return NAN;
}

float nanf(const char *tag)
{
	(void)tag;
	return NAN;
}

long double nanl(const char *tag)
{
	(void)tag;
	return NAN;
}
