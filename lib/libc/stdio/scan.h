/* SPDX-License-Identifier: MIT */
/*
 * Formatted input: a source of characters, and the text of one item gathered from it.
 *
 * scan.c reads the format; scan_number.c reads what numbers are made of.
 */
#ifndef LIBC_STDIO_SCAN_H
#define LIBC_STDIO_SCAN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A stream, or a string; one character can be given back. */
struct source {
	FILE *file;       /* NULL: */
	const char *text; /* what comes next of the string. */
	size_t read;      /* Characters taken. */
	bool ended;
};

int __source_get(struct source *source);
void __source_unget(struct source *source, int character);

#define ITEM_ROOM 128

/* Characters that were taken for one item, with a zero behind them. */
struct item {
	struct source *source;
	size_t width; /* How many more there may be. */
	char *text;
	size_t length;
	size_t room;
	bool no_memory;
	char small[ITEM_ROOM];
};

void __item_begin(struct item *item, struct source *source, size_t width);
void __item_end(struct item *item);

/* The next character, which stays in the source; EOF at its end or where the width ends. */
int __item_peek(struct item *item);

/* Takes the next character. */
void __item_take(struct item *item);

/* Takes it if it is one of these. */
bool __item_accept(struct item *item, const char *characters);

/* Take what belongs to a number; false if that is none.  Base 0 reads prefixes. */
bool __item_integer(struct item *item, int base);
bool __item_float(struct item *item);

#endif
