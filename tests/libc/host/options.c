/* SPDX-License-Identifier: MIT */
/*
 * getopt() against the host's, with command lines made at random.
 *
 * links: lib/libc/sys/getopt.c
 * flags: -Dgetopt=our_getopt -Doptarg=our_optarg -Doptind=our_optind -Dopterr=our_opterr
 * flags: -Doptopt=our_optopt
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#undef getopt
#undef optarg
#undef optind
#undef opterr
#undef optopt
int getopt(int argc, char *const argv[], const char *options);
extern char *optarg;
extern int optind, opterr, optopt;

#define ROUNDS    20000
#define WORDS_MAX 6

static unsigned random_below(unsigned limit)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return (state >> 8) % limit;
}

/* A word of the few letters that matter here. */
static void make_word(char *word)
{
	static const char letters[] = "--abcx:=";
	unsigned length = random_below(5);

	for (unsigned n = 0; n < length; n++)
		word[n] = letters[random_below(sizeof letters - 1)];
	word[length] = '\0';
}

static void compare(int argc, char *argv[], const char *options)
{
	int ours, theirs;

	our_optind = optind = 0;
	our_opterr = opterr = 0;
	do {
		theirs = getopt(argc, argv, options);
		ours = our_getopt(argc, argv, options);
		EXPECT_EQ(ours, theirs);
		EXPECT_EQ(our_optind, optind);
		EXPECT(our_optarg == optarg);
		if (theirs == '?' || theirs == ':')
			EXPECT_EQ(our_optopt, optopt);
	} while (theirs != -1 && !check_failed());
	if (check_failed()) {
		for (int n = 0; n < argc; n++)
			check_fail("word %d is '%s'", n, argv[n]);
	}
}

/* Words are not reordered: the host's does that unless the options begin with a plus. */
TEST(options_at_random)
{
	static const char *const options[] = {"+ab:c", "+:ab:c", "+", "+a:b:c:", "+:x"};
	char words[WORDS_MAX][8];

	for (unsigned round = 0; round < ROUNDS && !check_failed(); round++) {
		char *argv[WORDS_MAX + 2] = {"program"};
		unsigned count = random_below(WORDS_MAX + 1);

		for (unsigned n = 0; n < count; n++) {
			make_word(words[n]);
			argv[n + 1] = words[n];
		}
		compare((int)count + 1, argv, options[round % 5]);
	}
}

TEST(options_in_turn)
{
	char *argv[] = {"p", "-ab", "value", "-c", "--", "-a", NULL};

	our_optind = 1;
	EXPECT_EQ(our_getopt(6, argv, "ab:c"), 'a');
	EXPECT_EQ(our_getopt(6, argv, "ab:c"), 'b');
	EXPECT_STREQ(our_optarg, "value");
	EXPECT_EQ(our_getopt(6, argv, "ab:c"), 'c');
	EXPECT_EQ(our_getopt(6, argv, "ab:c"), -1);
	EXPECT_EQ(our_optind, 5);
}
