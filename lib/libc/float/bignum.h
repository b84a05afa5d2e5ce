/* SPDX-License-Identifier: MIT */
/*
 * Natural numbers of any size, for exact conversion between binary and decimal.
 *
 * The caller gives the room, mostly on its stack; the words are least significant first, and the
 * last of `count` is not zero.  A result that does not fit its room is a mistake of the caller's,
 * who knows the exponents; it is asserted.
 */
#ifndef LIBC_FLOAT_BIGNUM_H
#define LIBC_FLOAT_BIGNUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BIGNUM_WORD 32 /* Bits. */

struct bignum {
	uint32_t *words;
	size_t count;
	size_t room;
};

void __bignum_set(struct bignum *number, uint64_t value);
void __bignum_multiply_add(struct bignum *number, uint32_t factor, uint32_t addend);
void __bignum_multiply_power_of_five(struct bignum *number, unsigned exponent);
void __bignum_shift_left(struct bignum *number, size_t bits);
size_t __bignum_bits(const struct bignum *number);

/* Less than, equal to or greater than zero, as the numbers' difference is. */
int __bignum_compare(const struct bignum *one, const struct bignum *other);

/*
 * The quotient, which is below 2^32; leaves the remainder.  The top bit of the divisor's last word
 * is set.
 */
uint32_t __bignum_divide(struct bignum *number, const struct bignum *by);

/* The remainder of a division by one word; leaves the quotient. */
uint32_t __bignum_divide_word(struct bignum *number, uint32_t by);

#endif
