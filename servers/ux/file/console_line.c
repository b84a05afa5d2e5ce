/* SPDX-License-Identifier: MIT */
/* Lines of a terminal: see console_line.h. */
#include "file/console_line.h"

#define CONTROL(letter) ((letter) - '@')
#define DELETE          0x7f
#define END_OF_FILE     0x100 /* A cell that is no character. */

/* Bytes of a character in UTF-8: the first, those that follow, all. */
#define UTF8_FIRST 0xc0
#define UTF8_MORE  0x80
#define UTF8_MAX   4

static uint16_t *console_line_cell(struct console_line *line, uint32_t number)
{
	return &line->cells[number % LINE_ROOM];
}

/* ---------------- Echo ---------------- */

static bool console_line_is_control(unsigned character)
{
	return (character < ' ' && character != '\t') || character == DELETE;
}

/* Control characters are shown as ^X. */
static void console_line_show(unsigned character, console_echo_t echo)
{
	char text[2] = {'^', (char)(character ^ 0x40)};

	if (!console_line_is_control(character)) {
		text[0] = (char)character;
		echo(text, 1);
		return;
	}
	echo(text, 2);
}

/* ---------------- Corrections ---------------- */

/* Where the last character that was typed begins: of UTF-8, the byte that says how many follow. */
static uint32_t console_line_last_character(struct console_line *line)
{
	uint32_t at = line->typed - 1;

	while (at != line->ready && line->typed - at < UTF8_MAX &&
	       (*console_line_cell(line, at) & 0xc0) == UTF8_MORE)
		at--;
	return *console_line_cell(line, at) >= UTF8_FIRST ? at : line->typed - 1;
}

/* Takes it back, if there is one.  Terminals show it in one place. */
static bool console_line_erase(struct console_line *line, console_echo_t echo)
{
	if (line->typed == line->ready)
		return false;
	line->typed = console_line_last_character(line);
	if (console_line_is_control(*console_line_cell(line, line->typed)))
		echo("\b \b", 3);
	echo("\b \b", 3);
	return true;
}

static void console_line_erase_all(struct console_line *line, console_echo_t echo)
{
	while (console_line_erase(line, echo))
		continue;
}

/* ---------------- Typing ---------------- */

static bool console_line_has_room(const struct console_line *line)
{
	return line->typed - line->read < LINE_ROOM;
}

/* Characters leave one cell free, so that what was typed can be ended, unless ends filled all. */
static void console_line_end(struct console_line *line, unsigned mark)
{
	if (!console_line_has_room(line))
		return;
	*console_line_cell(line, line->typed++) = (uint16_t)mark;
	line->ready = line->typed;
}

static void console_line_add(struct console_line *line, unsigned character, console_echo_t echo)
{
	if (line->typed - line->read >= LINE_ROOM - 1) {
		echo("\a", 1);
		return;
	}
	*console_line_cell(line, line->typed++) = (uint16_t)character;
	console_line_show(character, echo);
}

/* What was typed so far is thrown away. */
static enum console_signal console_line_interrupt(struct console_line *line, unsigned character,
						  enum console_signal signal, console_echo_t echo)
{
	line->typed = line->ready;
	console_line_show(character, echo);
	echo("\n", 1);
	return signal;
}

enum console_signal console_line_type(struct console_line *line, char typed, console_echo_t echo)
{
	unsigned character = (unsigned char)typed;

	switch (character) {
	case CONTROL('C'):
		return console_line_interrupt(line, character, CONSOLE_INTERRUPT, echo);
	case CONTROL('\\'):
		return console_line_interrupt(line, character, CONSOLE_QUIT, echo);
	case CONTROL('D'):
		console_line_end(line, END_OF_FILE);
		break;
	case '\b':
	case DELETE:
		console_line_erase(line, echo);
		break;
	case CONTROL('U'):
		console_line_erase_all(line, echo);
		break;
	case '\r':
	case '\n':
		console_line_end(line, '\n');
		echo("\n", 1);
		break;
	default:
		console_line_add(line, character, echo);
	}
	return CONSOLE_NO_SIGNAL;
}

/* ---------------- Reading ---------------- */

bool console_line_is_ready(const struct console_line *line)
{
	return line->read != line->ready;
}

/* An end of file ends a read; it is its own read only if nothing came before it. */
size_t console_line_read(struct console_line *line, char *buffer, size_t size)
{
	size_t done = 0;

	while (done < size && console_line_is_ready(line)) {
		unsigned character = *console_line_cell(line, line->read++);

		if (character == END_OF_FILE)
			return done;
		buffer[done++] = (char)character;
		if (character == '\n')
			return done;
	}
	if (done > 0 && console_line_is_ready(line) &&
	    *console_line_cell(line, line->read) == END_OF_FILE)
		line->read++;
	return done;
}
