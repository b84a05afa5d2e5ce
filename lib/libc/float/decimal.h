/* SPDX-License-Identifier: MIT */
/*
 * The exact decimal digits of a floating-point number, in groups of nine.
 *
 * The groups before the point come first; there is always one of them more than the number needs,
 * for a carry.  Digits are counted from the first of the first group; what is behind the last
 * group is zero.
 */
#ifndef LIBC_FLOAT_DECIMAL_H
#define LIBC_FLOAT_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#define DECIMAL_GROUP 9 /* Digits. */

struct decimal {
	uint32_t *groups;
	size_t integers; /* Groups before the point. */
	size_t count;
};

/* The number is mantissa * 2^exponent; how many words __decimal_make() needs for it. */
size_t __decimal_room(int exponent);

/* `room` has so many words.  It is used as long as `decimal` is. */
void __decimal_make(struct decimal *decimal, uint64_t mantissa, int exponent, uint32_t *room);

/* Rounds to the nearest number without the digits from `digit` on; to an even one of two. */
void __decimal_round(struct decimal *decimal, size_t digit);

unsigned __decimal_digit(const struct decimal *decimal, size_t digit);

/* The first digit that is not zero; all digits' number for the number zero. */
size_t __decimal_first(const struct decimal *decimal);

#endif
