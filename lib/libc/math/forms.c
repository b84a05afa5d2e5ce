/* SPDX-License-Identifier: MIT */
/*
 * The double and float forms: the long double's result, rounded.  It has eleven bits more than a
 * double, so that this is wrong in the last bit of one in some thousand results at most.
 */
#include <math.h>

#define FORMS_1(name)                      \
	double name(double x)              \
	{                                  \
		return (double)name##l(x); \
	}                                  \
	float name##f(float x)             \
	{                                  \
		return (float)name##l(x);  \
	}

#define FORMS_2(name)                         \
	double name(double x, double y)       \
	{                                     \
		return (double)name##l(x, y); \
	}                                     \
	float name##f(float x, float y)       \
	{                                     \
		return (float)name##l(x, y);  \
	}

FORMS_1(sin)
FORMS_1(cos)
FORMS_1(tan)
FORMS_1(asin)
FORMS_1(acos)
FORMS_1(atan)
FORMS_2(atan2)
FORMS_1(sinh)
FORMS_1(cosh)
FORMS_1(tanh)
FORMS_1(asinh)
FORMS_1(acosh)
FORMS_1(atanh)

FORMS_1(exp)
FORMS_1(exp2)
FORMS_1(expm1)
FORMS_1(log)
FORMS_1(log2)
FORMS_1(log10)
FORMS_1(log1p)
FORMS_1(logb)
FORMS_2(pow)
FORMS_1(cbrt)
FORMS_2(hypot)

FORMS_1(erf)
FORMS_1(erfc)
FORMS_1(tgamma)
FORMS_1(lgamma)

FORMS_2(fmod)
FORMS_2(remainder)
FORMS_1(floor)
FORMS_1(ceil)
FORMS_1(trunc)
FORMS_1(round)
FORMS_1(rint)
FORMS_1(nearbyint)

FORMS_1(fabs)
FORMS_2(copysign)
FORMS_2(fdim)
FORMS_2(fmax)
FORMS_2(fmin)
