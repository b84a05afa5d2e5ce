/* SPDX-License-Identifier: MIT */
/* Natural numbers of any size (bignum.h). */
#include "bignum.h"

#include <assert.h>
#include <string.h>

#define FIVES         13 /* 5^13 is the greatest power of five in a word. */
#define POWER_OF_FIVE 1220703125u

static void bignum_push(struct bignum *number, uint32_t word)
{
	assert(number->count < number->room);
	number->words[number->count++] = word;
}

static void bignum_trim(struct bignum *number)
{
	while (number->count > 0 && number->words[number->count - 1] == 0)
		number->count--;
}

void __bignum_set(struct bignum *number, uint64_t value)
{
	number->count = 0;
	for (; value > 0; value >>= BIGNUM_WORD)
		bignum_push(number, (uint32_t)value);
}

void __bignum_multiply_add(struct bignum *number, uint32_t factor, uint32_t addend)
{
	uint64_t carry = addend;

	for (size_t i = 0; i < number->count; i++) {
		carry += (uint64_t)number->words[i] * factor;
		number->words[i] = (uint32_t)carry;
		carry >>= BIGNUM_WORD;
	}
	if (carry > 0)
		bignum_push(number, (uint32_t)carry);
}

void __bignum_multiply_power_of_five(struct bignum *number, unsigned exponent)
{
	uint32_t rest = 1;

	for (; exponent >= FIVES; exponent -= FIVES)
		__bignum_multiply_add(number, POWER_OF_FIVE, 0);
	while (exponent-- > 0)
		rest *= 5;
	__bignum_multiply_add(number, rest, 0);
}

void __bignum_shift_left(struct bignum *number, size_t bits)
{
	size_t words = bits / BIGNUM_WORD;

	__bignum_multiply_add(number, 1u << bits % BIGNUM_WORD, 0);
	if (number->count == 0 || words == 0)
		return;
	assert(number->count + words <= number->room);
	memmove(number->words + words, number->words, number->count * sizeof(*number->words));
	memset(number->words, 0, words * sizeof(*number->words));
	number->count += words;
}

size_t __bignum_bits(const struct bignum *number)
{
	if (number->count == 0)
		return 0;
	return number->count * BIGNUM_WORD -
	       (size_t)__builtin_clz(number->words[number->count - 1]);
}

int __bignum_compare(const struct bignum *one, const struct bignum *other)
{
	if (one->count != other->count)
		return one->count < other->count ? -1 : 1;
	for (size_t i = one->count; i-- > 0;) {
		if (one->words[i] != other->words[i])
			return one->words[i] < other->words[i] ? -1 : 1;
	}
	return 0;
}

/* Subtracts a multiple that is not greater than the number. */
static void bignum_subtract(struct bignum *number, const struct bignum *other, uint32_t times)
{
	uint64_t product = 0;
	uint32_t borrow = 0;

	for (size_t i = 0; i < number->count; i++) {
		uint64_t wanted;

		if (i < other->count)
			product += (uint64_t)other->words[i] * times;
		wanted = (uint64_t)(uint32_t)product + borrow;
		borrow = number->words[i] < wanted;
		number->words[i] -= (uint32_t)wanted;
		product >>= BIGNUM_WORD;
	}
	assert(product == 0 && borrow == 0);
	bignum_trim(number);
}

/* One step of a division by hand: the first words give nearly the whole quotient. */
uint32_t __bignum_divide(struct bignum *number, const struct bignum *by)
{
	uint32_t top = by->words[by->count - 1];
	uint32_t quotient = 0;

	assert(top >> (BIGNUM_WORD - 1) != 0);
	assert(number->count <= by->count + 1);
	if (number->count > by->count) {
		const uint32_t *last = number->words + number->count - 1;
		uint64_t first = (uint64_t)last[0] << BIGNUM_WORD | last[-1];
		uint64_t estimate = top == UINT32_MAX ? last[0] : first / ((uint64_t)top + 1);

		/* Divided by more than the divisor: it is never too much, and at most 2 short. */
		quotient = (uint32_t)estimate;
		bignum_subtract(number, by, quotient);
	}
	for (; __bignum_compare(number, by) >= 0; quotient++)
		bignum_subtract(number, by, 1);
	return quotient;
}

uint32_t __bignum_divide_word(struct bignum *number, uint32_t by)
{
	uint32_t remainder = 0;

	/* The remainder is below the divisor, so that the quotient fits its word. */
	for (size_t i = number->count; i-- > 0;)
		__asm__("divl %2" : "+a"(number->words[i]), "+d"(remainder) : "rm"(by) : "cc");
	bignum_trim(number);
	return remainder;
}
