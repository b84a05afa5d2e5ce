/* SPDX-License-Identifier: MIT */
/*
 * The gamma function and its logarithm.
 *
 * About 2 the logarithm is a series whose terms are the zeta function's values.  Everything else is
 * led there: by factors, from one x to the next, or by reflection, from negative ones.  Only the
 * logarithm of large ones is Stirling's series.
 */
#include <math.h>
#include <stdbool.h>

#include "x87.h"

#define EULER           0.577215664901532860606512090082402431L
#define LOG_2PI_2       0.918938533204672741780329736405617640L /* Half the logarithm of 2 pi. */
#define STIRLING        12.0L    /* From here on that series is exact. */
#define GREATEST        1760.0L  /* Beyond, gamma is infinite. */
#define LEAST           -1800.0L /* Below, it is zero. */
#define ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

/* (zeta(k) - 1) / k, from k = 2 on. */
static const long double zeta_terms[] = {
	3.224670334241132182362076e-1L,  6.735230105319809513324605e-2L,
	2.058080842778454787900092e-2L,  7.385551028673985266273097e-3L,
	2.890510330741523285752988e-3L,  1.192753911703260977113936e-3L,
	5.096695247430424223356548e-4L,  2.231547584535793797614188e-4L,
	9.945751278180853371459589e-5L,  4.492623673813314170020750e-5L,
	2.050721277567069155316650e-5L,  9.439488275268395903987425e-6L,
	4.374866789907487804181793e-6L,  2.039215753801366236781901e-6L,
	9.551412130407419832857180e-7L,  4.492469198764566043294290e-7L,
	2.120718480555466586923136e-7L,  1.004322482396809960872083e-7L,
	4.769810169363980565760193e-8L,  2.271109460894316491031998e-8L,
	1.083865921489695409107492e-8L,  5.183475041970046655121249e-9L,
	2.483674543802478317185009e-9L,  1.192140140586091207442548e-9L,
	5.731367241678862013330195e-10L, 2.759522885124233145178150e-10L,
	1.330476437424448948149716e-10L, 6.422964563838100022082448e-11L,
	3.104424774732227276239216e-11L, 1.502138408075414217093301e-11L,
	7.275974480239079662504550e-12L, 3.527742476575915083615072e-12L,
};

/* Bernoulli's number 2k over 2k (2k - 1), from k = 1 on. */
static const long double stirling_terms[] = {
	1.0L / 12,         -1.0L / 360,         1.0L / 1260,     -1.0L / 1680,
	1.0L / 1188,       -691.0L / 360360,    1.0L / 156,      -3617.0L / 122400,
	43867.0L / 244188, -174611.0L / 125400, 77683.0L / 5796, -236364091.0L / 1506960,
};

int signgam;

/* The logarithm of gamma(2 + z), z from -0.5 to 0.5. */
static long double log_gamma_about_2(long double z)
{
	long double sum = 0;

	for (unsigned i = ELEMENTS(zeta_terms); i-- > 0;)
		sum = zeta_terms[i] - z * sum;
	return z * ((1 - EULER) + z * sum);
}

static long double log_gamma_large(long double x)
{
	long double square = 1 / (x * x);
	long double sum = 0;

	for (unsigned i = ELEMENTS(stirling_terms); i-- > 0;)
		sum = stirling_terms[i] + square * sum;
	return (x - 0.5L) * (logl(x) - 1) - 0.5L + LOG_2PI_2 + sum / x;
}

/* gamma(x) is the product of x - 1, x - 2 ... times gamma of the last, from 1.5 to 2.5. */
static long double descend(long double *x)
{
	long double product = 1;

	while (*x > 2.5L) {
		*x -= 1;
		product *= *x;
	}
	return product;
}

static long double log_gamma_positive(long double x)
{
	long double product;

	if (x >= STIRLING)
		return log_gamma_large(x);
	if (x < 0.5L)
		return log_gamma_about_2(x) - log1pl(x) - logl(x);
	if (x < 1.5L)
		return log_gamma_about_2(x - 1) - log1pl(x - 1);
	product = descend(&x);
	return log_gamma_about_2(x - 2) + logl(product);
}

static long double gamma_positive(long double x)
{
	long double product;

	if (x < 0.5L)
		return expl(log_gamma_about_2(x)) / (x * (1 + x));
	if (x < 1.5L)
		return expl(log_gamma_about_2(x - 1)) / x;
	product = descend(&x);
	return expl(log_gamma_about_2(x - 2)) * product;
}

/* The sine of pi x, exactly zero for whole numbers. */
static long double sine_of_pi(long double x)
{
	long double whole = rintl(x);
	long double sine = sinl(PI_L * (x - whole));

	return fmodl(whole, 2) != 0 ? -sine : sine;
}

static bool is_pole(long double x)
{
	return x <= 0 && rintl(x) == x;
}

long double tgammal(long double x)
{
	if (isnan(x) || x == HUGE_VALL)
		return x;
	if (x == 0)
		return 1 / x;
	if (is_pole(x))
		return NAN;
	if (x > GREATEST)
		return HUGE_VALL;
	if (x > 0)
		return gamma_positive(x);
	if (x < LEAST)
		return copysignl(0, sine_of_pi(x));
	return PI_L / (sine_of_pi(x) * gamma_positive(1 - x));
}

long double lgammal(long double x)
{
	long double sine;

	signgam = 1;
	if (isnan(x))
		return x;
	if (isinf(x) || is_pole(x)) {
		signgam = x == 0 && signbit(x) ? -1 : 1;
		return HUGE_VALL;
	}
	if (x > 0)
		return log_gamma_positive(x);
	sine = sine_of_pi(x);
	signgam = sine < 0 ? -1 : 1;
	return logl(PI_L / fabsl(x * sine)) - log_gamma_positive(-x);
}
