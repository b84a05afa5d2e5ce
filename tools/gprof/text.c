/* SPDX-License-Identifier: MIT */
/* The rows of tables.  See text.h. */
#include "text.h"

#include <assert.h>
#include <float.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

#define TEXT_MOST   65536u /* Of what is kept when a line ends. */
#define NUMBER_MOST 32u    /* Characters of a number that is made here. */
#define WHOLE_MOST  0x1p63 /* Numbers from there on are printf()'s. */
#define HALF        (UINT64_C(1) << 63)

/* Takes room for so many characters. */
static char *text_take(struct text *text, size_t n)
{
	if (n >= text->room - text->used) {
		text->room = 2 * (text->room + n) + 1;
		text->bytes = reallocate(text->bytes, text->room, 1);
	}
	text->used += n;
	return text->bytes + text->used - n;
}

void text_end_line(struct text *text)
{
	*text_take(text, 1) = '\n';
	if (text->used > TEXT_MOST)
		text_write(text);
}

void text_write(struct text *text)
{
	fwrite(text->bytes, 1, text->used, stdout);
	text->used = 0;
}

void text_free(struct text *text)
{
	free(text->bytes);
	*text = (struct text){0};
}

/* ---------------- Columns ---------------- */

static void text_put_left(struct text *text, const char *characters, size_t n, size_t width)
{
	char *at = text_take(text, n > width ? n : width);

	memcpy(at, characters, n);
	if (n < width)
		memset(at + n, ' ', width - n);
}

static void text_put_right(struct text *text, const char *characters, size_t n, size_t width)
{
	size_t blank = n < width ? width - n : 0;
	char *at = text_take(text, blank + n);

	memset(at, ' ', blank);
	memcpy(at + blank, characters, n);
}

void text_blank(struct text *text, size_t width)
{
	memset(text_take(text, width), ' ', width);
}

void text_string(struct text *text, const char *string)
{
	text_left(text, string, 0);
}

void text_left(struct text *text, const char *string, size_t width)
{
	text_put_left(text, string, strlen(string), width);
}

void text_right(struct text *text, const char *string, size_t width)
{
	text_put_right(text, string, strlen(string), width);
}

/* ---------------- Whole numbers ---------------- */

/* Writes so many digits or more, the last one just before `end`; returns where they begin. */
static char *text_put_digits(char *end, uint64_t number, int least)
{
	char *at = end;

	for (; number > 0 || at > end - least; number /= 10)
		*--at = (char)('0' + number % 10);
	return at;
}

void text_count(struct text *text, uint64_t count, size_t width)
{
	char number[NUMBER_MOST], *end = number + sizeof(number);
	char *at = text_put_digits(end, count, 1);

	text_put_right(text, at, (size_t)(end - at), width);
}

void text_count_left(struct text *text, uint64_t count, size_t width)
{
	char number[NUMBER_MOST], *end = number + sizeof(number);
	char *at = text_put_digits(end, count, 1);

	text_put_left(text, at, (size_t)(end - at), width);
}

/* ---------------- Fractions ---------------- */

/*
 * Rounds what is below 1 to the digits behind the point, as many as `power` of ten has zeros.
 * False if it is so near to the middle between two that it cannot be told which is nearer.
 *
 * In units of 2^-64, rounded down, the fraction is too small by less than one unit, and times
 * `power` by less than so many.  The product has the digits above its lower 64 bits.
 */
static bool text_round_fraction(double fraction, uint32_t power, uint64_t *digits)
{
	uint64_t units = (uint64_t)(fraction * 0x1p64);
	uint64_t low = (units & UINT32_MAX) * power;
	uint64_t high = (units >> 32) * power + (low >> 32);
	uint64_t rest = high << 32 | (low & UINT32_MAX);

	*digits = (high >> 32) + (rest > HALF);
	return HALF - rest >= power;
}

/* The digits of a number before `end`; NULL if printf() must say which they are. */
static char *text_put_fixed(char *end, double value, int decimals)
{
	static const uint32_t powers[] = {1, 10, 100, 1000, 10000};
	uint64_t whole, digits;

	assert(decimals >= 0 && decimals < (int)(sizeof(powers) / sizeof(*powers)));
	if (!(value >= 0 && value < WHOLE_MOST))
		return NULL;
	whole = (uint64_t)value;
	if (!text_round_fraction(value - (double)whole, powers[decimals], &digits))
		return NULL;
	if (decimals > 0) {
		end = text_put_digits(end, digits % powers[decimals], decimals);
		*--end = '.';
	}
	return text_put_digits(end, whole + digits / powers[decimals], 1);
}

void text_fixed(struct text *text, double value, int decimals, size_t width)
{
	char number[NUMBER_MOST + DBL_MAX_10_EXP], *end = number + sizeof(number);
	char *at = text_put_fixed(end, value, decimals);

	if (at != NULL) {
		text_put_right(text, at, (size_t)(end - at), width);
	} else {
		snprintf(number, sizeof(number), "%.*f", decimals, value);
		text_right(text, number, width);
	}
}
