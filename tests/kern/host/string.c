/* SPDX-License-Identifier: MIT */
/* links: */
/*
 * Memory and strings (base/string.h) against the C library's.  The kernel's have the same names, so
 * they are taken in here under others; the machine code runs on the host as it is.
 */
#define memcpy  kernel_memcpy
#define memmove kernel_memmove
#define memset  kernel_memset
#define memcmp  kernel_memcmp
#define strlen  kernel_strlen
#define strcmp  kernel_strcmp
#define strncmp kernel_strncmp
#define strchr  kernel_strchr
#define strlcpy kernel_strlcpy
#include "../../../kernel/base/string.c"
#include "../../../kernel/i386/cpu/string.c"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef strlen
#undef strcmp
#undef strncmp
#undef strchr
#undef strlcpy

#include <string.h>

#include "host/kernel.h"

#define ROOM  80
#define STEPS 50000

/* The same random bytes twice: one for our function, one for the library's. */
static unsigned char ours[ROOM], theirs[ROOM];

/* Few different values, so that equal stretches and zeros are found often. */
static void fill(uint32_t *seed)
{
	for (unsigned i = 0; i < ROOM; i++)
		ours[i] = theirs[i] = (unsigned char)(host_random_below(seed, 3) * 100);
}

static int sign(int value)
{
	return (value > 0) - (value < 0);
}

TEST(memory_against_the_library)
{
	uint32_t seed = 10;

	for (unsigned step = 0; step < STEPS; step++) {
		size_t size = host_random_below(&seed, ROOM / 2);
		size_t from = host_random_below(&seed, ROOM / 2 - (uint32_t)size + 1);
		size_t to = ROOM / 2 + host_random_below(&seed, ROOM / 2 - (uint32_t)size + 1);
		int byte = (int)host_random_below(&seed, 1000);

		fill(&seed);
		EXPECT(kernel_memcpy(ours + to, ours + from, size) == ours + to);
		memcpy(theirs + to, theirs + from, size);
		REQUIRE(memcmp(ours, theirs, ROOM) == 0);
		EXPECT(kernel_memset(ours + to, byte, size) == ours + to);
		memset(theirs + to, byte, size);
		REQUIRE(memcmp(ours, theirs, ROOM) == 0);
		EXPECT_EQ(sign(kernel_memcmp(ours, ours + to, size)),
			  sign(memcmp(ours, ours + to, size)));
	}
}

TEST(memmove_against_the_library)
{
	uint32_t seed = 11;

	for (unsigned step = 0; step < STEPS; step++) {
		size_t size = host_random_below(&seed, ROOM);
		size_t from = host_random_below(&seed, ROOM - (uint32_t)size);
		size_t to = host_random_below(&seed, ROOM - (uint32_t)size);

		fill(&seed);
		EXPECT(kernel_memmove(ours + to, ours + from, size) == ours + to);
		memmove(theirs + to, theirs + from, size);
		REQUIRE(memcmp(ours, theirs, ROOM) == 0);
	}
}

TEST(strings_against_the_library)
{
	uint32_t seed = 12;

	for (unsigned step = 0; step < STEPS; step++) {
		const char *one = (const char *)ours + host_random_below(&seed, ROOM - 1);
		const char *other = (const char *)ours + host_random_below(&seed, ROOM - 1);
		size_t limit = host_random_below(&seed, 6);
		int character = (int)host_random_below(&seed, 3) * 100;

		fill(&seed);
		ours[ROOM - 1] = '\0';
		EXPECT_EQ(kernel_strlen(one), strlen(one));
		EXPECT_EQ(sign(kernel_strcmp(one, other)), sign(strcmp(one, other)));
		EXPECT_EQ(sign(kernel_strncmp(one, other, limit)),
			  sign(strncmp(one, other, limit)));
		EXPECT(kernel_strchr(one, character) == strchr(one, character));
	}
}

TEST(strlcpy_cuts_and_tells)
{
	char room[4] = "zzz";

	EXPECT_EQ(kernel_strlcpy(room, "abcdef", sizeof(room)), 6);
	EXPECT_STREQ(room, "abc");
	EXPECT_EQ(kernel_strlcpy(room, "xy", sizeof(room)), 2);
	EXPECT_STREQ(room, "xy");
	EXPECT_EQ(kernel_strlcpy(room, "abc", sizeof(room)), 3);
	EXPECT_STREQ(room, "abc");
	EXPECT_EQ(kernel_strlcpy(room, "", 1), 0);
	EXPECT_STREQ(room, "");
	EXPECT_EQ(kernel_strlcpy(NULL, "abc", 0), 3);
}
