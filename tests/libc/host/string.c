/* SPDX-License-Identifier: MIT */
/* libc: yes */
/* Bytes, strings and kinds of characters: at every alignment, and against the host's. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "libc/our.h"

#define ROOM  96
#define SHIFT 9 /* Alignments and lengths from none to more than two words. */
#define TRIES 200000

#define ERRORS  150 /* Of Linux, and some more that are none. */
#define SIGNALS 32  /* The host's library keeps the first two behind these for itself. */

static unsigned char ours[ROOM];
static unsigned char theirs[ROOM];

static void fill_both(void)
{
	for (int i = 0; i < ROOM; i++)
		ours[i] = theirs[i] = (unsigned char)our_random();
}

static void expect_same(const char *what, int a, int b, int size)
{
	if (memcmp(ours, theirs, ROOM) != 0)
		check_fail("%s of %d bytes at %d and %d", what, size, a, b);
}

TEST(copies_at_all_alignments)
{
	for (int to = 0; to < SHIFT; to++) {
		for (int from = 0; from < SHIFT; from++) {
			for (int size = 0; size < 40; size++) {
				fill_both();
				EXPECT(our_memcpy(ours + to, ours + 48 + from, size) == ours + to);
				memcpy(theirs + to, theirs + 48 + from, size);
				expect_same("memcpy", to, from, size);
				EXPECT(our_memmove(ours + to, ours + from, size) == ours + to);
				memmove(theirs + to, theirs + from, size);
				expect_same("memmove", to, from, size);
				EXPECT(our_memset(ours + to, from - 1, size) == ours + to);
				memset(theirs + to, from - 1, size);
				expect_same("memset", to, from, size);
			}
		}
	}
}

TEST(moves_that_overlap)
{
	for (int i = 0; i < TRIES && !check_failed(); i++) {
		int to = (int)(our_random() % 48);
		int from = (int)(our_random() % 48);
		int size = (int)(our_random() % 48);

		fill_both();
		our_memmove(ours + to, ours + from, size);
		memmove(theirs + to, theirs + from, size);
		expect_same("memmove", to, from, size);
	}
}

static int sign(int number)
{
	return (number > 0) - (number < 0);
}

/* A string of few letters, so that much in it is equal. */
static void random_string(char *to, size_t most)
{
	size_t length = our_random() % most;

	for (size_t i = 0; i < length; i++)
		to[i] = "abAB\xe4"[our_random() % 5];
	to[length] = '\0';
}

TEST(comparisons)
{
	char one[16];
	char other[16];

	for (int i = 0; i < TRIES && !check_failed(); i++) {
		size_t limit = our_random() % 12;

		random_string(one, 6);
		random_string(other, 6);
		EXPECT_EQ(sign(our_strcmp(one, other)), sign(strcmp(one, other)));
		EXPECT_EQ(sign(our_strncmp(one, other, limit)), sign(strncmp(one, other, limit)));
		EXPECT_EQ(sign(our_strcasecmp(one, other)), sign(strcasecmp(one, other)));
		EXPECT_EQ(sign(our_strncasecmp(one, other, limit)),
			  sign(strncasecmp(one, other, limit)));
		EXPECT_EQ(sign(our_memcmp(one, other, 3)), sign(memcmp(one, other, 3)));
	}
}

TEST(searches)
{
	char text[40];
	char wanted[8];

	for (int i = 0; i < TRIES && !check_failed(); i++) {
		int letter = "abAB\xe4x"[our_random() % 7];

		random_string(text, 30);
		random_string(wanted, 4);
		EXPECT(our_strchr(text, letter) == strchr(text, letter));
		EXPECT(our_strrchr(text, letter) == strrchr(text, letter));
		EXPECT(our_strchrnul(text, letter) == strchrnul(text, letter));
		EXPECT(our_memchr(text, letter, 10) == memchr(text, letter, 10));
		EXPECT(our_memrchr(text, letter, 10) == memrchr(text, letter, 10));
		EXPECT(our_strstr(text, wanted) == strstr(text, wanted));
		EXPECT(our_strcasestr(text, wanted) == strcasestr(text, wanted));
		EXPECT(our_memmem(text, strlen(text), wanted, strlen(wanted)) ==
		       memmem(text, strlen(text), wanted, strlen(wanted)));
		EXPECT_EQ(our_strspn(text, wanted), strspn(text, wanted));
		EXPECT_EQ(our_strcspn(text, wanted), strcspn(text, wanted));
		EXPECT(our_strpbrk(text, wanted) == strpbrk(text, wanted));
		EXPECT_EQ(our_strlen(text), strlen(text));
		EXPECT_EQ(our_strnlen(text, 7), strnlen(text, 7));
	}
}

TEST(copies_of_strings)
{
	char text[16];

	for (int i = 0; i < TRIES && !check_failed(); i++) {
		char *us = (char *)ours;
		char *them = (char *)theirs;
		size_t size = our_random() % 20;

		random_string(text, 12);
		fill_both();
		EXPECT(our_strncpy(us, text, size) == us);
		strncpy(them, text, size);
		EXPECT(our_stpncpy(us + 20, text, size) - us ==
		       stpncpy(them + 20, text, size) - them);
		our_strcpy(us + 40, text);
		strcpy(them + 40, text);
		our_strcat(us + 40, text);
		strcat(them + 40, text);
		our_strncat(us + 40, text, size);
		strncat(them + 40, text, size);
		expect_same("strncat", 40, 0, (int)size);
	}
}

TEST(copies_with_a_limit)
{
	char to[6] = "12345";

	EXPECT_EQ(our_strlcpy(to, "abcdefgh", sizeof(to)), 8);
	EXPECT_STREQ(to, "abcde");
	EXPECT_EQ(our_strlcpy(to, "ab", sizeof(to)), 2);
	EXPECT_EQ(our_strlcat(to, "cdefg", sizeof(to)), 7);
	EXPECT_STREQ(to, "abcde");
	EXPECT_EQ(our_strlcat(to, "x", 3), 4);
	EXPECT_EQ(our_strlcpy(to, "ab", 0), 2);
	EXPECT_STREQ(to, "abcde");
	EXPECT(our_memccpy(to, "xyz", 'y', 3) == to + 2);
	EXPECT(our_memccpy(to, "xyz", 'q', 3) == NULL);
}

TEST(words)
{
	char text[] = ",,one,two;;three";
	char other[] = "a,,b";
	char *rest = NULL;
	char *parts = other;

	EXPECT_STREQ(our_strtok_r(text, ",;", &rest), "one");
	EXPECT_STREQ(our_strtok_r(NULL, ",;", &rest), "two");
	EXPECT_STREQ(our_strtok_r(NULL, ",;", &rest), "three");
	EXPECT(our_strtok_r(NULL, ",;", &rest) == NULL);
	EXPECT(our_strtok_r(NULL, ",;", &rest) == NULL);
	EXPECT_STREQ(our_strsep(&parts, ","), "a");
	EXPECT_STREQ(our_strsep(&parts, ","), "");
	EXPECT_STREQ(our_strsep(&parts, ","), "b");
	EXPECT(our_strsep(&parts, ",") == NULL);
}

TEST(messages)
{
	char text[64];

	for (int number = 0; number <= ERRORS; number++)
		EXPECT_STREQ(our_strerror(number), strerror(number));
	EXPECT_STREQ(our_strerror(39), "Directory not empty");
	EXPECT_STREQ(our_strerror(12345), "Unknown error 12345");
	EXPECT_STREQ(our_strerror(-1), "Unknown error -1");
	for (int number = 0; number < SIGNALS; number++)
		EXPECT_STREQ(our_strsignal(number), strsignal(number));
	EXPECT_STREQ(our_strsignal(11), "Segmentation fault");
	EXPECT_STREQ(our_strsignal(33), "Real-time signal 1");
	EXPECT_STREQ(our_strsignal(99), "Unknown signal 99");
	EXPECT_EQ(our_strerror_r(1, text, sizeof(text)), 0);
	EXPECT_EQ(our_strerror_r(1, text, 4), OUR_ERANGE);
}

TEST(kinds_of_characters)
{
	for (int character = -1; character < 256; character++) {
		EXPECT_EQ(our_isalnum(character) != 0, isalnum(character) != 0);
		EXPECT_EQ(our_isalpha(character) != 0, isalpha(character) != 0);
		EXPECT_EQ(our_isblank(character) != 0, isblank(character) != 0);
		EXPECT_EQ(our_iscntrl(character) != 0, iscntrl(character) != 0);
		EXPECT_EQ(our_isdigit(character) != 0, isdigit(character) != 0);
		EXPECT_EQ(our_isgraph(character) != 0, isgraph(character) != 0);
		EXPECT_EQ(our_islower(character) != 0, islower(character) != 0);
		EXPECT_EQ(our_isprint(character) != 0, isprint(character) != 0);
		EXPECT_EQ(our_ispunct(character) != 0, ispunct(character) != 0);
		EXPECT_EQ(our_isspace(character) != 0, isspace(character) != 0);
		EXPECT_EQ(our_isupper(character) != 0, isupper(character) != 0);
		EXPECT_EQ(our_isxdigit(character) != 0, isxdigit(character) != 0);
		EXPECT_EQ(our_tolower(character), tolower(character));
		EXPECT_EQ(our_toupper(character), toupper(character));
	}
}
