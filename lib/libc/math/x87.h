/* SPDX-License-Identifier: MIT */
/* Instructions of the floating-point unit that C has no words for. */
#ifndef LIBC_MATH_X87_H
#define LIBC_MATH_X87_H

#include <stdint.h>

#define X87_ROUND_NEAREST  0x0000
#define X87_ROUND_DOWN     0x0400
#define X87_ROUND_UP       0x0800
#define X87_ROUND_TO_ZERO  0x0c00
#define X87_ROUND_MASK     0x0c00
#define X87_SINGLE         0x0000
#define X87_DOUBLE         0x0200
#define X87_PRECISION_MASK 0x0300

#define LN2_L    0.693147180559945309417232121458176568L
#define LOG10_2L 0.301029995663981195213738894724493027L
#define LOG2_EL  1.442695040888963407359924681001892137L
#define PI_L     3.141592653589793238462643383279502884L

static inline uint16_t x87_control(void)
{
	uint16_t control;

	__asm__ volatile("fnstcw %0" : "=m"(control));
	return control;
}

static inline void x87_set_control(uint16_t control)
{
	__asm__ volatile("fldcw %0" : : "m"(control));
}

/* x as a whole number, in the rounding that is set. */
static inline long double x87_rint(long double x)
{
	__asm__("frndint" : "+t"(x));
	return x;
}

/* x times 2^y; y is a whole number. */
static inline long double x87_scale(long double x, long double y)
{
	__asm__("fscale" : "+t"(x) : "u"(y));
	return x;
}

/* 2^x - 1 for x from -1 to 1. */
static inline long double x87_exp2m1(long double x)
{
	__asm__("f2xm1" : "+t"(x));
	return x;
}

/* y * log2(x). */
static inline long double x87_log2(long double x, long double y)
{
	long double result;

	__asm__("fyl2x" : "=t"(result) : "0"(x), "u"(y) : "st(1)");
	return result;
}

/* y * log2(1 + x) for x from -0.29 to 0.29. */
static inline long double x87_log2p1(long double x, long double y)
{
	long double result;

	__asm__("fyl2xp1" : "=t"(result) : "0"(x), "u"(y) : "st(1)");
	return result;
}

/* The angle of the point (x, y). */
static inline long double x87_atan2(long double y, long double x)
{
	long double result;

	__asm__("fpatan" : "=t"(result) : "0"(x), "u"(y) : "st(1)");
	return result;
}

#endif
