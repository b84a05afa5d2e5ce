/* SPDX-License-Identifier: MIT */
/* Floating-point numbers as the fields they are made of. */
#ifndef LIBC_FLOAT_BITS_H
#define LIBC_FLOAT_BITS_H

#include <stdint.h>

#define EXTENDED_BIAS      16383
#define EXTENDED_MAXIMUM   0x7fff /* The exponent of infinities and of what is no number. */
#define EXTENDED_SIGN      0x8000
#define EXTENDED_INTEGER   0x8000000000000000ull /* The mantissa's first bit, which is stored. */
#define EXTENDED_PRECISION 64

/* x87's format, which holds each float and each double exactly. */
union extended {
	long double value;
	struct {
		uint64_t mantissa;
		uint16_t sign_exponent;
	} bits;
};

#endif
