/* SPDX-License-Identifier: MIT */
/* libc: yes */
/* scanf against the host's: the count, and every byte that was stored. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libc/our.h"

#pragma GCC diagnostic ignored "-Wformat-nonliteral"

#define PLACES 4
#define ROOM   64

/* Where both store; what they did not store stays as it was. */
union place {
	char text[ROOM];
	double real;
	long double long_real;
	float single;
	long long integer;
};

static void same(const char *text, const char *format)
{
	union place ours[PLACES];
	union place theirs[PLACES];
	int our_count;
	int their_count;

	memset(ours, 0x5a, sizeof(ours));
	memset(theirs, 0x5a, sizeof(theirs));
	our_count = our_sscanf(text, format, &ours[0], &ours[1], &ours[2], &ours[3]);
	their_count = sscanf(text, format, &theirs[0], &theirs[1], &theirs[2], &theirs[3]);
	if (our_count != their_count)
		check_fail("\"%s\" by \"%s\": %d, not %d", text, format, our_count, their_count);
	for (int i = 0; i < PLACES; i++) {
		if (memcmp(&ours[i], &theirs[i], sizeof(ours[i])) != 0)
			check_fail("\"%s\" by \"%s\": another value %d", text, format, i);
	}
}

TEST(scan_like_the_host)
{
	static const char *const cases[][2] = {
		{"12 -7 +5", "%d%d%d"},
		{"  12abc", "%d%s"},
		{"12abc", "%3d%s"},
		{"", "%d"},
		{" ", "%d"},
		{"x", "%d"},
		{"-", "%d"},
		{"+x", "%d%c"},
		{"0x1F 077 9", "%i%i%i"},
		{"ff", "%x"},
		{"0xff", "%x"},
		{"777", "%o"},
		{"4294967295", "%u"},
		{"-1", "%u"},
		{"1 2 3", "%*d%d%*d"},
		{"300", "%hhd"},
		{"70000", "%hd"},
		{"99999999999", "%lld"},
		{"7", "%ld"},
		{"7", "%zu"},
		{"7", "%jd"},
		{"abc def", "%s%s"},
		{"abcdef", "%3s%s"},
		{"abc", "%c%c%c"},
		{" a", "%c"},
		{"abc", "%3c"},
		{"a-b", "%[a-z]-%[a-z]"},
		{"abc123", "%[^0-9]%d"},
		{"]x", "%[]]%c"},
		{"xyz", "%[abc]"},
		{"^a", "%[a^]"},
		{"a-", "%[a-]"},
		{"abcdef", "%4[a-z]%n"},
		{"10:20:30", "%d:%d:%d"},
		{"10 : 20", "%d : %d"},
		{"10;20", "%d:%d"},
		{"5%", "%d%%"},
		{"5 %6", "%d%%%d"},
		{"12 34", "%d%n%d"},
		{"1.5 2.5e3 -.5", "%f%lf%f"},
		{"1.5", "%Lf"},
		{"inf nan", "%lf%f"},
		{"infinity x", "%lf%s"},
		{"infin", "%lf"},
		{"1e5x", "%lf%s"},
		{"0x1.8p3", "%lf"},
		{"1.2.3", "%lf%lf"},
		{".", "%lf"},
		{"12345678", "%4lf%lf"},
		{"1", "%d%d"},
		{"1 ", "%d %d"},
		{"1 x", "%d%d"},
		{"0x1234", "%p"},
		{"abc", "abc%n"},
		{"abd", "abc%n"},
		{"99999999999999999999", "%d"},
		{"5", "%y"},
		{"-0x10", "%i"},
		{"1e400", "%lf"},
		{"\n\t 3", " %d "},
		{"a b", "a b%c"},
		{"+ 5", "%d"},
		{"1 2", "%*d%*d%d"},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		same(cases[i][0], cases[i][1]);
}

/* Where the host takes less than the standard asks for. */
TEST(scan_by_the_standard)
{
	char text[8] = "";
	double number = 5;

	EXPECT_EQ(our_sscanf("ab", "%3c", text), 0);
	EXPECT_EQ(our_sscanf("1ex", "%lf", &number), 0);
	EXPECT_EQ(our_sscanf("1e+", "%lf", &number), 0);
	EXPECT(number == 5);
}

TEST(scan_floating_point)
{
	char text[64];

	for (int i = 0; i < 100000 && !check_failed(); i++) {
		snprintf(text, sizeof(text), "%.*e %.17g", i % 20,
			 (double)(int64_t)our_random() / 1e5,
			 ldexp((double)our_random(), (int)(our_random() % 2000) - 1000));
		same(text, "%lf%lf");
		same(text, "%f%Lf");
	}
}

TEST(scan_to_new_memory)
{
	char *word = NULL;
	char *rest = NULL;
	char text[1000];

	memset(text, 'x', sizeof(text));
	strcpy(text + 900, " y z");
	EXPECT_EQ(our_sscanf(text, "%ms %m[a-z ]", &word, &rest), 2);
	EXPECT_EQ(strlen(word), 900);
	EXPECT_STREQ(rest, "y z");
	our_free(word);
	our_free(rest);
}

/* What does not match stays in the stream. */
TEST(scan_from_a_stream)
{
	char name[] = "/tmp/assay-scan-XXXXXX";
	int descriptor = mkstemp(name);
	OUR_FILE *file = our_fdopen(descriptor, "w+");
	int number = 0;
	char word[16] = "";

	our_fputs("12 words 1x9", file);
	our_rewind(file);
	EXPECT_EQ(our_fscanf(file, "%d%15s", &number, word), 2);
	EXPECT_EQ(number, 12);
	EXPECT_STREQ(word, "words");
	EXPECT_EQ(our_fscanf(file, "%d%d", &number, &number), 1);
	EXPECT_EQ(our_getc(file), 'x');
	EXPECT_EQ(our_fscanf(file, "%d%d", &number, &number), 1);
	EXPECT_EQ(our_fscanf(file, "%d", &number), -1);
	EXPECT(our_feof(file));
	EXPECT_EQ(our_fclose(file), 0);
	remove(name);
}
