/* SPDX-License-Identifier: MIT */
/* Binary to decimal (decimal.h). */
#include "decimal.h"

#include <stdbool.h>

#include "bignum.h"

#define GROUP         1000000000u
#define MANTISSA_BITS 64

static const uint32_t powers_of_ten[DECIMAL_GROUP + 1] = {
	1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, GROUP,
};

/* A group holds more than 29 bits.  One more for what is left over, and one for a carry. */
static size_t integer_groups(int exponent)
{
	return (size_t)(exponent > -MANTISSA_BITS ? exponent + MANTISSA_BITS : 0) / 29 + 2;
}

/* Each bit behind the binary point makes one digit behind the decimal one. */
static size_t fraction_groups(int exponent)
{
	return exponent < 0 ? (size_t)-exponent / DECIMAL_GROUP + 1 : 0;
}

static size_t words_of(int exponent)
{
	size_t bits = (size_t)(exponent < 0 ? -exponent : exponent) + MANTISSA_BITS;

	return bits / BIGNUM_WORD + 3;
}

size_t __decimal_room(int exponent)
{
	return integer_groups(exponent) + fraction_groups(exponent) + words_of(exponent);
}

/* The part before the point: its last nine digits are the remainder of a division, and so on. */
static void make_integers(struct decimal *decimal, struct bignum *number)
{
	for (size_t group = decimal->integers; group-- > 0;)
		decimal->groups[group] = __bignum_divide_word(number, GROUP);
}

/*
 * The part behind the point, a fraction of 2^bits: its first nine digits are what comes above this
 * when it is multiplied.  The fraction is shifted so that this is a word of its own.
 */
static void make_fractions(struct decimal *decimal, struct bignum *number, size_t bits)
{
	size_t words = (bits + BIGNUM_WORD - 1) / BIGNUM_WORD;

	__bignum_shift_left(number, words * BIGNUM_WORD - bits);
	while (number->count > 0) {
		uint32_t group = 0;

		__bignum_multiply_add(number, GROUP, 0);
		if (number->count > words) {
			group = number->words[words];
			number->count = words;
			while (number->count > 0 && number->words[number->count - 1] == 0)
				number->count--;
		}
		decimal->groups[decimal->count++] = group;
	}
}

void __decimal_make(struct decimal *decimal, uint64_t mantissa, int exponent, uint32_t *room)
{
	size_t groups = integer_groups(exponent) + fraction_groups(exponent);
	size_t bits = exponent < 0 ? (size_t)-exponent : 0;
	bool is_fraction = bits >= MANTISSA_BITS;
	struct bignum number = {.words = room + groups, .room = words_of(exponent)};

	decimal->groups = room;
	decimal->integers = decimal->count = integer_groups(exponent);
	__bignum_set(&number, is_fraction ? 0 : mantissa >> bits);
	if (exponent > 0)
		__bignum_shift_left(&number, (size_t)exponent);
	make_integers(decimal, &number);
	__bignum_set(&number, is_fraction ? mantissa : mantissa & ((1ull << bits) - 1));
	make_fractions(decimal, &number, bits);
}

static bool are_zero(const struct decimal *decimal, size_t from)
{
	while (from < decimal->count && decimal->groups[from] == 0)
		from++;
	return from == decimal->count;
}

/* Adds to a group and carries on. */
static void add(struct decimal *decimal, size_t group, uint32_t value)
{
	for (; (decimal->groups[group] += value) >= GROUP; value = 1)
		decimal->groups[group--] -= GROUP;
}

void __decimal_round(struct decimal *decimal, size_t digit)
{
	size_t group = digit / DECIMAL_GROUP;
	uint32_t unit = powers_of_ten[DECIMAL_GROUP - digit % DECIMAL_GROUP];
	uint32_t dropped;
	bool odd;
	bool up;

	if (digit == 0 || group >= decimal->count)
		return;
	dropped = decimal->groups[group] % unit;
	odd = __decimal_digit(decimal, digit - 1) % 2 != 0;
	up = dropped > unit / 2 || (dropped == unit / 2 && (odd || !are_zero(decimal, group + 1)));
	decimal->groups[group] -= dropped;
	for (size_t i = group + 1; i < decimal->integers; i++)
		decimal->groups[i] = 0;
	if (decimal->count > group + 1)
		decimal->count = group + 1 > decimal->integers ? group + 1 : decimal->integers;
	if (up && unit == GROUP)
		add(decimal, group - 1, 1);
	else if (up)
		add(decimal, group, unit);
}

unsigned __decimal_digit(const struct decimal *decimal, size_t digit)
{
	size_t group = digit / DECIMAL_GROUP;

	if (group >= decimal->count)
		return 0;
	return decimal->groups[group] / powers_of_ten[DECIMAL_GROUP - 1 - digit % DECIMAL_GROUP] %
	       10;
}

size_t __decimal_first(const struct decimal *decimal)
{
	size_t group = 0;
	size_t digit;

	while (group < decimal->count && decimal->groups[group] == 0)
		group++;
	for (digit = group * DECIMAL_GROUP; group < decimal->count; digit++) {
		if (__decimal_digit(decimal, digit) != 0)
			break;
	}
	return digit;
}
