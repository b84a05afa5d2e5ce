/* SPDX-License-Identifier: MIT */
/* libc: yes */
/* printf against the host's, which both must do to the letter. */
#define _GNU_SOURCE
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libc/our.h"

#pragma GCC diagnostic ignored "-Wformat-nonliteral"

#define ROOM  24000
#define MANY  100000
#define FLAGS "-+ #0"
#define SHOWN 60

static char ours[ROOM];
static char theirs[ROOM];

/* Both results and both texts; tells of the first that differ. */
static bool same(const char *format, int our_count, int their_count)
{
	if (our_count == their_count && strcmp(ours, theirs) == 0)
		return true;
	check_fail("%s: %d %.*s, not %d %.*s", format, our_count, SHOWN, ours, their_count, SHOWN,
		   theirs);
	return false;
}

#define SAME(format, ...)                                           \
	same(format, our_snprintf(ours, ROOM, format, __VA_ARGS__), \
	     snprintf(theirs, ROOM, format, __VA_ARGS__))

/*
 * A format with random flags, width and precision.  Not %#g: when 9.5 becomes 10, the host forgets
 * the zeros that the flag asks for.
 */
static void make_format(char *format, const char *length, const char *letters)
{
	uint64_t bits = our_random();
	char *to = format;
	char *mark;
	char letter;

	*to++ = '%';
	for (int i = 0; FLAGS[i] != '\0'; i++, bits >>= 2) {
		if ((bits & 3) == 0)
			*to++ = FLAGS[i];
	}
	if ((bits & 3) == 0)
		to += sprintf(to, "%u", (unsigned)(our_random() % 40));
	bits >>= 2;
	if ((bits & 1) == 0)
		to += sprintf(to, ".%u", (unsigned)(our_random() % ((bits & 12) == 0 ? 400 : 25)));
	bits >>= 4;
	letter = letters[bits % strlen(letters)];
	sprintf(to, "%s%c|", length, letter);
	mark = strchr(format, '#');
	if (tolower(letter) == 'g' && mark != NULL)
		*mark = '-';
}

static double random_double(void)
{
	union {
		uint64_t bits;
		double value;
	} number = {.bits = our_random()};

	switch (our_random() % 4) {
	case 0: /* Few digits. */
		return (double)((int64_t)number.bits >> 40) / 1000;
	case 1: /* Halves, which must become even. */
		return (double)((int64_t)number.bits >> 54) / 64;
	case 2: /* Near a power of two. */
		number.bits &= 0xfff0000000000003ull;
		return number.value;
	default:
		return number.value;
	}
}

static long double random_long_double(void)
{
	union {
		struct {
			uint64_t mantissa;
			uint16_t exponent;
		} bits;
		long double value;
	} number = {.bits = {our_random() | 1ull << 63, (uint16_t)our_random()}};

	if (our_random() % 2 == 0)
		number.bits.exponent = (uint16_t)(16383 - 100 + our_random() % 200);
	if ((number.bits.exponent & 0x7fff) == 0)
		number.bits.mantissa &= ~(1ull << 63);
	return number.value;
}

TEST(print_integers)
{
	char format[32];

	for (int i = 0; i < MANY && !check_failed(); i++) {
		uint64_t value = our_random() >> our_random() % 64;

		make_format(format, "", "diouxXc");
		if (format[strlen(format) - 2] != 'c' || (value & 0xff) != 0)
			SAME(format, (int)value);
		make_format(format, "ll", "diouxX");
		SAME(format, (long long)value);
		make_format(format, "hh", "diouxX");
		SAME(format, (int)value);
		make_format(format, "h", "diouxX");
		SAME(format, (int)value);
		make_format(format, "l", "diouxX");
		SAME(format, (long)value);
	}
}

TEST(print_doubles)
{
	char format[32];

	for (int i = 0; i < MANY && !check_failed(); i++) {
		double number = random_double();

		make_format(format, "", "eEfFgGaA");
		SAME(format, number);
	}
}

TEST(print_doubles_to_17_digits)
{
	for (int i = 0; i < MANY && !check_failed(); i++) {
		double number = random_double();

		SAME("%.17g %g %f %.3f", number, number, number, number);
	}
}

TEST(print_long_doubles)
{
	char format[32];

	for (int i = 0; i < MANY / 20 && !check_failed(); i++) {
		long double number = random_long_double();

		make_format(format, "L", "eEfFgGaA");
		SAME(format, number);
	}
}

TEST(print_special_numbers)
{
	static const double numbers[] = {
		0.0,  -0.0, INFINITY, -INFINITY, NAN,  1.0,  0.5,
		1.5,  2.5,  9.5,      99.5,      1e22, 1e23, 999999.5,
		1e-5, 1e-4, 123456.5, 4.9e-324,  0.1,  1e15, 1.7976931348623157e308};
	static const char letters[] = "eEfFgGaA";
	char format[32];

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		for (int precision = -1; precision < 30; precision++) {
			for (const char *letter = letters; *letter != '\0'; letter++) {
				sprintf(format, "[%%%s0+30.*%c] [%%-12.*%c]",
					tolower(*letter) == 'g' ? "" : "#", *letter, *letter);
				SAME(format, precision, numbers[i], precision, numbers[i]);
			}
		}
	}
	SAME("%.5000f|%.1100e", 5e-324, 5e-324);
	SAME("%.20Lf", LDBL_MAX);
	SAME("%.17000Lf", LDBL_TRUE_MIN);
}

TEST(print_zeros_that_are_asked_for)
{
	SAME("%#g|%#.3g|%#.10g|%#g", 1.5, 100.0, 1e-5, 0.0);
	our_snprintf(ours, ROOM, "%#g %#.2g", 999999.5, 99.5);
	EXPECT_STREQ(ours, "1.00000e+06 1.0e+02");
}

TEST(print_text)
{
	/* Not where the compiler sees what is wrong with them. */
	const char *volatile nothing = "%s|%.3s|%10s";
	const char *volatile unknown = "%y%d";

	SAME("%s|%10s|%-10s|%.3s|%-5.1s|", "one", "two", "three", "four", "five");
	SAME("%.*s|%.0s|%*s", 2, "abc", "gone", -8, "left");
	SAME("%c%c%5c|%-5c|", 'a', 'b', 'c', 'd');
	SAME("100%%|%5d%%", 7);
	SAME("%p|%20p|%p", (void *)ours, (void *)theirs, NULL);
	SAME(nothing, NULL, NULL, NULL);
	SAME("%zu %td %jd", (size_t)7, (ptrdiff_t)-7, (intmax_t)1 << 50);
	SAME("%2$s %1$d %2$s %3$*4$d", 1, "two", 3, 8);
	SAME(unknown, 5);
}

TEST(print_counts)
{
	signed char count_8 = 0;
	int count = 0;
	long long count_64 = 0;

	EXPECT_EQ(our_snprintf(ours, ROOM, "ab%hhn%d%n%llnx", &count_8, 123, &count, &count_64), 6);
	EXPECT_EQ(count_8, 2);
	EXPECT_EQ(count, 5);
	EXPECT_EQ(count_64, 5);
}

TEST(print_within_room)
{
	memset(ours, 'x', 16);
	EXPECT_EQ(our_snprintf(ours, 5, "%s%d", "abc", 123456), 9);
	EXPECT_STREQ(ours, "abc1");
	EXPECT_EQ(ours[5], 'x');
	EXPECT_EQ(our_snprintf(NULL, 0, "%100d", 1), 100);
	EXPECT_EQ(our_snprintf(ours, 1, "abc"), 3);
	EXPECT_STREQ(ours, "");
}

TEST(print_too_much)
{
	our_errno = 0;
	EXPECT_EQ(our_snprintf(ours, ROOM, "%*d%*d", 2000000000, 1, 2000000000, 1), -1);
	EXPECT_EQ(our_errno, 75); /* EOVERFLOW */
}

TEST(print_to_new_memory)
{
	char *text;

	EXPECT_EQ(our_asprintf(&text, "%s-%d", "abc", 5), 5);
	EXPECT_STREQ(text, "abc-5");
	our_free(text);
}
