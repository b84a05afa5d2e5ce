/* SPDX-License-Identifier: MIT */
/*
 * links: tools/gprof/text.c tools/gprof/util.c
 * flags: -Itools/gprof
 */
/* Numbers in tables are what printf() prints, whatever the number is, and so are columns. */
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define MANY 50000u

static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Whether the text is that, which it then is no more. */
__attribute__((format(printf, 2, 3))) static bool is_text(struct text *text, const char *format,
							  ...)
{
	char expected[512];
	va_list values;
	int n;
	bool is_same;

	va_start(values, format);
	n = vsnprintf(expected, sizeof(expected), format, values);
	va_end(values);
	is_same = text->used == (size_t)n && memcmp(text->bytes, expected, text->used) == 0;
	if (!is_same)
		fprintf(stderr, "%.*s is not %s\n", (int)text->used, text->bytes, expected);
	text->used = 0;
	return is_same;
}

static bool is_printed(struct text *text, double value)
{
	bool is_good = true;

	for (int decimals = 0; decimals <= 4; decimals++) {
		text_fixed(text, value, decimals, 9);
		is_good &= is_text(text, "%9.*f", decimals, value);
	}
	return is_good;
}

TEST(any_number)
{
	struct text text = {0};
	bool is_good = true;

	for (unsigned i = 0; i < MANY; i++) {
		double mantissa = (double)next_random();

		is_good &= is_printed(&text, ldexp(mantissa, -(int)(next_random() % 100)));
	}
	EXPECT(is_good);
	text_free(&text);
}

/* Where printf() has to look at all of a number: halves, and those just above and below. */
TEST(halves)
{
	struct text text = {0};
	bool is_good = true;

	for (unsigned i = 0; i < MANY / 10; i++) {
		double half = (double)(next_random() % 1000000) / (2 << next_random() % 8);
		uint64_t whole = next_random() % (1u << next_random() % 17);
		double tenth = ((double)whole + 0.5) / (i % 2 == 0 ? 1000 : 10000);

		is_good &= is_printed(&text, half) && is_printed(&text, nextafter(half, 0)) &&
			   is_printed(&text, nextafter(half, INFINITY)) &&
			   is_printed(&text, tenth) && is_printed(&text, nextafter(tenth, 0)) &&
			   is_printed(&text, nextafter(tenth, INFINITY));
	}
	EXPECT(is_good);
	text_free(&text);
}

TEST(extremes)
{
	static const double values[] = {0,      0x1p-1074, 0x1p-64, 0x1p-65,  0.99999999999,
					9.9995, 99.95,     0x1p53,  0x1p62,   0x1p63,
					0x1p64, 1e22,      1.7e308, INFINITY, -1.25};
	struct text text = {0};

	for (unsigned i = 0; i < sizeof(values) / sizeof(*values); i++)
		EXPECT(is_printed(&text, values[i]));
	EXPECT(is_printed(&text, nextafter(0x1p63, 0)) && is_printed(&text, nextafter(1, 0)));
	text_free(&text);
}

TEST(columns)
{
	struct text text = {0};

	text_count(&text, UINT64_MAX, 0);
	EXPECT(is_text(&text, "%llu", (unsigned long long)UINT64_MAX));
	text_count(&text, 0, 7);
	text_count_left(&text, 12, 7);
	text_count_left(&text, 12345678, 7);
	EXPECT(is_text(&text, "%7d%-7d%-7d", 0, 12, 12345678));
	text_left(&text, "name", 6);
	text_right(&text, "name", 6);
	text_string(&text, "name");
	text_left(&text, "name", 3);
	text_right(&text, "name", 3);
	text_blank(&text, 2);
	EXPECT(is_text(&text, "name    namenamenamename  "));
	text_string(&text, "");
	text_end_line(&text);
	EXPECT(is_text(&text, "\n"));
	text_free(&text);
}
