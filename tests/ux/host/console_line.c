/* SPDX-License-Identifier: MIT */
/* links: servers/ux/file/console_line.c */
/* flags: -DUX_SERVER -isystem include -D_POSIX_C_SOURCE=200809L -Iservers/ux */
/* What a terminal makes of what is typed. */
#include <string.h>

#include "check.h"
#include "file/console_line.h"
#include "host/kernel.h"

static struct console_line line;
static char shown[4 * LINE_ROOM];
static size_t shown_size;

static void echo(const char *bytes, size_t size)
{
	for (size_t n = 0; n < size && shown_size < sizeof shown - 1; n++)
		shown[shown_size++] = bytes[n];
	shown[shown_size] = '\0';
}

static void start(void)
{
	line = (struct console_line){.read = 0};
	shown_size = 0;
	shown[0] = '\0';
}

/* The last signal that the characters stood for. */
static int type(const char *characters)
{
	int last = 0;

	for (; *characters != '\0'; characters++) {
		int signal = console_line_type(&line, *characters, echo);

		if (signal != 0)
			last = signal;
	}
	return last;
}

static void expect_read(const char *text, size_t size)
{
	char bytes[2 * LINE_ROOM];
	size_t n;

	REQUIRE(console_line_is_ready(&line));
	n = console_line_read(&line, bytes, size);
	bytes[n] = '\0';
	EXPECT_STREQ(bytes, text);
}

TEST(line_is_there_when_it_is_ended)
{
	start();
	EXPECT_EQ(type("echo"), 0);
	EXPECT(!console_line_is_ready(&line));
	type("\r");
	expect_read("echo\n", 100);
	EXPECT(!console_line_is_ready(&line));
	EXPECT_STREQ(shown, "echo\n");
}

TEST(line_by_line_and_in_pieces)
{
	start();
	type("one\ntwo\n");
	expect_read("on", 2);
	expect_read("e\n", 100);
	expect_read("two\n", 100);
	EXPECT(!console_line_is_ready(&line));
}

TEST(line_can_be_corrected)
{
	start();
	type("ax\bb\x7f"
	     "c\n");
	expect_read("ac\n", 100);
	EXPECT_STREQ(shown, "ax\b \bb\b \bc\n");
}

/* Two, three and four bytes; and one that begins nothing, which is erased alone. */
TEST(line_erases_a_character_of_several_bytes)
{
	start();
	type("a\xc3\xa9\x7f"
	     "b\xe2\x82\xac\x7f"
	     "c\xf0\x9f\x99\x82\x7f"
	     "d\xa9\xa9\x7f\n");
	expect_read("abcd\xa9\n", 100);
	EXPECT_STREQ(shown,
		     "a\xc3\xa9\b \bb\xe2\x82\xac\b \bc\xf0\x9f\x99\x82\b \bd\xa9\xa9\b \b\n");
}

TEST(line_of_what_follows_alone)
{
	start();
	type("\xa9\xa9\x15x\n");
	expect_read("x\n", 100);
	EXPECT_STREQ(shown, "\xa9\xa9\b \b\b \bx\n");
}

TEST(line_that_was_ended_is_not_erased)
{
	start();
	type("a\n\b\b\x15"
	     "b\n");
	expect_read("a\n", 100);
	expect_read("b\n", 100);
	EXPECT_STREQ(shown, "a\nb\n");
}

TEST(line_is_thrown_away)
{
	start();
	type("abc\x15"
	     "d\n");
	expect_read("d\n", 100);
	EXPECT_STREQ(shown, "abc\b \b\b \b\b \bd\n");
}

TEST(line_shows_control_characters_and_erases_them)
{
	start();
	type("\x01\x7f\t\n");
	expect_read("\t\n", 100);
	EXPECT_STREQ(shown, "^A\b \b\b \b\t\n");
}

TEST(line_end_of_file_alone)
{
	start();
	type("\x04");
	expect_read("", 100);
	EXPECT(!console_line_is_ready(&line));
}

TEST(line_end_of_file_hands_over_what_is_typed)
{
	start();
	type("ab\x04");
	expect_read("ab", 100);
	EXPECT(!console_line_is_ready(&line));
	type("cd\x04");
	expect_read("cd", 2); /* That was all: there is no empty read after it. */
	EXPECT(!console_line_is_ready(&line));
}

TEST(line_signals)
{
	start();
	EXPECT_EQ(type("abc\x03"), CONSOLE_INTERRUPT);
	EXPECT(!console_line_is_ready(&line));
	EXPECT_EQ(type("d\x1c"), CONSOLE_QUIT);
	type("e\n");
	expect_read("e\n", 100);
	EXPECT_STREQ(shown, "abc^C\nd^\\\ne\n");
}

/* What does not fit is refused with a bell, and the line can still be ended. */
TEST(line_is_full)
{
	char expected[LINE_ROOM + 1];

	start();
	for (unsigned n = 0; n < LINE_ROOM + 10; n++)
		type("x");
	EXPECT_EQ(shown[shown_size - 1], '\a');
	type("\n");
	memset(expected, 'x', LINE_ROOM - 1);
	expected[LINE_ROOM - 1] = '\n';
	expected[LINE_ROOM] = '\0';
	expect_read(expected, 2 * LINE_ROOM);
	type("y\n");
	expect_read("y\n", 100);
}

TEST(line_goes_round)
{
	char text[] = "abcdefghijklm";

	start();
	for (unsigned n = 0; n < 3 * LINE_ROOM / sizeof text && !check_failed(); n++) {
		text[n % 13] ^= 0x20;
		type(text);
		type("\n");
		text[13] = '\n';
		expect_read((char[]){text[0], text[1], '\0'}, 2);
		expect_read((char[]){text[2], text[3], text[4], text[5], text[6], text[7], text[8],
				     text[9], text[10], text[11], text[12], '\n', '\0'},
			    100);
		text[13] = '\0';
	}
}
