/* SPDX-License-Identifier: MIT */
/* Whole numbers, and remainders, which are exact. */
#include <math.h>

#include "x87.h"

#define X87_C0 0x0100
#define X87_C1 0x0200
#define X87_C2 0x0400 /* The division is not at its end. */
#define X87_C3 0x4000

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

/* The last three bits of the quotient come out of the last step. */
long double remquol(long double x, long double y, int *quotient)
{
	int negative = signbit(x) != signbit(y);
	uint16_t status;
	int bits;

	do
		__asm__ volatile("fprem1; fnstsw %1" : "+t"(x), "=a"(status) : "u"(y) : "cc");
	while (status & X87_C2);
	bits = (status & X87_C0 ? 4 : 0) | (status & X87_C3 ? 2 : 0) | (status & X87_C1 ? 1 : 0);
	*quotient = negative ? -bits : bits;
	return x;
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
