/* SPDX-License-Identifier: MIT */
/*
 * What a terminal makes of the characters that are typed: lines, which can be corrected until they
 * are ended, and signals.  Whoever has it guards it.
 */
#ifndef UX_CONSOLE_LINE_H
#define UX_CONSOLE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_ROOM 4096u /* Characters that nobody has read yet; a power of two. */

struct console_line {
	uint16_t cells[LINE_ROOM]; /* A ring of characters, and marks of an end of file. */
	uint32_t read;             /* Cells ever read, */
	uint32_t ready;            /* that may be read, */
	uint32_t typed;            /* and typed. */
};

/* Where the echo of characters goes. */
typedef void (*console_echo_t)(const char *bytes, size_t size);

/* What a character asks for beside being taken. */
enum console_signal {
	CONSOLE_NO_SIGNAL,
	CONSOLE_INTERRUPT,
	CONSOLE_QUIT
};

enum console_signal console_line_type(struct console_line *line, char character,
				      console_echo_t echo);

/* Whether a read would find something: a line, a part of one that was handed over, or an end. */
bool console_line_is_ready(const struct console_line *line);

/* At most one line, without waiting; the result is 0 at an end of file. */
size_t console_line_read(struct console_line *line, char *buffer, size_t size);

#endif
