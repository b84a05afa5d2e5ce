/* SPDX-License-Identifier: MIT */
/* The mathematical functions of the library that is tested (our.h). */
#ifndef LIBC_OUR_MATH_H
#define LIBC_OUR_MATH_H

#define OUR_MATH_1(name)              \
	double our_##name(double x);  \
	float our_##name##f(float x); \
	long double our_##name##l(long double x);
#define OUR_MATH_2(name)                       \
	double our_##name(double x, double y); \
	float our_##name##f(float x, float y); \
	long double our_##name##l(long double x, long double y);

OUR_MATH_1(sin)
OUR_MATH_1(cos)
OUR_MATH_1(tan)
OUR_MATH_1(asin)
OUR_MATH_1(acos)
OUR_MATH_1(atan)
OUR_MATH_1(sinh)
OUR_MATH_1(cosh)
OUR_MATH_1(tanh)
OUR_MATH_1(asinh)
OUR_MATH_1(acosh)
OUR_MATH_1(atanh)
OUR_MATH_1(exp)
OUR_MATH_1(exp2)
OUR_MATH_1(expm1)
OUR_MATH_1(log)
OUR_MATH_1(log2)
OUR_MATH_1(log10)
OUR_MATH_1(log1p)
OUR_MATH_1(logb)
OUR_MATH_1(sqrt)
OUR_MATH_1(cbrt)
OUR_MATH_1(erf)
OUR_MATH_1(erfc)
OUR_MATH_1(tgamma)
OUR_MATH_1(lgamma)
OUR_MATH_1(floor)
OUR_MATH_1(ceil)
OUR_MATH_1(trunc)
OUR_MATH_1(round)
OUR_MATH_1(rint)
OUR_MATH_1(fabs)
OUR_MATH_2(atan2)
OUR_MATH_2(pow)
OUR_MATH_2(hypot)
OUR_MATH_2(fmod)
OUR_MATH_2(remainder)
OUR_MATH_2(copysign)
OUR_MATH_2(fdim)
OUR_MATH_2(fmax)
OUR_MATH_2(fmin)
OUR_MATH_2(nextafter)

extern int our_signgam;

double our_fma(double x, double y, double z);
double our_frexp(double x, int *exponent);
double our_ldexp(double x, int exponent);
double our_modf(double x, double *whole);
double our_remquo(double x, double y, int *quotient);
long double our_remquol(long double x, long double y, int *quotient);
int our_ilogb(double x);
long our_lround(double x);
long long our_llrint(double x);

#endif
