/* SPDX-License-Identifier: MIT */
/*
 * The rows of tables, as text on its way to standard output.
 *
 * A call graph has millions of numbers, and printf() would take most of the time that gprof needs.
 * These print what it prints, to the last digit.
 */
#ifndef GPROF_TEXT_H
#define GPROF_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
	char *bytes;
	size_t used;
	size_t room;
};

/* A string; or one in a column of that width, at its left or right.  Wider ones are not cut. */
void text_string(struct text *text, const char *string);
void text_left(struct text *text, const char *string, size_t width);
void text_right(struct text *text, const char *string, size_t width);
void text_blank(struct text *text, size_t width);

/* Numbers, at the right of their columns but for the second. */
void text_count(struct text *text, uint64_t count, size_t width);
void text_count_left(struct text *text, uint64_t count, size_t width);
void text_fixed(struct text *text, double value, int decimals, size_t width);

void text_end_line(struct text *text);

/* What there is; before anybody else writes to standard output. */
void text_write(struct text *text);

void text_free(struct text *text);

#endif
