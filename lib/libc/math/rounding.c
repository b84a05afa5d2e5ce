/* SPDX-License-Identifier: MIT */
/* Whole numbers, and remainders, which are exact. */
#include <math.h>

#include "x87.h"

#define X87_C2 0x0400 /* The division is not at its end. */

static long double round_by(long double x, uint16_t mode)
{
	uint16_t control = x87_control();

	x87_set_control((uint16_t)((control & ~X87_ROUND_MASK) | mode));
	__asm__ volatile("frndint" : "+t"(x));
	x87_set_control(control);
	return x;
}

long double floorl(long double x)
{
	return round_by(x, X87_ROUND_DOWN);
}

long double ceill(long double x)
{
	return round_by(x, X87_ROUND_UP);
}

long double truncl(long double x)
{
	return round_by(x, X87_ROUND_TO_ZERO);
}

long double rintl(long double x)
{
	return x87_rint(x);
}

long double nearbyintl(long double x)
{
	return x87_rint(x);
}

/* Away from zero at one half. */
long double roundl(long double x)
{
	long double whole = truncl(x);

	if (fabsl(x - whole) >= 0.5L)
		whole += copysignl(1, x);
	return copysignl(whole, x);
}

long double modfl(long double x, long double *whole)
{
	*whole = truncl(x);
	return copysignl(isinf(x) ? 0 : x - *whole, x);
}

double modf(double x, double *whole)
{
	*whole = (double)truncl(x);
	return (double)copysignl(isinf(x) ? 0 : x - *whole, x);
}

float modff(float x, float *whole)
{
	*whole = (float)truncl(x);
	return (float)copysignl(isinf(x) ? 0 : x - *whole, x);
}

long double fmodl(long double x, long double y)
{
	uint16_t status;

	do
		__asm__ volatile("fprem; fnstsw %1" : "+t"(x), "=a"(status) : "u"(y) : "cc");
	while (status & X87_C2);
	return x;
}

/* Takes `part` from the rest if it goes in, which it does once at most. */
static int take_part(long double *rest, long double part, int bit)
{
	if (*rest < part)
		return 0;
	*rest -= part;
	return bit;
}

/*
 * The last bits of the quotient are counted: the unit's flags have them too, but an emulator's may
 * not.  All differences are exact.  Where a multiple of y is infinite, x is below it.
 */
long double remquol(long double x, long double y, int *quotient)
{
	long double part = fabsl(y);
	long double rest = fabsl(fmodl(x, 8 * part));
	int bits;

	*quotient = 0;
	if (!isfinite(x) || isnan(y) || part == 0)
		return (x * y) / (x * y);
	bits = take_part(&rest, 4 * part, 4);
	bits |= take_part(&rest, 2 * part, 2);
	bits |= take_part(&rest, part, 1);
	if (rest > part - rest || (rest == part - rest && bits & 1)) {
		rest -= part;
		bits = (bits + 1) & 7;
	}
	*quotient = signbit(x) != signbit(y) ? -bits : bits;
	return signbit(x) ? -rest : rest;
}

double remquo(double x, double y, int *quotient)
{
	return (double)remquol(x, y, quotient);
}

float remquof(float x, float y, int *quotient)
{
	return (float)remquol(x, y, quotient);
}

long double remainderl(long double x, long double y)
{
	int quotient;

	return remquol(x, y, &quotient);
}

#define TO_INTEGER(type, name, rounded)  \
	type name(double x)              \
	{                                \
		return (type)rounded(x); \
	}                                \
	type name##f(float x)            \
	{                                \
		return (type)rounded(x); \
	}                                \
	type name##l(long double x)      \
	{                                \
		return (type)rounded(x); \
	}

TO_INTEGER(long, lround, roundl)
TO_INTEGER(long, lrint, rintl)
TO_INTEGER(long long, llround, roundl)
TO_INTEGER(long long, llrint, rintl)
