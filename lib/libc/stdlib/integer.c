/* SPDX-License-Identifier: MIT */
/* Integers read from text.  All forms are one reader with another limit. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

/* Text as it was read: a value without its sign, or the word that there was none. */
struct reading {
	unsigned long long value;
	bool negative;
	bool overflow;
	const char *end; /* NULL: no number. */
};

/* The value of one digit, in any base up to 36; 36 if it is none. */
static unsigned digit_value(char digit)
{
	if (isdigit((unsigned char)digit))
		return (unsigned)(digit - '0');
	if (isalpha((unsigned char)digit))
		return (unsigned)(tolower(digit) - 'a') + 10;
	return 36;
}

/* A prefix counts only before a digit: of "0xg", the number is 0. */
static const char *skip_prefix(const char *text, unsigned *base)
{
	bool prefix = text[0] == '0' && (text[1] | 0x20) == 'x' && digit_value(text[2]) < 16;

	if (prefix && (*base == 0 || *base == 16)) {
		*base = 16;
		return text + 2;
	}
	if (*base == 0)
		*base = text[0] == '0' ? 8 : 10;
	return text;
}

static void read_digits(struct reading *reading, const char *text, unsigned base)
{
	for (; digit_value(*text) < base; text++) {
		reading->overflow |=
			__builtin_mul_overflow(reading->value, base, &reading->value) ||
			__builtin_add_overflow(reading->value, digit_value(*text), &reading->value);
		reading->end = text + 1;
	}
}

static struct reading read_number(const char *text, int base)
{
	struct reading reading = {0};
	unsigned unsigned_base = (unsigned)base;

	while (isspace((unsigned char)*text))
		text++;
	reading.negative = *text == '-';
	if (*text == '-' || *text == '+')
		text++;
	text = skip_prefix(text, &unsigned_base);
	read_digits(&reading, text, unsigned_base);
	return reading;
}

/* Leaves in *end where the number ends, or where the text begins if there is none. */
static struct reading read_text(const char *text, char **end, int base)
{
	struct reading reading = {0};

	if (base < 0 || base == 1 || base > 36)
		errno = EINVAL;
	else
		reading = read_number(text, base);
	if (end != NULL)
		*end = (char *)(uintptr_t)(reading.end != NULL ? reading.end : text);
	return reading;
}

/* Numbers below -limit - 1 and above limit become these, with ERANGE. */
static long long read_signed(const char *text, char **end, int base, long long limit)
{
	struct reading reading = read_text(text, end, base);
	unsigned long long most = (unsigned long long)limit + reading.negative;

	if (reading.overflow || reading.value > most) {
		errno = ERANGE;
		reading.value = most;
	}
	return (long long)(reading.negative ? -reading.value : reading.value);
}

/* A number with a minus is its complement, as the standard has it. */
static unsigned long long read_unsigned(const char *text, char **end, int base,
					unsigned long long limit)
{
	struct reading reading = read_text(text, end, base);

	if (reading.overflow || reading.value > limit) {
		errno = ERANGE;
		return limit;
	}
	return reading.negative ? -reading.value : reading.value;
}

long strtol(const char *text, char **end, int base)
{
	return (long)read_signed(text, end, base, LONG_MAX);
}

long long strtoll(const char *text, char **end, int base)
{
	return read_signed(text, end, base, LLONG_MAX);
}

unsigned long strtoul(const char *text, char **end, int base)
{
	return (unsigned long)read_unsigned(text, end, base, ULONG_MAX);
}

unsigned long long strtoull(const char *text, char **end, int base)
{
	return read_unsigned(text, end, base, ULLONG_MAX);
}

intmax_t strtoimax(const char *text, char **end, int base)
{
	return read_signed(text, end, base, INTMAX_MAX);
}

uintmax_t strtoumax(const char *text, char **end, int base)
{
	return read_unsigned(text, end, base, UINTMAX_MAX);
}

int atoi(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

long atol(const char *text)
{
	return strtol(text, NULL, 10);
}

long long atoll(const char *text)
{
	return strtoll(text, NULL, 10);
}
