/* SPDX-License-Identifier: MIT */
/* Mathematics, in double and, with f and l behind the name, in float and long double. */
#ifndef _MATH_H
#define _MATH_H

/* As x87 has it: everything is computed as long double. */
typedef long double float_t;
typedef long double double_t;

#define HUGE_VAL  __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define HUGE_VALL __builtin_huge_vall()
#define INFINITY  __builtin_inff()
#define NAN       __builtin_nanf("")

#define M_E        2.7182818284590452354
#define M_LOG2E    1.4426950408889634074
#define M_LOG10E   0.43429448190325182765
#define M_LN2      0.69314718055994530942
#define M_LN10     2.30258509299404568402
#define M_PI       3.14159265358979323846
#define M_PI_2     1.57079632679489661923
#define M_PI_4     0.78539816339744830962
#define M_1_PI     0.31830988618379067154
#define M_2_PI     0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2    1.41421356237309504880
#define M_SQRT1_2  0.70710678118654752440

#define FP_NAN       0
#define FP_INFINITE  1
#define FP_ZERO      2
#define FP_SUBNORMAL 3
#define FP_NORMAL    4

#define FP_ILOGB0   (-2147483647 - 1)
#define FP_ILOGBNAN (-2147483647 - 1)

/* Errors are told by the result and by x87's flags, not by errno. */
#define MATH_ERRNO       1
#define MATH_ERREXCEPT   2
#define math_errhandling MATH_ERREXCEPT

/* clang-format off */
#define fpclassify(x) \
	__builtin_fpclassify(FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO, x)
/* clang-format on */
#define isfinite(x)          __builtin_isfinite(x)
#define isinf(x)             __builtin_isinf_sign(x)
#define isnan(x)             __builtin_isnan(x)
#define isnormal(x)          __builtin_isnormal(x)
#define signbit(x)           __builtin_signbit(x)
#define isgreater(x, y)      __builtin_isgreater(x, y)
#define isgreaterequal(x, y) __builtin_isgreaterequal(x, y)
#define isless(x, y)         __builtin_isless(x, y)
#define islessequal(x, y)    __builtin_islessequal(x, y)
#define islessgreater(x, y)  __builtin_islessgreater(x, y)
#define isunordered(x, y)    __builtin_isunordered(x, y)

#define __MATH_1(name)          \
	double name(double x);  \
	float name##f(float x); \
	long double name##l(long double x);
#define __MATH_2(name)                   \
	double name(double x, double y); \
	float name##f(float x, float y); \
	long double name##l(long double x, long double y);
#define __MATH_TO(type, name)  \
	type name(double x);   \
	type name##f(float x); \
	type name##l(long double x);
#define __MATH_WITH(name, type)         \
	double name(double x, type y);  \
	float name##f(float x, type y); \
	long double name##l(long double x, type y);

__MATH_1(sin)
__MATH_1(cos)
__MATH_1(tan)
__MATH_1(asin)
__MATH_1(acos)
__MATH_1(atan)
__MATH_2(atan2)
__MATH_1(sinh)
__MATH_1(cosh)
__MATH_1(tanh)
__MATH_1(asinh)
__MATH_1(acosh)
__MATH_1(atanh)

__MATH_1(exp)
__MATH_1(exp2)
__MATH_1(expm1)
__MATH_1(log)
__MATH_1(log2)
__MATH_1(log10)
__MATH_1(log1p)
__MATH_1(logb)
__MATH_2(pow)
__MATH_1(sqrt)
__MATH_1(cbrt)
__MATH_2(hypot)

__MATH_1(erf)
__MATH_1(erfc)
__MATH_1(tgamma)
__MATH_1(lgamma)

__MATH_2(fmod)
__MATH_2(remainder)
__MATH_1(floor)
__MATH_1(ceil)
__MATH_1(trunc)
__MATH_1(round)
__MATH_1(rint)
__MATH_1(nearbyint)
__MATH_TO(long, lround)
__MATH_TO(long, lrint)
__MATH_TO(long long, llround)
__MATH_TO(long long, llrint)

__MATH_1(fabs)
__MATH_2(copysign)
__MATH_2(fdim)
__MATH_2(fmax)
__MATH_2(fmin)
__MATH_2(nextafter)
__MATH_WITH(nexttoward, long double)
__MATH_WITH(ldexp, int)
__MATH_WITH(scalbn, int)
__MATH_WITH(scalbln, long)
__MATH_WITH(frexp, int *)
__MATH_TO(int, ilogb)

double modf(double x, double *whole);
float modff(float x, float *whole);
long double modfl(long double x, long double *whole);
double remquo(double x, double y, int *quotient);
float remquof(float x, float y, int *quotient);
long double remquol(long double x, long double y, int *quotient);
double fma(double x, double y, double z);
float fmaf(float x, float y, float z);
double nan(const char *tag);
float nanf(const char *tag);
long double nanl(const char *tag);

extern int signgam; /* The sign of what lgamma() gave the logarithm of. */

#endif
