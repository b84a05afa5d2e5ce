/* SPDX-License-Identifier: MIT */
/* The library of the boot programs: formatted output, memory and strings, threads on a function. */
#include "check.h"
#include <assay.h>

static char buffer[64];

#define EXPECT_FORMAT(expected, ...)                                                          \
	({                                                                                    \
		EXPECT_EQ(format(buffer, sizeof(buffer), __VA_ARGS__), sizeof(expected) - 1); \
		EXPECT_STREQ(buffer, expected);                                               \
	})

TEST(format_numbers)
{
	EXPECT_FORMAT("0 7 -7", "%d %u %i", 0, 7u, -7);
	EXPECT_FORMAT("-2147483648", "%d", (int)0x80000000);
	EXPECT_FORMAT("4294967295 ffffffff", "%u %x", 0xffffffffu, 0xffffffffu);
	EXPECT_FORMAT("18446744073709551615", "%llu", ~0ull);
	EXPECT_FORMAT("-9223372036854775808", "%lld", -0x7fffffffffffffffll - 1);
	EXPECT_FORMAT("fedcba9876543210", "%llx", 0xfedcba9876543210ull);
	EXPECT_FORMAT("5 6", "%lu %zu", 5ul, sizeof(int[6]) / sizeof(int));
	EXPECT_FORMAT("0xc0100000", "%p", (void *)0xc0100000u);
}

TEST(format_widths)
{
	EXPECT_FORMAT("[   42]", "[%5d]", 42);
	EXPECT_FORMAT("[42   ]", "[%-5d]", 42);
	EXPECT_FORMAT("[00042]", "[%05d]", 42);
	EXPECT_FORMAT("[-0042]", "[%05d]", -42);
	EXPECT_FORMAT("[   ab]", "[%*s]", 5, "ab");
	EXPECT_FORMAT("[ab   ]", "[%*s]", -5, "ab");
	EXPECT_FORMAT("[12345]", "[%2d]", 12345);
	EXPECT_FORMAT("[000000000000000a]", "[%016llx]", 10ull);
}

TEST(format_text)
{
	const char *volatile nothing = NULL; /* Volatile: the compiler would warn. */

	EXPECT_FORMAT("a b 100%", "%c %s 100%%", 'a', "b");
	EXPECT_FORMAT("(null)", "%s", nothing);
	EXPECT_FORMAT("", "%s", "");
}

TEST(format_keeps_to_its_room)
{
	char small[4] = "xyz";

	EXPECT_EQ(format(small, sizeof(small), "%s", "abcdef"), 6);
	EXPECT_STREQ(small, "abc");
	EXPECT_EQ(format(small, 1, "%d", 12345), 5);
	EXPECT_STREQ(small, "");
	small[0] = 'q';
	EXPECT_EQ(format(small, 0, "%d", 12), 2);
	EXPECT_EQ(small[0], 'q');
}

TEST(divide_by_halves)
{
	uint64_t number = 0xfedcba9876543210ull;

	EXPECT_EQ(divide(&number, 1000000007), 939755815);
	EXPECT_EQ(number, 18364758415ull);
	EXPECT_EQ(divide(&number, 0xffffffff), 1184889235);
	EXPECT_EQ(number, 4);
	EXPECT_EQ(divide(&number, 7), 4);
	EXPECT_EQ(number, 0);
}

TEST(memory_moves_both_ways)
{
	char text[] = "0123456789";

	EXPECT(memmove(text + 2, text, 5) == text + 2);
	EXPECT_STREQ(text, "0101234789");
	EXPECT(memmove(text, text + 2, 5) == text);
	EXPECT_STREQ(text, "0123434789");
	EXPECT(memcpy(text, "ab", 2) == text);
	EXPECT(memset(text + 2, '-', 3) == text + 2);
	EXPECT_STREQ(text, "ab---34789");
	EXPECT_EQ(memcmp(text, "ab--x", 4), 0);
	EXPECT_LT(memcmp(text, "ab--x", 5), 0);
	EXPECT_LT(memcmp("\x01", "\xff", 1), 0);
}

TEST(strings_compare)
{
	EXPECT_EQ(strcmp("same", "same"), 0);
	EXPECT_LT(strcmp("less", "more"), 0);
	EXPECT_LT(strcmp("short", "shorter"), 0);
	EXPECT_LT(strcmp("", "\xff"), 0);
	EXPECT_EQ(strncmp("abcx", "abcy", 3), 0);
	EXPECT_NE(strncmp("abcx", "abcy", 4), 0);
	EXPECT_EQ(strlen("four"), 4);
	EXPECT_STREQ(strchr("path/name", '/'), "/name");
	EXPECT_STREQ(strchr("end", '\0'), "");
	EXPECT(strchr("none", 'x') == NULL);
}

TEST(strings_to_numbers)
{
	char *end;

	EXPECT_EQ(strtoul("123 rest", &end, 10), 123);
	EXPECT_STREQ(end, " rest");
	EXPECT_EQ(strtoul("0xFFffFFff", NULL, 0), 0xffffffffu);
	EXPECT_EQ(strtoul("010", NULL, 0), 10);
	EXPECT_EQ(strtoul("0x", &end, 0), 0);
	EXPECT_STREQ(end, "x");
	EXPECT_EQ(strtoul("z", NULL, 36), 35);
	EXPECT_EQ(strtoul("x", &end, 10), 0);
	EXPECT_STREQ(end, "x");
}

static void double_it(void *argument)
{
	*(volatile int *)argument *= 2;
}

/* The function gets its argument, and its return ends the thread and nothing else. */
TEST(thread_runs_a_function)
{
	static char stack[PAGE_SIZE] __attribute__((aligned(16)));
	volatile int value = 21;
	uint32_t id;

	REQUIRE(thread_start(double_it, (void *)&value, stack, sizeof(stack), PRIORITY_USUAL,
			     &id) == KERN_SUCCESS);
	EXPECT_EQ(assay_thread_join(id, TIMEOUT_NONE), KERN_SUCCESS);
	EXPECT_EQ(value, 42);
	EXPECT_EQ(thread_start(double_it, NULL, stack, 16, PRIORITY_USUAL, &id),
		  KERN_INVALID_ARGUMENT);
}
