/* SPDX-License-Identifier: MIT */
/* Angles taken to the first eighth of the circle. */
#ifndef LIBC_MATH_TRIGONOMETRIC_H
#define LIBC_MATH_TRIGONOMETRIC_H

#include <stdint.h>

#include "pair.h"

/* Enough for the greatest exponent, and then for the bits of a result. */
#define TWO_OVER_PI_WORDS 519

extern const uint32_t __two_over_pi[TWO_OVER_PI_WORDS];

/* What a finite x has beside multiples of pi/2, from -pi/4 to pi/4; their number modulo 4. */
struct pair __reduce_angle(long double x, unsigned *quarter);

#endif
