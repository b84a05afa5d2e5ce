/* SPDX-License-Identifier: MIT */
/* links: base/format.c base/string.c */
/* Formatted text (base/format.h), word for word and against the C library's. */
#include "base/format.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/divide.h"
#include "host/kernel.h"

#define STEPS 50000

/* The formats are put together at random, or wrong on purpose: the compiler cannot help. */
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
#pragma GCC diagnostic ignored "-Wformat-overflow"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

static char ours[128];

#define FORMAT(...) (format_string(ours, sizeof(ours), __VA_ARGS__), ours)

TEST(format_plain)
{
	EXPECT_STREQ(FORMAT("%s", ""), "");
	EXPECT_STREQ(FORMAT("100%% of %s", "it"), "100% of it");
	EXPECT_STREQ(FORMAT("%c%c", 'a', 'b'), "ab");
}

TEST(format_numbers_at_their_ends)
{
	EXPECT_STREQ(FORMAT("%d %i", INT_MIN, INT_MAX), "-2147483648 2147483647");
	EXPECT_STREQ(FORMAT("%u %x %X", UINT_MAX, UINT_MAX, 0xabcu), "4294967295 ffffffff ABC");
	EXPECT_STREQ(FORMAT("%lld", LLONG_MIN), "-9223372036854775808");
	EXPECT_STREQ(FORMAT("%llu", ULLONG_MAX), "18446744073709551615");
	EXPECT_STREQ(FORMAT("%llx", ULLONG_MAX), "ffffffffffffffff");
	EXPECT_STREQ(FORMAT("%zu %zx", (size_t)12, (size_t)0), "12 0");
	EXPECT_STREQ(FORMAT("%ld %lu", -1l, 1ul), "-1 1");
}

TEST(format_pointers_have_all_digits)
{
	void *pointer = (void *)(uintptr_t)0xc0100abc;
	char expected[24];

	snprintf(expected, sizeof(expected), "0x%0*lx", (int)(2 * sizeof(pointer)),
		 (unsigned long)(uintptr_t)pointer);
	EXPECT_STREQ(FORMAT("%p", pointer), expected);
}

TEST(format_strings_need_not_end)
{
	const char text[3] = {'a', 'b', 'c'};

	EXPECT_STREQ(FORMAT("%.3s|%.*s|", text, 2, text), "abc|ab|");
	EXPECT_STREQ(FORMAT("%s|%.2s", (char *)NULL, (char *)NULL), "(null)|(n");
	EXPECT_STREQ(FORMAT("%.*s", -1, "all"), "all");
}

TEST(format_unknown_directives_are_shown)
{
	EXPECT_STREQ(FORMAT("%q %5!", 1), "%q %!");
	EXPECT_STREQ(FORMAT("end %"), "end ");
	EXPECT_STREQ(FORMAT("end %-08ll"), "end ");
}

TEST(format_string_is_cut_and_tells_its_length)
{
	char small[4] = "xxx";

	EXPECT_EQ(format_string(small, sizeof(small), "%s", "abcdef"), 6);
	EXPECT_STREQ(small, "abc");
	EXPECT_EQ(format_string(small, 1, "%d", 12345), 5);
	EXPECT_STREQ(small, "");
	EXPECT_PANIC(format_string(small, 0, "%d", 1));
}

/* A number with any count of significant bits. */
static unsigned long long random_number(uint32_t *seed)
{
	unsigned long long number = host_random_below(seed, UINT32_MAX);

	number = number << 32 | host_random_below(seed, UINT32_MAX);
	return number >> host_random_below(seed, 64);
}

/* `%`, flags, a width or none, and the length `ll`; the letter is to follow. */
static void random_directive(char *format, size_t size, uint32_t *seed)
{
	static const char *const flags[] = {"", "-", "0", "-0", "0-"};
	unsigned width = host_random_below(seed, 25);

	snprintf(format, size, "<%%%s", flags[host_random_below(seed, COUNT_OF(flags))]);
	if (width > 0)
		snprintf(format + strlen(format), size - strlen(format), "%u", width);
}

TEST(format_numbers_against_the_library)
{
	static const char letters[] = {'d', 'i', 'u', 'x', 'X'};
	char format[32], theirs[128];
	uint32_t seed = 5;

	for (unsigned step = 0; step < STEPS; step++) {
		unsigned long long number = random_number(&seed);
		int length;

		random_directive(format, sizeof(format), &seed);
		snprintf(format + strlen(format), sizeof(format) - strlen(format), "ll%c>",
			 letters[host_random_below(&seed, sizeof(letters))]);
		length = snprintf(theirs, sizeof(theirs), format, number);
		EXPECT_EQ(format_string(ours, sizeof(ours), format, number), length);
		REQUIRE(EXPECT_STREQ(ours, theirs));
	}
}

TEST(format_text_against_the_library)
{
	char format[32], theirs[128];
	uint32_t seed = 6;

	for (unsigned step = 0; step < STEPS / 10; step++) {
		int width = (int)host_random_below(&seed, 20);
		int precision = (int)host_random_below(&seed, 20);
		const char *left = host_random_below(&seed, 2) ? "-" : "";

		snprintf(format, sizeof(format), "<%%%s*.*s%%%s*c>", left, left);
		snprintf(theirs, sizeof(theirs), format, width, precision, "twelve chars", width,
			 'z');
		format_string(ours, sizeof(ours), format, width, precision, "twelve chars", width,
			      'z');
		REQUIRE(EXPECT_STREQ(ours, theirs));
	}
}

TEST(divide_against_the_cpu)
{
	uint32_t seed = 7;

	for (unsigned step = 0; step < STEPS; step++) {
		uint64_t dividend = random_number(&seed);
		uint64_t divisor = random_number(&seed) >> 1;

		if (divisor == 0)
			continue;
		REQUIRE(EXPECT_EQ(divide(dividend, divisor), dividend / divisor));
	}
	EXPECT_PANIC(divide(1, 0));
}
