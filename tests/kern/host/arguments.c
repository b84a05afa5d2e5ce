/* SPDX-License-Identifier: MIT */
/* links: base/arguments.c base/string.c */
/* The kernel's command line (base/arguments.h). */
#include "base/arguments.h"

#include <stdio.h>
#include <string.h>

#include "host/kernel.h"

static char value[16];

TEST(arguments_empty)
{
	arguments_init("");
	EXPECT(!argument_present("raw"));
	EXPECT(!argument_string("console", value, sizeof(value)));
	EXPECT_STREQ(value, "");
	EXPECT_EQ(argument_number("limit", 7), 7);
	arguments_check();
	EXPECT_STREQ(host_log(), "");
}

TEST(arguments_words_and_blanks)
{
	arguments_init("  /boot/mach_kernel\t raw  console=com1\r\n");
	EXPECT(argument_present("raw"));
	EXPECT(argument_present("console"));
	EXPECT(!argument_present("con"));
	EXPECT(argument_string("console", value, sizeof(value)));
	EXPECT_STREQ(value, "com1");
}

TEST(arguments_the_last_one_counts)
{
	arguments_init("limit=1 limit=2 limit limited=3");
	EXPECT_EQ(argument_number("limit", 0), 2);
}

TEST(arguments_values_may_be_empty_or_have_equals)
{
	arguments_init("console= log=a=b raw");
	EXPECT(argument_string("console", value, sizeof(value)));
	EXPECT_STREQ(value, "");
	argument_string("log", value, sizeof(value));
	EXPECT_STREQ(value, "a=b");
	EXPECT(!argument_string("raw", value, sizeof(value)));
}

TEST(arguments_values_are_cut_to_the_room)
{
	char small[4];

	arguments_init("console=abcdef");
	EXPECT(argument_string("console", small, sizeof(small)));
	EXPECT_STREQ(small, "abc");
}

TEST(arguments_numbers)
{
	arguments_init("a=0 b=4294967295 c=0xffffFFFF d=0010 e=0X1f");
	EXPECT_EQ(argument_number("a", 9), 0);
	EXPECT_EQ(argument_number("b", 9), 4294967295);
	EXPECT_EQ(argument_number("c", 9), 4294967295);
	EXPECT_EQ(argument_number("d", 9), 10);
	EXPECT_EQ(argument_number("e", 9), 31);
	EXPECT_STREQ(host_log(), "");
}

TEST(arguments_bad_numbers_are_reported)
{
	static const char *const bad[] = {
		"n=", "n=0x", "n=12a", "n=-1", "n=4294967296", "n=0x100000000000000001", "n=1.5"};

	for (unsigned i = 0; i < COUNT_OF(bad); i++) {
		arguments_init(bad[i]);
		EXPECT_EQ(argument_number("n", 5), 5);
		EXPECT(strstr(host_log(), "not a number; taken as 5") != NULL);
	}
}

TEST(arguments_unknown_ones_are_reported)
{
	arguments_init("mach_kernel console=vga limited=3 typo raw");
	arguments_check();
	EXPECT_STREQ(host_log(), "arguments: \"limited=3\" is unknown and ignored\n"
				 "arguments: \"typo\" is unknown and ignored\n");
}

/* GRUB leaves the image's name out: then the first word is an argument like another. */
TEST(arguments_without_the_image_name)
{
	arguments_init("limited=3");
	arguments_check();
	EXPECT(strstr(host_log(), "limited=3") != NULL);
	arguments_init("raw");
	EXPECT(argument_present("raw"));
}

/* For programs: blanks and all, but without the image's name. */
TEST(arguments_as_one_line)
{
	arguments_init(" /boot/mach_kernel  root=rd0\tsigprof=process ");
	EXPECT_STREQ(arguments_line(), "root=rd0\tsigprof=process ");
	arguments_check();
	EXPECT_STREQ(host_log(), "");
	arguments_init("ux=a raw");
	EXPECT_STREQ(arguments_line(), "ux=a raw");
	arguments_init("mach_kernel");
	EXPECT_STREQ(arguments_line(), "");
	arguments_init("");
	EXPECT_STREQ(arguments_line(), "");
}

TEST(arguments_line_too_long)
{
	char line[2000];

	memset(line, 'x', sizeof(line));
	memcpy(line, "raw ", 4);
	line[sizeof(line) - 1] = '\0';
	arguments_init(line);
	EXPECT(argument_present("raw"));
	EXPECT(strstr(host_log(), "only the first 1023 characters") != NULL);
}

TEST(arguments_too_many_words)
{
	char line[400] = "";

	for (unsigned i = 0; i < 64; i++)
		strcat(line, "raw ");
	arguments_init(line);
	EXPECT_STREQ(host_log(), "");
	strcat(line, "limit=1 cpus=1");
	arguments_init(line);
	EXPECT_STREQ(host_log(), "arguments: \"limit=1 cpus=1\" and what follows is ignored\n");
	EXPECT(!argument_present("limit"));
}
