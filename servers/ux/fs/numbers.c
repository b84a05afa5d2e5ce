/* SPDX-License-Identifier: MIT */
/* Sets of numbers: see numbers.h. */
#include "fs/numbers.h"

#define BITS 32u

static size_t numbers_size(const struct numbers *numbers)
{
	return (numbers->end + BITS - 1) / BITS * sizeof *numbers->bits;
}

bool numbers_open(struct numbers *numbers, uint32_t end)
{
	numbers->end = end;
	numbers->bits = ux_allocate_pages(numbers_size(numbers));
	return numbers->bits != NULL;
}

void numbers_close(struct numbers *numbers)
{
	if (numbers->bits != NULL)
		ux_free_pages(numbers->bits, numbers_size(numbers));
	numbers->bits = NULL;
}

bool numbers_have(const struct numbers *numbers, uint32_t number)
{
	assert(number < numbers->end);
	return (numbers->bits[number / BITS] >> number % BITS & 1) != 0;
}

void numbers_add(struct numbers *numbers, uint32_t number)
{
	numbers->count += !numbers_have(numbers, number);
	numbers->bits[number / BITS] |= 1u << number % BITS;
}

void numbers_remove(struct numbers *numbers, uint32_t number)
{
	numbers->count -= numbers_have(numbers, number);
	numbers->bits[number / BITS] &= ~(1u << number % BITS);
}

void numbers_clear(struct numbers *numbers)
{
	if (numbers->count > 0)
		memset(numbers->bits, 0, numbers_size(numbers));
	numbers->count = 0;
}

void numbers_move(struct numbers *numbers, struct numbers *from)
{
	uint32_t number = 0;

	assert(numbers->end == from->end);
	while (numbers_take(from, &number))
		numbers_add(numbers, number);
}

bool numbers_take(struct numbers *numbers, uint32_t *from)
{
	uint32_t word = *from / BITS;

	if (numbers->count == 0)
		return false;
	while (numbers->bits[word] == 0)
		word++;
	*from = word * BITS + (uint32_t)__builtin_ctz(numbers->bits[word]);
	numbers->bits[word] &= numbers->bits[word] - 1;
	numbers->count--;
	return true;
}
