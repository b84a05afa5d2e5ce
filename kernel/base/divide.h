/* SPDX-License-Identifier: MIT */
/*
 * Division of 64-bit numbers, which a 32-bit compiler would leave to a library that we do not have.
 */
#ifndef BASE_DIVIDE_H
#define BASE_DIVIDE_H

#include <stdint.h>

#include "base/assert.h"

/*
 * The quotient, rounded down, bit by bit as on paper: some 500 instructions, for boot and for rare
 * events.  What runs often multiplies by a fixed-point factor.
 */
static inline uint64_t divide(uint64_t dividend, uint64_t divisor)
{
	uint64_t quotient = 0;
	uint64_t remainder = 0;

	assert(divisor != 0 && divisor >> 63 == 0);
	for (int bit = 63; bit >= 0; bit--) {
		remainder = remainder << 1 | (dividend >> bit & 1);
		quotient <<= 1;
		if (remainder >= divisor) {
			remainder -= divisor;
			quotient |= 1;
		}
	}
	return quotient;
}

#endif
