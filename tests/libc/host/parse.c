/* SPDX-License-Identifier: MIT */
/* libc: yes */
/* Numbers read from text, against the host's and against what was printed. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libc/our.h"

#define MANY 300000
#define ROOM 12000

static double random_double(void)
{
	union {
		uint64_t bits;
		double value;
	} number = {.bits = our_random()};

	return number.value;
}

/* The same number, end and error. */
static void same(const char *text)
{
	char *our_end;
	char *their_end;
	double our_number;
	double their_number;
	float our_float = our_strtof(text, NULL);
	float their_float = strtof(text, NULL);
	long double our_long;
	long double their_long = strtold(text, NULL);

	our_errno = errno = 0;
	our_number = our_strtod(text, &our_end);
	their_number = strtod(text, &their_end);
	if (memcmp(&our_number, &their_number, sizeof(double)) != 0 &&
	    !(isnan(our_number) && isnan(their_number)))
		check_fail("%.60s is %.17g, not %.17g", text, our_number, their_number);
	if (our_end != their_end)
		check_fail("%.60s ends after %d, not %d", text, (int)(our_end - text),
			   (int)(their_end - text));
	if (our_errno != errno)
		check_fail("%.60s has error %d, not %d", text, our_errno, errno);
	if (our_float != their_float && !isnan(their_float))
		check_fail("%.60s is %.9g, not %.9g", text, (double)our_float, (double)their_float);
	our_long = our_strtold(text, NULL);
	if (our_long != their_long && !isnan(their_long))
		check_fail("%.60s is %.21Lg, not %.21Lg", text, our_long, their_long);
}

TEST(parse_what_was_printed)
{
	char text[400];

	for (int i = 0; i < MANY && !check_failed(); i++) {
		double number = random_double();

		if (!isfinite(number))
			continue;
		our_snprintf(text, sizeof(text), "%.*g", 15 + i % 10, number);
		same(text);
		our_snprintf(text, sizeof(text), "%.17g", number);
		EXPECT(our_strtod(text, NULL) == number);
	}
}

TEST(parse_short_numbers)
{
	char text[64];

	for (int i = 0; i < MANY && !check_failed(); i++) {
		uint64_t digits = our_random() >> our_random() % 60;

		snprintf(text, sizeof(text), "%llue%d", (unsigned long long)digits,
			 (int)(our_random() % 80) - 40);
		same(text);
	}
}

/* Between two doubles, exactly and by a digit far behind. */
TEST(parse_halves)
{
	static char text[ROOM];

	for (int i = 0; i < 3000 && !check_failed(); i++) {
		double number = fabs(random_double());
		long double middle;

		if (!isfinite(number) || number > 1e300)
			continue;
		middle = ((long double)number + nextafter(number, INFINITY)) / 2;
		snprintf(text, sizeof(text), "%.1100Lf", middle);
		same(text);
		strcat(text, "0000000000000001");
		same(text);
		snprintf(text, sizeof(text), "%La", middle);
		same(text);
	}
}

TEST(parse_hexadecimal)
{
	char text[64];

	for (int i = 0; i < MANY && !check_failed(); i++) {
		snprintf(text, sizeof(text), "0x%llx.%llxp%d",
			 (unsigned long long)our_random() >> i % 64,
			 (unsigned long long)our_random() >> i % 61,
			 (int)(our_random() % 1900) - 950);
		same(text);
	}
	/* The host rounds this one twice. */
	EXPECT(our_strtod("0x45cf5df.70ea896p-1049", NULL) == 1.213534901155588e-308);
}

TEST(parse_odd_texts)
{
	static const char *const texts[] = {
		"",
		" ",
		"+",
		"-",
		".",
		"-.",
		".e5",
		"0",
		"-0",
		"0x",
		"0x.",
		"0xg",
		"0x1p",
		"0x1p+",
		"1e",
		"1e+",
		"1e-x",
		"1.",
		".5",
		" \t\n 12abc",
		"inf",
		"-INF",
		"infinity",
		"infinit",
		"nan",
		"nan(123)",
		"nan(12",
		"NAN(a_b)x",
		"in",
		"1e400",
		"-1e400",
		"1e-400",
		"4.9e-324",
		"2.4e-324",
		"2.5e-324",
		"2.2250738585072011e-308",
		"2.2250738585072012e-308",
		"1.7976931348623157e308",
		"1.7976931348623159e308",
		"1e99999999999999999999",
		"1e-99999999999999999999",
		"0e99999",
		"00000000000000000000001",
		"0.0000000000001e13",
		"9007199254740993",
		"9007199254740992.5",
		"1e23",
		"8.5e22",
		"100000000000000000000000",
		"0x1.fffffffffffff8p1023",
		"0x1.fffffffffffff7p1023",
		"0x0.0000000000000p5",
		"0x1.00000000000008p0",
		"0x1.000000000000080000000001p0",
		"1..2",
		"1.2.3",
		"--1",
		"+-1",
		"3.4028235677973366e38",
		"1e-45",
		"7e-46",
		"0x1p-1075",
		"0x1.8p-1075",
		"0x1p-16446",
	};

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		same(texts[i]);
}

TEST(parse_long_texts)
{
	static char text[ROOM];

	memset(text, '9', ROOM - 1);
	same(text);
	text[0] = '.';
	same(text);
	memset(text, '0', ROOM - 100);
	strcpy(text + ROOM - 100, "1e11900");
	same(text);
	memset(text, '0', ROOM - 100);
	text[1] = '.';
	same(text);
}

TEST(parse_long_doubles)
{
	char text[64];

	for (int i = 0; i < 3000 && !check_failed(); i++) {
		snprintf(text, sizeof(text), "%llue%d", (unsigned long long)our_random(),
			 (int)(our_random() % 9900) - 4980);
		EXPECT(our_strtold(text, NULL) == strtold(text, NULL));
	}
}

/* Each integer form gives the same number, end and error. */
static void same_integer(const char *text, int base)
{
	char *our_end;
	char *their_end;

	our_errno = errno = 0;
	EXPECT_EQ(our_strtol(text, &our_end, base), strtol(text, &their_end, base));
	EXPECT_EQ(our_end - text, their_end - text);
	EXPECT_EQ(our_errno, errno);
	EXPECT_EQ(our_strtoul(text, &our_end, base), strtoul(text, &their_end, base));
	EXPECT_EQ(our_strtoll(text, &our_end, base), strtoll(text, &their_end, base));
	our_errno = errno = 0;
	EXPECT_EQ(our_strtoull(text, &our_end, base), strtoull(text, &their_end, base));
	EXPECT_EQ(our_end - text, their_end - text);
	EXPECT_EQ(our_errno, errno);
}

TEST(parse_integers)
{
	static const char *const texts[] = {
		"",
		" ",
		"-",
		"+5",
		" -17x",
		"0",
		"0x",
		"0x1F",
		"0xg",
		"077",
		"08",
		"zz",
		"1z",
		"9223372036854775807",
		"9223372036854775808",
		"-9223372036854775808",
		"-9223372036854775809",
		"18446744073709551615",
		"18446744073709551616",
		"-1",
		"-18446744073709551615",
		"99999999999999999999999999",
		"4294967295",
		"4294967296",
	};
	static const int bases[] = {0, 2, 8, 10, 16, 36};

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (unsigned k = 0; k < sizeof(bases) / sizeof(bases[0]); k++)
			same_integer(texts[i], bases[k]);
	}
	our_errno = 0;
	EXPECT_EQ(our_strtol("1", NULL, 37), 0);
	EXPECT_EQ(our_errno, OUR_EINVAL);
}
